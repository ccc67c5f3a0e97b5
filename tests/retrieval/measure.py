"""Questions about this repository's documentation, and whether their answers are among the passages found.

`questions.tsv` has a line for each: whether it is asked in the text's own words or in other ones, the file,
words that only the answer has, and the question. All files are in one chat, so the passages of one compete
with those of the others.
"""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

from app.documents.records import Document
from app.store import AttachedFile, Passage, Store

ROOT = Path(__file__).parents[2]
FILES = ("README.md", "CONTRIBUTING.md", "SECURITY.md", "app/README.md", "engine/README.md")

Search = Callable[[str, int], Sequence[Passage]]  # of a question and a count: passages, the best first


class DocsQuestion(NamedTuple):
    """A question. words: "own" or "other" than those of the text; answer: words of the passage that answers
    it, in the file `file`."""

    words: str
    file: str
    answer: str
    text: str


def questions() -> list[DocsQuestion]:
    """Return the questions whose answers are still in the documentation as they were."""
    lines = Path(__file__).with_name("questions.tsv").read_text(encoding="utf-8").splitlines()
    listed = [DocsQuestion(*line.split("\t")) for line in lines]
    texts = {name: _in_one_line((ROOT / name).read_text("utf-8")) for name in {each.file for each in listed}}
    return [each for each in listed if each.answer in texts[each.file]]


def keep_all(store: Store) -> list[AttachedFile]:
    """Store the documentation's pages as files of a chat."""
    pages = [page for page in (ROOT / "docs").rglob("*.md") if page.stat().st_size > 200]
    paths = sorted([*pages, *(ROOT / name for name in FILES)])
    return [
        store.files.keep(path.relative_to(ROOT).as_posix(), Document("text", [path.read_text("utf-8")]))
        for path in paths
    ]


def ranks(search: Search, asked: Sequence[DocsQuestion], most: int) -> list[int | None]:
    """Return for each question the rank, from 1, of the first passage with its answer, or None."""
    return [_rank(search(question.text, most), question) for question in asked]


def _rank(found: Sequence[Passage], question: DocsQuestion) -> int | None:
    hits = (number for number, passage in enumerate(found, 1) if _answers(passage, question))
    return next(hits, None)


def _answers(passage: Passage, question: DocsQuestion) -> bool:
    return passage.name == question.file and question.answer in _in_one_line(passage.text)


def _in_one_line(text: str) -> str:
    return " ".join(text.split())
