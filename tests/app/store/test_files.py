"""Files are kept with the chats that use them, and searched by the words of a question."""

import time
from pathlib import Path

import pytest

from app.documents.records import Document
from app.store import AttachedFile, ChatSettings, Store, repair
from app.store.exchange import export_file, import_file
from app.store.files import KEPT_UNUSED_S
from app.store.passages import LENGTH, split
from tests.app.store.made import PAIR

BOOK = Document("pdf", [f"Page {number} tells of stone {number * 7}. " * 20 for number in range(1, 301)])


@pytest.fixture
def book(store: Store) -> AttachedFile:
    pages = list(BOOK.pages)
    pages[219] += " The lighthouse keepers of Skerryvore painted their doors green."
    pages[260] += " 등대지기는 문을 초록색으로 칠했다."
    return store.files.keep("book.pdf", Document("pdf", pages))


@pytest.mark.parametrize(
    "page", ["", "short", "word " * 2_000, "x" * 5_000, "A line.\n" * 900, "A paragraph.\n\n" * 900]
)
def test_passages_joined_are_the_page(page: str) -> None:
    found = list(split(["", page]))
    assert "".join(text for _, text in found) == page
    assert {number for number, _ in found} <= {2}
    assert all(len(text) <= LENGTH for _, text in found)
    if len(page) > LENGTH and "\n" in page:
        assert all(text.endswith("\n") for _, text in found)


def test_a_question_about_the_second_half_finds_its_page(store: Store, book: AttachedFile) -> None:
    assert (book.pages, book.kind) == (300, "pdf")
    question = "What colour did the lighthouse keeper of Skerryvore paint the door?"
    found = store.files.search([book], question, 6)
    assert found[0].page == 220
    assert "painted their doors green" in found[0].text
    assert found[0].name == "book.pdf"
    assert store.files.search([book], "등대지기가 무슨 색으로 칠했어?", 6)[0].page == 261


def test_a_question_without_a_word_of_the_file_gets_its_beginning(store: Store, book: AttachedFile) -> None:
    assert [passage.page for passage in store.files.search([book], "Zusammenfassung?", 2)] == [1, 2]
    assert store.files.search([book], "?", 1)[0].page == 1


def test_only_the_files_asked_for_are_searched(store: Store, book: AttachedFile) -> None:
    other = store.files.keep("b.txt", Document("text", ["Skerryvore is a reef."]))
    found = store.files.search([other], "Skerryvore lighthouse", 6)
    assert [(passage.name, passage.page) for passage in found] == [("b.txt", 0)]


def test_a_file_is_stored_once(store: Store) -> None:
    document = Document("text", ["The same.\n" * 1_000])
    first, again = store.files.keep("a.txt", document), store.files.keep("a.txt", document)
    assert first == again
    assert store.files.keep("b.txt", document).id != first.id
    (whole,) = store.files.whole([first.id, "missing"])
    assert whole.pages == document.pages


