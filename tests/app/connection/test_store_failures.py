"""What a chat does with questions and answers that cannot be stored."""

import threading
import time
from typing import NoReturn

import pytest
from pytestqt.qtbot import QtBot

from app.connection.conversation import Conversation
from app.store import Store, StoreError, StoreFull, StoreLocked
from engine.protocol import messages
from tests.app.connection.person import Person
from tests.app.fake_engine import answer


def locked(*_: object) -> NoReturn:
    """Stands in for a method of a store whose file another program uses."""
    raise StoreLocked("Another program is using the file.", "Close it.")


def test_store_errors_are_reported(
    chat: Conversation, store: Store, errors: list[StoreError], monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> int:
        raise StoreFull("The disk is full.", "Make room.")

    monkeypatch.setattr(store.messages, "ask", full)
    chat.send("hello")
    assert [error.kind for error in errors] == ["store_full"]
    assert chat.answering is None
    chat.open(999)
    assert [error.kind for error in errors] == ["store_full", "not_in_store"]


def test_an_answer_and_the_next_question_wait_until_they_can_be_stored(
    chat: Conversation,
    store: Store,
    person: Person,
    errors: list[StoreError],
    full: threading.Event,
    qtbot: QtBot,
) -> None:
    chat.send("one")
    chat.send("two")
    full.set()
    person.finish("1")
    assert [error.kind for error in errors] == ["store_full"]
    assert person.shown == ["one", "1"]
    assert chat.shown[-1].message.state == "complete"
    assert [waiting.text for waiting in chat.waiting] == ["two"]
    assert chat.answering is None
    full.clear()
    qtbot.waitUntil(lambda: len(person.asked) == 2)
    assert person.sent[1:] == [("user", "one"), ("assistant", "1"), ("user", "two")]
    assert not chat.waiting
    person.finish("2")
    chat.delete(chat.shown[1].message.id)
    assert person.shown == ["one"]
    assert len(errors) == 1


def test_an_interrupted_answer_is_saved_once_it_can_be(
    chat: Conversation, store: Store, person: Person, full: threading.Event, qtbot: QtBot
) -> None:
    chat.send("Tell a story.")
    person.say(messages.TextDelta(request=person.request, text="Once upon", tokens=2))
    qtbot.waitUntil(lambda: chat.answering is not None and chat.answering.under_way.text == "Once upon")
    full.set()
    with qtbot.waitSignal(chat.failed):
        person.say(messages.Failed(request=person.request, kind="x", message="No.", hint="Again."))
    assert (person.shown[-1], chat.shown[-1].message.state) == ("Once upon", "interrupted")
    with qtbot.waitSignal(chat.listed):
        full.clear()
    assert not store.messages.under_way()
    chat.continue_answer(chat.shown[-1].message.id)
    person.finish(" a time.")
    assert person.shown == ["Tell a story.", "Once upon a time."]


def test_a_queued_question_that_cannot_be_stored_stays_and_comes_before_the_next_one(
    chat: Conversation,
    store: Store,
    person: Person,
    errors: list[StoreError],
    monkeypatch: pytest.MonkeyPatch,
    qtbot: QtBot,
) -> None:
    chat.send("one")
    chat.send("two")
    with monkeypatch.context() as patch:
        patch.setattr(store.messages, "ask", locked)
        person.finish("1")
        assert [error.kind for error in errors] == ["store_locked"]
        assert [waiting.text for waiting in chat.waiting] == ["two"]
    assert chat.send("three")
    assert person.sent[-1] == ("user", "two")
    assert [waiting.text for waiting in chat.waiting] == ["three"]
    person.finish("2")
    qtbot.waitUntil(lambda: person.sent[-1] == ("user", "three"))
    person.finish("3")


def test_a_queued_question_is_asked_once_the_store_works_again(
    chat: Conversation,
    store: Store,
    person: Person,
    errors: list[StoreError],
    monkeypatch: pytest.MonkeyPatch,
    qtbot: QtBot,
) -> None:
    refused: list[str] = []

    def refuse(*_: object) -> int:
        refused.append("a message")
        locked()

    def is_free() -> bool:
        refused.append("a look")
        return False

    chat.send("one")
    chat.send("two")
    with monkeypatch.context() as patch:
        patch.setattr(store.messages, "ask", refuse)
        patch.setattr(store, "can_write", is_free)
        person.finish("1")
        qtbot.waitUntil(lambda: refused[1:] == ["a look"] * 2)
    assert refused[0] == "a message", "and then nothing waits for the other program"
    with monkeypatch.context() as patch:
        patch.setattr(store.messages, "answer", refuse)
        qtbot.waitUntil(lambda: len(refused) == 5)
        assert person.shown == ["one", "1", "two"], "the question is stored, and its answer is still due"
        assert not chat.waiting
    qtbot.waitUntil(lambda: len(person.asked) == 2)
    assert person.sent[1:] == [("user", "one"), ("assistant", "1"), ("user", "two")]
    person.finish("2")
    assert person.shown == ["one", "1", "two", "2"]
    assert [error.kind for error in errors] == ["store_locked"], "told once"


def test_a_queued_question_that_cannot_be_sent_has_one_interrupted_answer(
    chat: Conversation,
    store: Store,
    person: Person,
    errors: list[StoreError],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    chat.send("one")
    chat.send("two")
    with monkeypatch.context() as patch:
        patch.setattr(store.files, "texts", locked)
        person.finish("1")
    assert [error.kind for error in errors] == ["store_locked"]
    assert person.shown == ["one", "1", "two", ""]
    assert chat.shown[-1].message.state == "interrupted"
    assert chat.send("three"), "nothing is due any more"
    assert person.sent[-1] == ("user", "three")
    person.finish("3")
    assert person.shown == ["one", "1", "two", "", "three", "3"]


def remove(store: Store, chat: int) -> None:
    """Delete a chat for good, as another window may."""
    store.chats.delete(chat)
    store.chats.purge(now=2 * time.time())


def test_a_queued_question_whose_chat_is_deleted_is_given_back_and_the_next_one_asked(
    chat: Conversation, store: Store, person: Person, errors: list[StoreError], qtbot: QtBot
) -> None:
    chat.send("one")
    here = chat.id
    chat.open(None)
    chat.send("lost")
    gone = chat.id
    assert gone is not None
    chat.open(here)
    chat.send("two")
    remove(store, gone)
    with qtbot.waitSignal(chat.returned) as returned:
        person.finish("1")
    assert [waiting.text for waiting in returned.args[0]] == ["lost"]
    assert person.sent[-1] == ("user", "two")
    assert not chat.waiting
    assert [error.kind for error in errors] == ["not_in_store"]


def test_an_answer_whose_chat_is_deleted_holds_up_nothing(
    chat: Conversation, store: Store, person: Person, errors: list[StoreError], qtbot: QtBot
) -> None:
    chat.send("one")
    gone = chat.id
    assert gone is not None
    chat.open(None)
    chat.send("two")
    remove(store, gone)
    with qtbot.waitSignal(chat.store_failed):
        person.say(answer(person.request, "1"))
    assert person.sent[-1] == ("user", "two")
    assert [error.kind for error in errors] == ["not_in_store"]
    person.finish("2")
