"""What is written and not sent stays where it was written."""

import threading
from collections.abc import Callable

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QToolButton
from pytestqt.qtbot import QtBot

from app.connection.engine import State
from app.store import Store, StoreDamaged, UnsentMessage
from app.store.unsent import Unsent
from app.widgets.elided_label import ElidedLabel
from app.window.window import Window
from engine.protocol import messages
from tests.app.fake_engine import FakeEngines, answer
from tests.app.sidebar.conftest import go_to
from tests.app.window.test_window import ask, reach


def waiting_rows(window: Window) -> list[str]:
    labels = window.waiting.findChildren(ElidedLabel)
    return [label.text() for label in labels if not label.parentWidget().isHidden()]


def damaged(unsent: Unsent, chat: int | None) -> UnsentMessage:
    raise StoreDamaged("The file is damaged.", "Use a backup.")


def test_each_chat_keeps_what_was_not_sent_also_when_the_window_is_closed(
    window: Window, make_window: Callable[..., Window], engines: FakeEngines, qtbot: QtBot
) -> None:
    question = ask(window, engines, qtbot)
    engines.last.say(answer(question, "An answer."))
    reach(window, qtbot, State.READY)
    asked = window.chat.id
    qtbot.keyClicks(window.composer.editor, "half a question")
    window.chat.open(None)
    assert window.composer.text() == ""
    window.composer.show_unsent(UnsentMessage(typed="to the new chat", pasted=["x" * 30_000]))
    window.chat.open(asked)
    assert window.composer.text() == "half a question"
    window.close()
    later = make_window(engines)
    assert later.composer.unsent() == UnsentMessage(typed="to the new chat", pasted=["x" * 30_000])
    later.chat.open(asked)
    assert later.composer.text() == "half a question"


def test_what_was_sent_is_not_kept(window: Window, engines: FakeEngines, qtbot: QtBot, store: Store) -> None:
    reach(window, qtbot, State.READY)
    window.composer.write("What is a tree?")
    qtbot.waitUntil(lambda: bool(store.unsent.of(None)))
    qtbot.keyClick(window.composer.editor, Qt.Key.Key_Return)
    assert not store.unsent.of(None)
    asked = window.chat.id
    window.chat.open(None)
    assert window.composer.text() == ""
    window.chat.open(asked)
    assert window.composer.text() == ""


def test_stop_puts_queued_questions_back_where_they_were_written(
    window: Window, engines: FakeEngines, qtbot: QtBot
) -> None:
    question = ask(window, engines, qtbot)
    first = window.chat.id
    ask(window, engines, qtbot, "second")
    ask(window, engines, qtbot, "third")
    qtbot.waitUntil(lambda: waiting_rows(window) == ["Next: second", "Next: third"])
    window.chat.open(None)
    ask(window, engines, qtbot, "elsewhere")
    qtbot.waitUntil(lambda: len(waiting_rows(window)) == 3)
    rows = waiting_rows(window)
    assert rows[0].startswith("Next in “")
    assert rows[0].endswith("”: second")
    assert rows[2] == "Next: elsewhere"
    second = window.chat.id
    assert window.composer.button.text() == "Send", "nothing answers here"
    qtbot.keyClick(window, Qt.Key.Key_Escape)
    assert len(window.chat.waiting) == 3
    window.chat.open(first)
    assert window.composer.button.text() == "Stop"
    qtbot.keyClicks(window.composer.editor, "typed")
    qtbot.keyClick(window, Qt.Key.Key_Escape)
    assert window.composer.text() == "second\n\nthird\n\ntyped"
    assert window.waiting.isHidden()
    engines.last.say(answer(question, "", stop_reason="cancelled"))
    reach(window, qtbot, State.READY)
    window.chat.open(second)
    assert window.composer.text() == "elsewhere"
    assert len(engines.last.asked(messages.Chat)) == 1


def test_what_cannot_be_stored_is_kept_in_memory_and_stored_later(
    window: Window, engines: FakeEngines, qtbot: QtBot, store: Store, full: threading.Event
) -> None:
    ask(window, engines, qtbot)
    first = window.chat.id
    ask(window, engines, qtbot, "second")
    window.chat.open(None)
    full.set()
    qtbot.keyClicks(window.composer.editor, "to the new chat")
    window.chat.stop()
    window.chat.open(first)
    assert window.composer.text() == "second"
    window.chat.open(None)
    assert window.composer.text() == "to the new chat"
    assert not store.unsent.of(first)
    full.clear()
    qtbot.keyClicks(window.composer.editor, "!")
    qtbot.waitUntil(lambda: store.unsent.of(None).typed == "to the new chat!")
    assert store.unsent.of(first).typed == "second"
    reach(window, qtbot, State.READY)
    qtbot.waitUntil(lambda: not window.core.queue._unsaved)