def test_a_half_stored_file_is_stored_again(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    document = Document("text", ["A line of text.\n" * 40_000])

    def fail(*_: object) -> None:
        raise ZeroDivisionError

    with monkeypatch.context() as patched:
        patched.setattr("app.store.file_rows.insert", fail)
        with pytest.raises(ZeroDivisionError):
            store.files.keep("a.txt", document)
    file = store.files.keep("a.txt", document)
    assert store.files.whole([file.id])[0].pages == document.pages
    found = store.files.search([file], "line", 9_999)
    assert len(found) == len(list(split(document.pages)))


def test_a_message_keeps_its_files_when_it_is_edited_deleted_and_brought_back(
    store: Store, book: AttachedFile
) -> None:
    chat = store.chats.create()
    question = store.messages.ask(chat, "What?", None, [book])
    passages = store.files.search([book], "stone", 2)
    store.messages.set_reading(question, [book], passages)
    edited = store.messages.edit(question, "Who?")
    by_id = {message.id: message for message in store.messages.all(chat)}
    assert by_id[edited].files == by_id[question].files == [book]
    assert by_id[question].passages == passages
    assert by_id[edited].passages == [], "they were found for other words"
    store.messages.restore(store.messages.delete(question))
    (again,) = (message for message in store.messages.all(chat) if message.id == question)
    assert (again.files, again.passages) == ([book], passages)


def test_unused_files_are_removed_after_a_day(store: Store, book: AttachedFile) -> None:
    used = store.files.keep("used.txt", Document("text", ["Used."]))
    chat = store.chats.create()
    store.messages.ask(chat, "What?", None, [used])
    assert store.files.sweep() == 0, "they are new"
    later = time.time() + KEPT_UNUSED_S + 1
    assert store.files.sweep(later) == 1
    assert [whole.file for whole in store.files.whole([book.id, used.id])] == [used]
    assert store.files.search([book], "stone", 3) == []
    store.chats.delete(chat)
    assert store.files.sweep(later) == 0, "the chat can be restored"
    store.chats.purge(later)
    assert store.files.sweep(later) == 1


def test_an_exported_chat_takes_its_files_along(store: Store, tmp_path: Path) -> None:
    picture = store.files.keep("a.png", Document("picture", picture=b"\x89PNG"))
    text = store.files.keep("a.txt", Document("text", ["Skerryvore is a reef."]))
    chat = store.chats.create(ChatSettings())
    question = store.messages.ask(chat, "What?", None, [picture, text])
    store.messages.set_reading(question, [picture, text], store.files.search([text], "reef", 2))
    store.messages.answer(question, ChatSettings(), PAIR).interrupt()
    export_file(tmp_path / "a.json", [store.chats.read(chat)])
    for ending in ("md", "txt"):
        export_file(tmp_path / f"a.{ending}", [store.chats.read(chat)])
        assert "a.png" in (tmp_path / f"a.{ending}").read_text()
    other = Store(tmp_path / "other.sqlite")
    (added,) = other.chats.add(import_file(tmp_path / "a.json").chats)
    message = other.messages.all(added)[0]
    assert message.files == [picture, text]
    assert [whole.picture for whole in other.files.whole([picture.id])] == [b"\x89PNG"]
    assert other.files.search(message.files, "reef", 3)[0].text == "Skerryvore is a reef."
    other.close()


def test_an_import_cannot_replace_a_file(store: Store, tmp_path: Path) -> None:
    mine = store.files.keep("a.txt", Document("text", ["Mine."]))
    chat = store.chats.create()
    store.messages.ask(chat, "What?", None, [mine])
    path = tmp_path / "a.json"
    export_file(path, [store.chats.read(chat)])
    path.write_text(path.read_text().replace("Mine.", "Theirs."))
    (added,) = store.chats.add(import_file(path).chats)
    assert store.files.texts([mine.id]) == {mine.id: "Mine."}
    (theirs,) = store.messages.all(added)[0].files
    assert theirs.id != mine.id
    assert store.files.texts([theirs.id]) == {theirs.id: "Theirs."}


def test_files_of_a_damaged_store_are_kept_and_found(path: Path) -> None:
    """The schema has more pages than the first, which is damaged."""
    store = Store(path)
    file = store.files.keep("a.txt", Document("text", ["Skerryvore is a reef."]))
    chat = store.chats.create()
    store.messages.ask(chat, "What?", None, [file])
    store.close()
    content = bytearray(path.read_bytes())
    assert content[100] == repair.INTERIOR
    content[: repair.PAGE_NBYTES] = bytes(repair.PAGE_NBYTES)
    path.write_bytes(content)
    again = Store(path)
    assert again.damage is not None
    (message,) = again.messages.all(chat)
    assert message.files == [file]
    assert [passage.text for passage in again.files.search([file], "reef", 3)] == ["Skerryvore is a reef."]
    again.close()
