import pytest

from app.conversation import file_words
from app.documents.records import Kind
from app.store import AttachedFile


@pytest.mark.parametrize(
    ("kind", "pages", "words"),
    [
        ("pdf", 1, "1 page · about 30 tokens"),
        ("pdf", 12, "12 pages · about 30 tokens"),
        ("xlsx", 1, "1 sheet · about 30 tokens"),
        ("epub", 1, "1 section · about 30 tokens"),
        ("text", 0, "about 30 tokens"),
    ],
)
def test_a_single_page_is_counted_as_one(kind: Kind, pages: int, words: str) -> None:
    file = AttachedFile(id="a", name="a", kind=kind, pages=pages, tokens=30)
    assert file_words.details(file) == words
