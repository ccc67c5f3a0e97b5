"""Input methods in the text fields: what is composed is neither sent nor lost; Enter and Esc belong to it."""

from collections.abc import Callable, Iterator

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QInputMethodEvent
from PySide6.QtWidgets import QApplication, QPlainTextEdit, QWidget
from pytestqt.qtbot import QtBot

from app.connection.engine import State
from app.conversation.composer import Composer
from app.conversation.message_editor import MessageEditor
from app.window.window import Window
from engine.protocol import messages
from tests.app.fake_engine import FakeEngines
from tests.app.window.test_window import ask, delta, reach

Key = Qt.Key


def compose(field: QWidget, text: str) -> None:
    """Let an input method show text that is not yet part of the field."""
    QApplication.sendEvent(field, QInputMethodEvent(text, []))


def commit(field: QWidget, text: str, back: int = 0, length: int = 0) -> None:
    """Let an input method put text in the field, in place of the `length` characters that begin `back` before
    the cursor."""
    event = QInputMethodEvent("", [])
    event.setCommitString(text, -back, length)
    QApplication.sendEvent(field, event)


@pytest.fixture
def composer(qtbot: QtBot) -> Composer:
    composer = Composer()
    qtbot.addWidget(composer)
    composer.resize(500, 80)
    composer.allow(send=True, stop=False)
    composer.show()
    qtbot.waitExposed(composer)
    composer.editor.setFocus()
    return composer


@pytest.fixture(params=["composer", "message editor"])
def field(request: pytest.FixtureRequest, composer: Composer, qtbot: QtBot) -> Iterator[QPlainTextEdit]:
    if request.param == "composer":
        yield composer.editor
        return
    editor = MessageEditor("", is_question=True)
    qtbot.addWidget(editor)
    editor.show()
    qtbot.waitExposed(editor)
    yield editor.editor


def test_what_is_composed_becomes_text_once_it_is_committed(field: QPlainTextEdit) -> None:
    for syllable in ("ㅎ", "하", "한"):
        compose(field, syllable)
        assert field.toPlainText() == ""
    commit(field, "한")
    compose(field, "글")
    assert field.toPlainText() == "한"
    commit(field, "글")
    assert field.toPlainText() == "한글"


def test_a_committed_text_replaces_what_was_there(field: QPlainTextEdit) -> None:
    field.setPlainText("I like hanja")
    field.moveCursor(field.textCursor().MoveOperation.End)
    commit(field, "漢字", back=5, length=5)
    assert field.toPlainText() == "I like 漢字"


def test_a_commit_is_undone_as_one_step(field: QPlainTextEdit) -> None:
    commit(field, "你好")
    field.undo()
    assert field.toPlainText() == ""
    field.redo()
    assert field.toPlainText() == "你好"


def test_the_hint_is_hidden_while_something_is_composed(composer: Composer) -> None:
    composer.editor.setPlaceholderText("a hint that is wide")
    with_hint = dark_pixels(composer)
    compose(composer.editor, "ㅎ")
    assert 0 < dark_pixels(composer) < with_hint / 2
    compose(composer.editor, "")
    assert dark_pixels(composer) == with_hint


def dark_pixels(composer: Composer) -> int:
    """Count the pixels of the field that are not background, without the cursor at its left end."""
    image = composer.editor.viewport().grab().toImage()
    ground = image.pixelColor(image.width() - 2, image.height() - 2).lightness()
    return sum(
        abs(image.pixelColor(x, y).lightness() - ground) > 60
        for x in range(8, image.width())
        for y in range(image.height())
    )


@pytest.mark.parametrize("key", ["enter", "ctrl_enter"])
def test_enter_sends_nothing_while_something_is_composed(composer: Composer, qtbot: QtBot, key: str) -> None:
    composer.send_with(key)
    held = Qt.KeyboardModifier.ControlModifier if key == "ctrl_enter" else Qt.KeyboardModifier.NoModifier
    composer.write("안녕")
    compose(composer.editor, "하")
    with qtbot.assertNotEmitted(composer.sent):
        qtbot.keyClick(composer.editor, Key.Key_Return, held)
    assert composer.editor.toPlainText() == "안녕", "no line break either"
    commit(composer.editor, "하")
    with qtbot.waitSignal(composer.sent) as sent:
        qtbot.keyClick(composer.editor, Key.Key_Return, held)
    assert sent.args == ["안녕하", []]


def test_escape_drops_what_is_composed_and_keeps_the_editor_open(qtbot: QtBot) -> None:
    editor = MessageEditor("안녕", is_question=True)
    qtbot.addWidget(editor)
    editor.show()
    compose(editor.editor, "하")
    with qtbot.assertNotEmitted(editor.left), qtbot.assertNotEmitted(editor.saved):
        qtbot.keyClick(editor.editor, Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
        qtbot.keyClick(editor.editor, Key.Key_Escape)
    commit(editor.editor, "")
    assert editor.editor.toPlainText() == "안녕"
    with qtbot.waitSignal(editor.left):
        qtbot.keyClick(editor.editor, Key.Key_Escape)


@pytest.mark.parametrize("place", ["composer", "search"])
def test_escape_does_not_stop_the_answer_while_something_is_composed(
    window: Window, engines: FakeEngines, qtbot: QtBot, place: str
) -> None:
    request = ask(window, engines, qtbot)
    engines.last.say(delta(request, "Half an ans"))
    qtbot.waitUntil(lambda: window.transcript.answer.text != "")
    open_field: Callable[[], None] = window.search.open if place == "search" else window.composer.setFocus
    open_field()
    field = window.search.field if place == "search" else window.composer.editor
    compose(field, "하")
    qtbot.keyClick(field, Key.Key_Escape)
    assert not engines.last.asked(messages.Cancel)
    assert not field.is_composing
    assert field.isVisible()
    if place == "search":
        window.search.dismiss()
    qtbot.keyClick(window.composer.editor, Key.Key_Escape)
    assert engines.last.asked(messages.Cancel)
    reach(window, qtbot, State.READY)
