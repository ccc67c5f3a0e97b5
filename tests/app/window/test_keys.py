"""Keys whose action depends on what there is to act on."""

from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from pytestqt.qtbot import QtBot

from app.connection.engine import State
from app.window.window import Window
from engine.protocol import messages
from tests.app.fake_engine import FakeEngines, answer
from tests.app.window.test_window import ask, last_answer, reach

CTRL = Qt.KeyboardModifier.ControlModifier


def answered(window: Window, engines: FakeEngines, qtbot: QtBot, text: str) -> None:
    engines.last.say(answer(ask(window, engines, qtbot), text))
    reach(window, qtbot, State.READY)
    window.activateWindow()
    qtbot.waitUntil(window.composer.editor.hasFocus)


def test_ctrl_enter_sends_a_message_and_without_one_answers_again(
    window: Window, engines: FakeEngines, qtbot: QtBot
) -> None:
    answered(window, engines, qtbot, "An answer.")
    qtbot.keyClicks(window.composer.editor, "next")
    qtbot.keyClick(window.composer.editor, Qt.Key.Key_Return, CTRL)
    assert [one.message.text for one in window.chat.shown][:3] == ["hello", "An answer.", "next"]
    engines.last.say(answer(engines.last.asked(messages.Chat)[-1].id, "Another."))
    reach(window, qtbot, State.READY)
    qtbot.keyClick(window.composer.editor, Qt.Key.Key_Return, CTRL)
    assert len(window.chat.shown[-1].versions) == 2
    assert window.chat.shown[-2].message.text == "next"


def test_the_last_answer_is_copied_without_its_thought(
    window: Window, engines: FakeEngines, qtbot: QtBot
) -> None:
    answered(window, engines, qtbot, "<think>Hm.</think>\n\nAn **answer**.")
    shift = Qt.KeyboardModifier.ShiftModifier
    qtbot.keyClick(window.composer.editor, Qt.Key.Key_C, CTRL | shift)
    assert QGuiApplication.clipboard().text().strip() == "An **answer**."
    assert window._panes.note.text == "Copied the last answer"
    window._panes.note.offer_undo("Deleted 1 message", lambda: None)
    qtbot.keyClick(window.composer.editor, Qt.Key.Key_C, CTRL | shift)
    assert window._panes.note.text == "Deleted 1 message", "undo stays within reach"


def test_the_chat_is_scrolled_by_pages_from_the_input_field(
    window: Window, engines: FakeEngines, qtbot: QtBot
) -> None:
    answered(window, engines, qtbot, "A paragraph.\n\n" * 100)
    bar, editor = window.transcript.verticalScrollBar(), window.composer.editor
    qtbot.waitUntil(lambda: last_answer(window).is_up_to_date and 0 < bar.maximum() == bar.value())
    qtbot.keyClick(editor, Qt.Key.Key_PageUp)
    assert bar.value() < bar.maximum()
    assert editor.hasFocus()
    qtbot.keyClick(editor, Qt.Key.Key_PageDown)
    assert bar.value() == bar.maximum()
    window.composer.write("a line\n" * 100)  # scrolls itself
    before = editor.verticalScrollBar().value()
    qtbot.keyClick(editor, Qt.Key.Key_PageUp)
    assert editor.verticalScrollBar().value() < before
    assert bar.value() == bar.maximum()
