"""The text widget: it loads nothing, and text can be selected, copied and mapped to its source."""

from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, Qt, QUrl
from PySide6.QtGui import QColor, QGuiApplication, QImage, QTextCursor, QTextDocument
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from app.rendering import formulas
from app.rendering.formulas import Formula
from app.rendering.text_body import TextBody
from app.widgets import theme


@pytest.fixture
def body(qtbot: QtBot) -> TextBody:
    made = TextBody()
    qtbot.addWidget(made)
    made.resize(500, 300)
    made.show()
    qtbot.waitExposed(made)
    return made


def copied(body: TextBody, anchor: int = 0, position: int | None = None) -> str:
    cursor = QTextCursor(body.document())
    cursor.setPosition(anchor)
    end = body.document().characterCount() - 1
    cursor.setPosition(end if position is None else position, QTextCursor.MoveMode.KeepAnchor)
    body.setTextCursor(cursor)
    made = body.createMimeDataFromSelection()
    assert made.formats() == ["text/plain"]
    return made.text()


def drawn(qtbot: QtBot, latex: str, is_display: bool = False) -> None:
    shared = formulas.shared()
    qtbot.waitUntil(lambda: shared.picture(Formula(latex, is_display)) is not None, timeout=20_000)


def test_images_are_named_not_loaded(body: TextBody, tmp_path: Path) -> None:
    """Not even an existing local file is loaded; its image would be red."""
    picture = tmp_path / "red.png"
    image = QImage(200, 200, QImage.Format.Format_RGB32)
    image.fill(QColor("#ff0000"))
    assert image.save(str(picture))
    body.show_markdown(
        f'![a]({picture.as_uri()}) ![b]({picture}) ![c](http://127.0.0.1:9/x.png) <img src="{picture}">'
    )
    grabbed = body.grab().toImage()
    colours = {grabbed.pixel(x, y) for x in range(0, 500, 3) for y in range(0, grabbed.height(), 3)}
    assert QColor("#ff0000").rgb() not in colours
    assert body.toPlainText().count("image not loaded") == 2
    assert "[image not loaded: c, http://127.0.0.1:9/x.png]" in body.toPlainText()
    for kind in QTextDocument.ResourceType:
        assert body.loadResource(kind.value, QUrl.fromLocalFile(str(picture))).isEmpty()
        assert body.document().loadResource(kind.value, QUrl.fromLocalFile(str(picture))).isEmpty()


def test_selection_survives_growing_text(body: TextBody) -> None:
    body.show_markdown("one two three")
    cursor = body.textCursor()
    cursor.setPosition(4)
    cursor.setPosition(7, cursor.MoveMode.KeepAnchor)
    body.setTextCursor(cursor)
    body.show_markdown("one two three four\n\n- five")
    assert body.textCursor().selectedText() == "two"


def test_other_text_replaces_the_text_shown(body: TextBody) -> None:
    body.show_markdown("one\n\n| a |\n|--|\n| b |\n\n```\ncode\n```")
    body.show_markdown("two")
    assert body.toPlainText() == "two"
    assert not body.copy_buttons


def test_plain_text_is_laid_out_once_and_fits_any_width(body: TextBody) -> None:
    """A second time takes as long as the first: 0.2 s for the longest question."""
    layouts: list[None] = []
    body.show()
    body.show_plain("word " * 400)
    body.document().documentLayout().update.connect(lambda *_: layouts.append(None))
    body.setPlainText("word " * 500)
    once = len(layouts)
    body.show_plain("word " * 600)
    assert len(layouts) == 2 * once > 0
    for width in (300, 600):
        body.resize(width, body.height())
        assert body.height() == int(body.document().size().height()) + 2
        assert body.document().textWidth() == body.viewport().width()


def test_it_stops_when_its_time_is_up_and_continues_later(body: TextBody) -> None:
    text = "A paragraph of words.\n\n" * 1_000
    assert not body.show_markdown(text, budget_ms=0)
    assert 0 < len(body.toPlainText()) < len(text) / 2
    while not body.show_markdown(text, budget_ms=0):
        pass
    assert body.toPlainText().count("paragraph") == 1_000


def test_a_copy_reads_like_typed_text(body: TextBody, qtbot: QtBot) -> None:
    body.show_markdown(
        "# Head\n\nOne **two** $x^2$.\n\n- a\n- b\n\n"
        "| c | d |\n|---|---|\n| e | f |\n\n```py\nif g:\n    h\n```\n"
    )
    drawn(qtbot, "x^2")
    assert copied(body) == "Head\n\nOne two $x^2$.\n\n- a\n- b\n\nc\td\ne\tf\n\nif g:\n    h"
    assert copied(body, 6, 10) == "ne t"


