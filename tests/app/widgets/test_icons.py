import pytest
from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QColor, QImage, QPainter
from PySide6.QtSvg import QSvgRenderer
from PySide6.QtWidgets import QApplication

from app.widgets import theme
from app.widgets.icons import FOLDER, icon, paint


def colours(image: QImage) -> set[str]:
    """Return the colours of all opaque pixels."""
    pixels = (image.pixelColor(x, y) for x in range(image.width()) for y in range(image.height()))
    return {pixel.name() for pixel in pixels if pixel.alpha() == 255}


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.svg")), ids=lambda path: path.stem)
def test_every_icon_can_be_drawn(path: object) -> None:
    assert QSvgRenderer(str(path)).isValid()


def test_icons_follow_the_theme_and_the_scale(qapp: QApplication) -> None:
    drawn = icon("reset")
    for scheme, tokens in ((Qt.ColorScheme.Dark, theme.DARK), (Qt.ColorScheme.Light, theme.LIGHT)):
        theme.dress(qapp, scheme)
        assert colours(drawn.pixmap(QSize(48, 48)).toImage()) == {QColor(tokens.text).name()}
    sharp = drawn.pixmap(QSize(16, 16), 2.0)
    assert (sharp.width(), sharp.devicePixelRatio()) == (32, 2.0)


def test_an_icon_is_painted_in_the_requested_colour(qapp: QApplication) -> None:
    image = QImage(48, 48, QImage.Format.Format_ARGB32)
    image.fill(Qt.GlobalColor.transparent)
    painter = QPainter(image)
    paint(painter, "folder", QRectF(image.rect()), "#123456")
    painter.end()
    assert colours(image) == {"#123456"}