def test_what_could_not_be_read_appears_before_what_was_written_since(
    window: Window, store: Store, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    chat = store.chats.create()
    store.unsent.keep(chat, UnsentMessage(typed="of yesterday"))
    with monkeypatch.context() as patched:
        patched.setattr(Unsent, "of", damaged)
        window.chat.open(chat)
        assert window.composer.text() == ""
        window.composer.write("new")
        qtbot.waitUntil(lambda: window.core.unsent._next_try.isActive())
    qtbot.keyClicks(window.composer.editor, "er")
    qtbot.waitUntil(lambda: window.composer.text() == "of yesterday\n\nnewer")
    qtbot.waitUntil(lambda: store.unsent.of(chat).typed == "of yesterday\n\nnewer")


def test_what_could_not_be_stored_and_was_sent_since_does_not_come_back(
    window: Window, engines: FakeEngines, qtbot: QtBot, store: Store, full: threading.Event
) -> None:
    reach(window, qtbot, State.READY)
    full.set()
    window.composer.write("What is a tree?")
    qtbot.waitUntil(lambda: window.transcript.notice is not None)  # it could not be stored
    full.clear()
    qtbot.keyClick(window.composer.editor, Qt.Key.Key_Return)
    assert window.chat.id is not None
    assert not store.unsent.of(None)
    window.chat.open(None)
    assert window.composer.text() == ""


@pytest.mark.parametrize("is_shown", [True, False])
def test_a_deleted_chat_takes_its_queued_questions_along_and_brings_them_back_unsent(
    is_shown: bool, window: Window, engines: FakeEngines, qtbot: QtBot
) -> None:
    question = ask(window, engines, qtbot)
    answered = window.chat.id
    window.chat.open(None)
    ask(window, engines, qtbot, "queued")
    gone = window.chat.id
    assert gone is not None
    window.chat.open(answered)
    ask(window, engines, qtbot, "stays")
    if is_shown:
        window.chat.open(gone)
        qtbot.keyClicks(window.composer.editor, "typed")
    with qtbot.waitSignal(window.core.chat_deleted):
        go_to(window.sidebar, gone)
        window.sidebar.menu.delete.trigger()
    assert [waiting.text for waiting in window.chat.waiting] == ["stays"]
    assert window.composer.text() == ""
    engines.last.say(answer(question, "An answer."))
    qtbot.waitUntil(lambda: len(engines.last.asked(messages.Chat)) == 2)
    assert engines.last.asked(messages.Chat)[-1].messages[-1].content == "stays"
    window.sidebar.note.undo()
    if not is_shown:
        window.chat.open(gone)
    assert window.chat.id == gone
    assert window.composer.text() == ("queued\n\ntyped" if is_shown else "queued")
    assert not window.chat.shown, "it was not asked"


def test_a_queued_question_is_taken_back_into_the_input_field(
    window: Window, engines: FakeEngines, qtbot: QtBot
) -> None:
    ask(window, engines, qtbot)
    ask(window, engines, qtbot, "second")
    ask(window, engines, qtbot, "third")
    window.composer.write("half a question")
    qtbot.waitUntil(lambda: len(waiting_rows(window)) == 2)
    buttons = window.waiting.findChildren(QToolButton)
    next(button for button in buttons if button.isVisible()).click()
    qtbot.waitUntil(lambda: waiting_rows(window) == ["Next: third"])
    assert window.composer.text() == "second\n\nhalf a question"


def test_a_question_that_waits_in_another_chat_is_taken_back_there(
    window: Window, engines: FakeEngines, qtbot: QtBot
) -> None:
    ask(window, engines, qtbot)
    ask(window, engines, qtbot, "second")
    asked = window.chat.id
    window.chat.open(None)
    window.composer.write("elsewhere")
    qtbot.waitUntil(lambda: [row for row in waiting_rows(window) if row.endswith("”: second")] != [])
    buttons = window.waiting.findChildren(QToolButton)
    next(button for button in buttons if button.isVisible()).click()
    assert (window.chat.id, window.composer.text()) == (asked, "second")
    window.chat.open(None)
    assert window.composer.text() == "elsewhere"


def test_queued_questions_are_unsent_after_the_last_window_was_closed(
    window: Window, make_window: Callable[..., Window], engines: FakeEngines, qtbot: QtBot
) -> None:
    ask(window, engines, qtbot)
    ask(window, engines, qtbot, "second")
    first = window.chat.id
    window.chat.open(None)
    ask(window, engines, qtbot, "elsewhere")
    ask(window, engines, qtbot, "and then")
    shown = window.chat.id
    qtbot.keyClicks(window.composer.editor, "half a question")
    window.close()
    later = make_window(engines)
    later.chat.open(first)
    assert later.composer.text() == "second"
    later.chat.open(shown)
    assert later.composer.text() == "elsewhere\n\nand then\n\nhalf a question"
