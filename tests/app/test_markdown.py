from pathlib import Path

import pytest
from PySide6.QtGui import QColor, QFont, QImage
from pytestqt.qtbot import QtBot

from app import markdown, theme
from app.text_body import TextBody


def plain(text: str) -> str:
    return markdown.render(text, theme.LIGHT, QFont()).toPlainText()


@pytest.mark.usefixtures("qapp")
def test_raw_html_is_shown_not_obeyed() -> None:
    text = plain('<script>alert(1)</script> and <b>bold</b> <iframe src="http://a.example"></iframe>')
    assert "<script>" in text
    assert "<iframe" in text


def test_images_are_named_not_loaded(qtbot: QtBot, tmp_path: Path) -> None:
    """Not even a local file that is there: the picture would be red."""
    picture = tmp_path / "red.png"
    image = QImage(200, 200, QImage.Format.Format_RGB32)
    image.fill(QColor("#ff0000"))
    assert image.save(str(picture))
    body = TextBody()
    qtbot.addWidget(body)
    body.resize(400, 300)
    body.show_markdown(f"![a]({picture.as_uri()}) ![b]({picture}) ![c](http://127.0.0.1:9/x.png)")
    body.show()
    qtbot.waitExposed(body)
    grabbed = body.grab().toImage()
    colours = {grabbed.pixel(x, y) for x in range(0, 400, 3) for y in range(0, grabbed.height(), 3)}
    assert QColor("#ff0000").rgb() not in colours
    assert body.toPlainText().count("image not loaded") == 3


@pytest.mark.usefixtures("qapp")
def test_code_keeps_its_text_and_gains_colour() -> None:
    code = 'def f():\n    return "😀"  # why'
    assert plain(f"```python\n{code}\n```") == code
    kinds = {
        code.encode("utf-16-le")[2 * a : 2 * (a + n)].decode("utf-16-le"): kind
        for a, n, kind in markdown.highlight(code, "python")
    }
    assert kinds["def"] == kinds["return"] == "keyword"
    assert kinds["# why"] == "comment"
    assert kinds["😀"] == "string"


@pytest.mark.parametrize("language", ["", "no-such-language", "py thon", "../../etc"])
def test_unknown_languages_stay_plain(language: str) -> None:
    assert markdown.highlight("def f(): pass", language) == []


@pytest.mark.usefixtures("qapp")
@pytest.mark.parametrize(
    "text", ["", "```", "```python\nprint(", "| a |\n|--", "**", "[x](", "\x00", "- " * 500]
)
def test_half_written_markdown_is_rendered(text: str) -> None:
    markdown.render(text, theme.LIGHT, QFont())


def test_selection_survives_growing_text(qtbot: QtBot) -> None:
    body = TextBody()
    qtbot.addWidget(body)
    body.show_markdown("one two three")
    cursor = body.textCursor()
    cursor.setPosition(4)
    cursor.setPosition(7, cursor.MoveMode.KeepAnchor)
    body.setTextCursor(cursor)
    body.show_markdown("one two three four")
    assert body.textCursor().selectedText() == "two"
