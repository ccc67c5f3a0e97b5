"""Icons from resources/icons, drawn in the theme's colours at the screen's resolution."""

from functools import cache

from PySide6.QtCore import QByteArray, QRect, QRectF, QSize, Qt
from PySide6.QtGui import QIcon, QIconEngine, QPainter, QPixmap
from PySide6.QtSvg import QSvgRenderer

from app.widgets import theme
from engine.assets import RESOURCES

FOLDER = RESOURCES / "icons"


class _Drawn(QIconEngine):
    """An icon drawn on every paint, so that it follows the theme and the scale."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self._name = name

    def paint(self, painter: QPainter, rect: QRect, mode: QIcon.Mode, state: QIcon.State) -> None:
        colours = theme.current()
        colour = colours.outline if mode == QIcon.Mode.Disabled else colours.text
        _renderer(self._name, colour).render(painter, QRectF(rect))

    def pixmap(self, size: QSize, mode: QIcon.Mode, state: QIcon.State) -> QPixmap:
        pixmap = QPixmap(size)
        pixmap.fill(Qt.GlobalColor.transparent)
        painter = QPainter(pixmap)
        self.paint(painter, QRect(pixmap.rect()), mode, state)
        painter.end()
        return pixmap

    def clone(self) -> QIconEngine:
        return _Drawn(self._name)


@cache
def _renderer(name: str, colour: str) -> QSvgRenderer:
    drawn = (FOLDER / f"{name}.svg").read_text("utf-8").replace("currentColor", colour)
    return QSvgRenderer(QByteArray(drawn.encode()))


def icon(name: str) -> QIcon:
    return QIcon(_Drawn(name))


def paint(painter: QPainter, name: str, box: QRectF, colour: str) -> None:
    """Paint an icon into `box`, for widgets that take no QIcon."""
    _renderer(name, colour).render(painter, box)
