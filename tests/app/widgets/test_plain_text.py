"""Text that is not the program's own is shown as it is: nothing in it is loaded."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import QEvent, QPoint, QUrl
from PySide6.QtGui import QColor, QHelpEvent, QImage, Qt, QTextDocument
from PySide6.QtWidgets import QApplication, QLabel, QMessageBox, QToolTip, QWidget
from pytestqt.qtbot import QtBot

from app.conversation.link_question import ask_to_open
from app.rendering.formulas import FormulaRenderer
from app.rendering.text_body import TextBody
from app.widgets.elided_label import ElidedLabel
from app.widgets.form_parts import label
from app.widgets.plain_text import PlainLabel, PlainMessageBox, plain, unmarked, wrapped

OLD = 1_000_000_000


@pytest.fixture
def picture(tmp_path: Path) -> Path:
    """A picture that was last read long ago."""
    file = tmp_path / "read.png"
    image = QImage(200, 200, QImage.Format.Format_RGB32)
    image.fill(QColor("#ff0000"))
    assert image.save(str(file))
    os.utime(file, (OLD, OLD + 1))  # most file systems note the first reading after a change
    return file


def was_read(file: Path) -> bool:
    return file.stat().st_atime != OLD


def shown(qtbot: QtBot, make: Callable[[], QWidget]) -> QWidget:
    """Show a widget and draw it."""
    widget = make()
    qtbot.addWidget(widget)
    widget.show()
    qtbot.waitExposed(widget)
    widget.grab()
    return widget


def tips() -> list[QLabel]:
    return [each for each in QApplication.topLevelWidgets() if each.metaObject().className() == "QTipLabel"]


def test_the_program_notices_a_file_that_is_read(qtbot: QtBot, picture: Path) -> None:
    shown(qtbot, lambda: QLabel(f'<img src="{picture}">'))
    if not was_read(picture):
        pytest.skip("this file system does not note when a file is read")


@pytest.mark.parametrize(
    "form", ['<img src="{}">', "$x<img src='{}'>$", '</p><b>bold</b><img src="{}">&amp;']
)
def test_nothing_is_read_and_everything_is_shown(qtbot: QtBot, picture: Path, form: str) -> None:
    text = form.format(picture)
    document = QTextDocument()
    document.setHtml(plain(text))
    assert not Qt.mightBeRichText(plain(text)) or document.toPlainText() == text

    for make in (lambda: PlainLabel(text), lambda: label(text)):
        assert shown(qtbot, make).text() == text
    elided = ElidedLabel()
    elided.setText(text)
    shown(qtbot, lambda: elided)
    for tip in (plain(text), elided.toolTip()):
        QToolTip.showText(QPoint(10, 10), tip)
        qtbot.waitUntil(lambda: bool(tips()))
        tips()[0].grab()
        QToolTip.hideText()
    box = PlainMessageBox(QMessageBox.Icon.Warning, "Title", text)
    box.setInformativeText(text)
    shown(qtbot, lambda: box)
    assert not was_read(picture)
    assert "<" not in unmarked(text)


def test_long_lines_of_a_tool_tip_are_broken(qtbot: QtBot) -> None:
    widths = []
    for text in ("a sentence " * 40, "one\ntwo <b>"):
        document = QTextDocument()
        document.setHtml(wrapped(text))
        assert document.toPlainText() == text
        QToolTip.showText(QPoint(10, 10), wrapped(text))
        qtbot.waitUntil(lambda: bool(tips()))
        widths.append(tips()[0].width())
        QToolTip.hideText()
        qtbot.waitUntil(lambda: not tips())
    assert widths[1] < widths[0] < 800


def test_a_formula_that_is_hovered_over_reads_nothing(
    qtbot: QtBot, picture: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Once it is known that it cannot be drawn, a formula is shown as source, which has no tool tip.
    monkeypatch.setattr(FormulaRenderer, "is_drawable", lambda *formula: True)
    body = TextBody()
    qtbot.addWidget(body)
    body.resize(600, 200)
    body.show()
    qtbot.waitExposed(body)
    body.show_markdown(f'$x<img src="{picture}">$')
    QApplication.processEvents()
    for place in range(150):
        at = QPoint(5 + place % 15 * 20, 5 + place // 15 * 4)
        event = QHelpEvent(QEvent.Type.ToolTip, at, body.viewport().mapToGlobal(at))
        QApplication.sendEvent(body.viewport(), event)
        QApplication.processEvents()
        for tip in tips():
            tip.grab()
    assert tips(), "no tool tip was shown"
    QToolTip.hideText()
    assert not was_read(picture)


def test_a_link_is_shown_before_it_is_opened(qtbot: QtBot, picture: Path) -> None:
    parent = shown(qtbot, QWidget)
    box = ask_to_open(parent, QUrl(f'https://example.org/?<img src="{picture}">'))
    box.grab()
    assert not was_read(picture)
    box.close()
