import pytest
from PySide6.QtCore import QMimeData, Qt
from PySide6.QtWidgets import QFrame, QToolButton
from pytestqt.qtbot import QtBot

from app import formatting
from app.conversation.composer import Composer
from app.store import UnsentMessage
from app.widgets.plain_text import PlainLabel


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
    assert sent.args == ["one\ntwo", []]


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


def test_the_button_says_that_it_cancels_a_load(composer: Composer, qtbot: QtBot) -> None:
    composer.allow(send=True, stop=True, is_loading=True)
    assert composer.button.text() == composer.button.accessibleName() == "Cancel loading"
    with qtbot.waitSignal(composer.stopped):
        qtbot.mouseClick(composer.button, Qt.MouseButton.LeftButton)
    composer.allow(send=True, stop=False, is_loading=True)
    assert composer.button.text() == "Send"


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
    assert sent.args == ["what is this?\n\n" + "x" * 30_000, []]
    composer.accept()
    assert composer.text() == ""
    assert composer.pasted.isHidden()


def test_a_long_paste_can_be_removed(composer: Composer, qtbot: QtBot) -> None:
    clipboard = QMimeData()
    clipboard.setText("x" * 30_000)
    composer.editor.insertFromMimeData(clipboard)
    assert composer.button.isEnabled()
    composer.pasted.findChildren(QToolButton)[-1].click()
    assert composer.text() == ""
    assert not composer.button.isEnabled()


def test_a_second_long_paste_stands_beside_the_first(composer: Composer, qtbot: QtBot) -> None:
    composer.resize(400, 300)
    composer.show()
    for letter in "abcdef":
        clipboard = QMimeData()
        clipboard.setText(f"{letter} line {letter * 30_000}")
        composer.editor.insertFromMimeData(clipboard)
    assert [text[0] for text in composer.pasted.texts] == list("abcdef")
    bar = composer.pasted.verticalScrollBar()
    qtbot.waitUntil(lambda: bar.maximum() > 0)
    assert 100 < composer.pasted.height() < 200, "more than four are scrolled"
    composer.show_unsent(UnsentMessage(pasted=composer.pasted.texts[:3]))
    qtbot.waitUntil(lambda: bar.maximum() == 0)
    composer.show_unsent(UnsentMessage(pasted=[f"{letter} line {letter * 30_000}" for letter in "abcdef"]))
    qtbot.waitUntil(lambda: bar.maximum() > 0)
    rows = composer.pasted.widget().findChildren(QFrame, "question")
    lengths = [row.findChildren(PlainLabel)[0] for row in rows]
    assert {label.text() for label in lengths} == {f"{formatting.number(30_007)} characters"}
    assert all(label.width() >= label.sizeHint().width() for label in lengths), "no count is cut off"
    rows[1].findChildren(QToolButton)[0].click()
    assert [text[0] for text in composer.pasted.texts] == list("acdef")
    assert composer.text().count("\n\n") == 4


def test_a_message_is_shown_again_as_it_was(composer: Composer, qtbot: QtBot) -> None:
    message = UnsentMessage(typed="two\nlines", pasted=["x" * 30_000, "y" * 30_000])
    composer.show_unsent(message)
    assert composer.unsent() == message
    assert composer.editor.textCursor().atEnd()
    with qtbot.waitSignal(composer.changed):
        qtbot.keyClicks(composer.editor, "!")
    composer.accept()
    assert not composer.unsent()


def test_the_button_names_the_key_that_sends(composer: Composer) -> None:
    assert composer.button.toolTip() == "Enter"
    composer.send_with("ctrl_enter")
    assert composer.button.toolTip() == "Ctrl+Enter"


def test_the_hint_is_shown_whole_once_the_field_becomes_so_narrow_that_it_wraps(
    composer: Composer, qtbot: QtBot
) -> None:
    composer.resize(900, 60)
    composer.show()
    editor, usual = composer.editor, composer.editor.height()
    for width in range(900, 200, -20):
        composer.resize(width, 200)
        qtbot.waitUntil(lambda: editor.viewport().size() == editor.contentsRect().size(), timeout=1_000)
    assert editor.height() > usual
