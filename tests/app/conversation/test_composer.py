import pytest
from PySide6.QtCore import QMimeData, Qt
from pytestqt.qtbot import QtBot

from app.conversation.composer import Composer


@pytest.fixture
def composer(qtbot: QtBot) -> Composer:
    composer = Composer()
    qtbot.addWidget(composer)
    composer.allow(send=True, stop=False)
    return composer


def test_enter_sends_and_shift_enter_starts_a_new_line(composer: Composer, qtbot: QtBot) -> None:
    qtbot.keyClicks(composer.editor, "one")
    qtbot.keyClick(composer.editor, Qt.Key.Key_Return, Qt.KeyboardModifier.ShiftModifier)
    qtbot.keyClicks(composer.editor, "two")
    with qtbot.waitSignal(composer.sent) as sent:
        qtbot.keyClick(composer.editor, Qt.Key.Key_Return)
    assert sent.args == ["one\ntwo"]


def test_nothing_is_sent_while_empty_or_not_allowed(composer: Composer, qtbot: QtBot) -> None:
    with qtbot.assertNotEmitted(composer.sent):
        qtbot.keyClick(composer.editor, Qt.Key.Key_Return)
        composer.write("  \n ")
        qtbot.keyClick(composer.editor, Qt.Key.Key_Return)
        composer.write("text")
        composer.allow(send=False, stop=False)
        qtbot.keyClick(composer.editor, Qt.Key.Key_Return)
    assert composer.editor.toPlainText() == "text"


def test_the_button_stops_while_an_answer_can_be_stopped(composer: Composer, qtbot: QtBot) -> None:
    composer.allow(send=False, stop=True)
    assert composer.button.text() == composer.button.accessibleName() == "Stop"
    with qtbot.waitSignal(composer.stopped):
        qtbot.mouseClick(composer.button, Qt.MouseButton.LeftButton)


def test_the_field_grows_with_its_text_to_a_limit(composer: Composer, qtbot: QtBot) -> None:
    composer.show()
    qtbot.waitExposed(composer)
    empty = composer.editor.height()
    composer.write("a\nb\nc")
    three = composer.editor.height()
    composer.write("a\n" * 500)
    assert empty < three < composer.editor.height() < 300


def test_a_long_paste_is_held_beside_the_field_and_sent_with_it(composer: Composer, qtbot: QtBot) -> None:
    clipboard = QMimeData()
    clipboard.setText("x" * 30_000)
    composer.editor.insertFromMimeData(clipboard)
    assert composer.editor.toPlainText() == ""
    assert not composer.pasted.isHidden()
    qtbot.keyClicks(composer.editor, "what is this?")
    with qtbot.waitSignal(composer.sent) as sent:
        qtbot.keyClick(composer.editor, Qt.Key.Key_Return)
    assert sent.args == ["what is this?\n\n" + "x" * 30_000]
    composer.accept()
    assert composer.text() == ""
    assert composer.pasted.isHidden()


def test_a_long_paste_can_be_removed(composer: Composer, qtbot: QtBot) -> None:
    clipboard = QMimeData()
    clipboard.setText("x" * 30_000)
    composer.editor.insertFromMimeData(clipboard)
    assert composer.button.isEnabled()
    composer.pasted.remove.click()
    assert composer.text() == ""
    assert not composer.button.isEnabled()
