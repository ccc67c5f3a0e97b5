"""Questions about the documentation find the passages with their answers."""

from pathlib import Path

from app.connection.file_choice import PASSAGES
from app.store import Store
from tests.retrieval.measure import keep_all, questions, ranks


def test_questions_in_the_texts_own_words_find_their_answers(tmp_path: Path) -> None:
    """Measured: 30 of 30 among six passages, 28 of 30 with the words that every question has."""
    store = Store(tmp_path / "chats.sqlite")
    files = keep_all(store)
    asked = questions()
    assert len(asked) >= 60, (
        "the documentation has changed: adapt the answers in tests/retrieval/questions.tsv"
    )
    found = {
        words: ranks(
            lambda text, count: store.files.search(files, text, count),
            [each for each in asked if each.words == words],
            PASSAGES,
        )
        for words in ("own", "other")
    }
    store.close()
    assert found["own"].count(None) <= 2
    assert found["other"].count(1) >= 6  # 9 without those words, 4 with them