def test_code_has_a_button_that_copies_it(body: TextBody, qtbot: QtBot) -> None:
    body.show_markdown("a\n\n```py\nif g:\n    h\n```\n\nb\n\n~~~\nc\n~~~\n")
    first, second = body.copy_buttons
    assert first.isVisible()
    assert first.accessibleName() == "Copy code"
    assert first.focusPolicy() & Qt.FocusPolicy.TabFocus
    for button, code in ((first, "if g:\n    h"), (second, "c")):
        assert body.rect().contains(button.geometry())
        button.setFocus()
        qtbot.keyClick(button, Qt.Key.Key_Space)
        assert QGuiApplication.clipboard().text() == code
    assert (first.text(), second.text()) == ("Copy", "Copied")
    assert first.geometry().bottom() < second.geometry().top()


@pytest.mark.parametrize(
    "above", ["", "| a |\n|---|\n| 1 |\n\n", "Some text.\n\n"], ids=["first", "table", "text"]
)
def test_the_header_of_code_covers_no_text(body: TextBody, above: str) -> None:
    """In every position, and also when the text was not recognised as code at first."""
    text = above + "```python\nx = 1\n```"
    for end in range(len(above), len(text) + 1):
        body.show_markdown(text[:end])
    button = body.copy_buttons[0]
    assert button.geometry().top() >= 0
    if above:
        upper = body.document().find(above.strip(" |\n")[-1])
        assert 0 < body.cursorRect(upper).bottom() < button.geometry().top()


def test_a_point_is_mapped_to_its_source(body: TextBody) -> None:
    text = "Some **bold** words and\n\n| a | cell |\n|--|--|\n| b | c |\n"
    body.show_markdown(text)
    for said in ("bold", "words", "cell"):
        start = text.index(said)
        ((position, length),) = body.spans(start, start + len(said))
        cursor = QTextCursor(body.document())
        for offset in range(length):
            cursor.setPosition(position + offset)
            left = body.cursorRect(cursor)
            cursor.setPosition(position + offset + 1)
            width = body.cursorRect(cursor).left() - left.left()
            for x in (left.left() + 1, left.left() + width - 1):
                place = body.source_at(QPoint(x, left.center().y()))
                assert place == (start + offset, start + offset + 1)
    assert body.source_at(QPoint(490, 5)) is None


def test_a_formula_is_drawn_in_the_colour_of_the_text(body: TextBody, qtbot: QtBot) -> None:
    body.show_markdown("$$\n\\sum_{i=1}^n x_i\n$$")
    waiting = body.height()
    drawn(qtbot, "\\sum_{i=1}^n x_i", True)
    qtbot.waitUntil(lambda: body.height() > waiting)
    grabbed = body.grab().toImage()
    seen = {grabbed.pixelColor(x, y).name() for x in range(grabbed.width()) for y in range(grabbed.height())}
    assert theme.LIGHT.text in seen
    body.finish()
    assert "\\sum_{i=1}^n x_i" in body.accessibleDescription()


def test_a_wide_formula_fits(body: TextBody, qtbot: QtBot) -> None:
    latex = " + ".join(f"x_{{{i}}}" for i in range(60))
    body.show_markdown(f"$${latex}$$")
    drawn(qtbot, latex, True)
    qtbot.waitUntil(lambda: body.document().idealWidth() <= 501)


def test_links_defined_after_their_use_work_at_the_end(body: TextBody) -> None:
    text = "[a][1] and more\n\n" + "words\n\n" * 3 + "[1]: https://a.example\n"
    for end in range(0, len(text) + 1, 5):
        body.show_markdown(text[:end])
    body.show_markdown(text)
    assert not body.finish()
    body.show_markdown(text)
    assert body.finish()
    (first, *_) = body.document().firstBlock().textFormats()
    assert first.format.anchorHref() == "https://a.example"


@pytest.mark.parametrize("scheme", [Qt.ColorScheme.Light, Qt.ColorScheme.Dark], ids=["light", "dark"])
def test_colours_follow_the_theme(qapp: QApplication, body: TextBody, scheme: Qt.ColorScheme) -> None:
    text = "```py\ndef f(): pass\n```"
    body.show_markdown(text)
    theme.dress(qapp, scheme)
    body.reset_look()
    body.show_markdown(text)
    colours = theme.DARK if scheme == Qt.ColorScheme.Dark else theme.LIGHT
    grabbed = body.grab().toImage()
    seen = {grabbed.pixelColor(x, y).name() for x in range(grabbed.width()) for y in range(grabbed.height())}
    assert colours.raised in seen
    (first, *_) = body.document().firstBlock().textFormats()
    assert first.format.foreground().color().name() == colours.code_keyword


@pytest.mark.parametrize(
    "letter", ["\u200f", "\u200b", "\u0301", "\u2060", "\ufeff", "\U0001f30a"], ids=ascii
)
def test_a_formula_without_a_visible_character_is_shown(qtbot: QtBot, letter: str) -> None:
    body = TextBody()
    qtbot.addWidget(body)
    body.resize(400, 200)
    body.show_markdown(f"one ${letter}$ two $$ {letter} $$")
    body.grab()
    assert "two" in body.toPlainText()
