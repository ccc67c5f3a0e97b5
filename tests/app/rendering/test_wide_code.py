"""Code that is wider than its message is scrolled sideways; what is copied and selected stays exact."""

import pytest
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QGuiApplication, QTextCursor, QWheelEvent
from PySide6.QtWidgets import QApplication, QScrollBar
from pytestqt.qtbot import QtBot

from app.rendering.blocks import MAX_UNBROKEN
from app.rendering.text_body import TextBody
from app.widgets import typography
from app.widgets.typography import Typography

LINE = "value = " + " + ".join(f"number_{n}" for n in range(40))
AFTER = "After, in words that need more than one line of a message as narrow as this."
TEXT = f"Before.\n\n```python\nx = 1\n{LINE}\n```\n\n{AFTER}"


@pytest.fixture
def body(qtbot: QtBot) -> TextBody:
    made = TextBody()
    qtbot.addWidget(made)
    made.resize(400, 300)
    with qtbot.waitActive(made):
        made.show()
        made.activateWindow()
    return made


def bars(body: TextBody) -> list[QScrollBar]:
    return [bar for bar in body.viewport().findChildren(QScrollBar) if bar.isVisible()]


def lines_of(body: TextBody, begin: str) -> int:
    cursor = body.document().find(begin)
    return cursor.block().layout().lineCount()


def place_of(body: TextBody, text: str) -> QPoint:
    """Return the middle of a text in the document, as if nothing were scrolled."""
    found = body.document().find(text)
    start = QTextCursor(found)
    start.setPosition(found.selectionStart())
    return (body.cursorRect(start).center() + body.cursorRect(found).center()) / 2


def turn(body: TextBody, at: QPoint, x: int, y: int, held: Qt.KeyboardModifier) -> bool:
    """Turn the wheel over a place; return whether the message took it."""
    event = QWheelEvent(
        QPointF(at),
        QPointF(body.mapToGlobal(at)),
        QPoint(),
        QPoint(x, y),
        Qt.MouseButton.NoButton,
        held,
        Qt.ScrollPhase.NoScrollPhase,
        False,
    )
    event.ignore()
    QApplication.sendEvent(body.viewport(), event)
    return event.isAccepted()


def test_a_long_line_of_code_is_one_line_and_prose_is_wrapped(body: TextBody) -> None:
    body.show_markdown(TEXT)
    assert lines_of(body, "value") == 1
    assert lines_of(body, "After") > 1
    (bar,) = bars(body)
    assert bar.maximum() > body.width()
    assert body.horizontalScrollBar().maximum() == 0, "the message itself does not move"
    body.show_markdown("```\nshort\n```")
    assert bars(body) == []


def test_code_that_grows_keeps_its_place(body: TextBody) -> None:
    grown = TEXT[: TEXT.index("number_30")]
    body.show_markdown(grown)
    (bar,) = bars(body)
    bar.setValue(50)
    before = bar.maximum()
    body.show_markdown(TEXT)
    assert bars(body) == [bar]
    assert bar.value() == 50
    assert bar.maximum() > before


def test_the_wheel_scrolls_sideways_only_over_wide_code(body: TextBody) -> None:
    body.show_markdown(TEXT)
    (bar,) = bars(body)
    over, plain = place_of(body, "x = 1"), Qt.KeyboardModifier.NoModifier
    assert not turn(body, over, 0, -120, plain), "the transcript scrolls"
    assert bar.value() == 0
    assert turn(body, over, 0, -120, Qt.KeyboardModifier.ShiftModifier)
    assert (shifted := bar.value()) > 0
    assert turn(body, over, -120, 0, plain), "a touchpad"
    assert bar.value() > shifted
    assert not turn(body, place_of(body, "Before"), -120, 0, plain)


def test_scrolled_code_is_painted_and_hit_where_it_is_shown(body: TextBody, qtbot: QtBot) -> None:
    body.show_markdown(TEXT)
    before = body.grab().toImage()
    (bar,) = bars(body)
    bar.setFocus()
    qtbot.keyClick(bar, Qt.Key.Key_End)
    assert bar.value() == bar.maximum()
    shown = place_of(body, "number_39") - QPoint(bar.value(), 0)
    assert 0 < shown.x() < body.width()
    after = body.grab().toImage()
    row = before.rect().adjusted(0, shown.y() - 6, 0, 0)
    row.setHeight(12)
    assert before.copy(row) != after.copy(row)
    above = row.translated(0, place_of(body, "Before").y() - shown.y())
    assert before.copy(above) == after.copy(above), "only the code moves"
    qtbot.mouseDClick(body.viewport(), Qt.MouseButton.LeftButton, pos=shown)
    assert body.textCursor().selectedText() == "number_39"
    start = TEXT.index("number_39")
    source = body.source_at(shown)
    assert source is not None
    assert start <= source[0] < start + len("number_39")


def copied_code(body: TextBody) -> str:
    body.copy_buttons[0].click()
    return QGuiApplication.clipboard().text()


def test_a_copy_across_the_document_is_exact(body: TextBody) -> None:
    body.show_markdown(TEXT)
    bars(body)[0].setValue(80)
    body.selectAll()
    copied = body.createMimeDataFromSelection().text()
    assert copied.startswith("Before.\n\nx = 1\nvalue = number_0")
    assert LINE in copied
    assert copied_code(body) == f"x = 1\n{LINE}"


def test_a_selection_moved_by_the_keyboard_stays_in_view(body: TextBody, qtbot: QtBot) -> None:
    body.show_markdown(TEXT)
    body.setFocus()
    start = body.document().find("value")
    start.setPosition(start.selectionStart())
    body.setTextCursor(start)
    qtbot.keyClick(body, Qt.Key.Key_End, Qt.KeyboardModifier.ShiftModifier)
    assert body.textCursor().selectedText() == LINE
    (bar,) = bars(body)
    assert bar.value() > bar.maximum() - 40
    qtbot.keyClick(body, Qt.Key.Key_Home, Qt.KeyboardModifier.ShiftModifier)
    assert bar.value() == 0


def test_code_wraps_if_that_is_preferred_and_where_a_line_has_no_end(body: TextBody, qtbot: QtBot) -> None:
    body.show_markdown(f"```\n{'x' * (MAX_UNBROKEN + 1)}\n```")
    assert lines_of(body, "xxx") > 1
    assert bars(body) == []
    typography.choose(Typography(wraps_code=True))
    try:
        body.reset_look()
        body.show_markdown(TEXT)
        assert lines_of(body, "value") > 1
        assert bars(body) == []
    finally:
        typography.choose(Typography())
