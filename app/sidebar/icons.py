"""The sidebar's few pictures, drawn in the colour of the text beside them."""

from functools import lru_cache

from PySide6.QtCore import QByteArray, QRectF, QSize, Qt
from PySide6.QtGui import QIcon, QPainter, QPixmap
from PySide6.QtSvg import QSvgRenderer

_LARGEST = 96  # pixels of an icon: 24 at four times the scale

# Strokes in a square of 16.
_PATHS = {
    "plus": "M8 3.2v9.6M3.2 8h9.6",
    "search": "M11.5 7a4.5 4.5 0 1 1-9 0a4.5 4.5 0 0 1 9 0zM10.3 10.3L13.8 13.8",
    "more": "M3.5 8h.01M8 8h.01M12.5 8h.01",
    "folded": "M6.2 4.4L9.8 8l-3.6 3.6",
    "folded_rtl": "M9.8 4.4L6.2 8l3.6 3.6",
    "unfolded": "M4.4 6.2L8 9.8l3.6-3.6",
    "folder": "M2.2 4.6a1.2 1.2 0 0 1 1.2-1.2h2.7l1.6 1.8h4.9a1.2 1.2 0 0 1 1.2 1.2v5a1.2 1.2 0 0 1-1.2 1.2"
    "h-9.2a1.2 1.2 0 0 1-1.2-1.2z",
    "close": "M4.2 4.2l7.6 7.6M11.8 4.2l-7.6 7.6",
}


def paint(painter: QPainter, name: str, box: QRectF, colour: str) -> None:
    _renderer(name, colour).render(painter, box)


def icon(name: str, colour: str) -> QIcon:
    made = QPixmap(QSize(_LARGEST, _LARGEST))
    made.fill(Qt.GlobalColor.transparent)
    painter = QPainter(made)
    paint(painter, name, QRectF(made.rect()), colour)
    painter.end()
    return QIcon(made)


@lru_cache(maxsize=64)
def _renderer(name: str, colour: str) -> QSvgRenderer:
    width = 2.2 if name == "more" else 1.4
    svg = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><path d="{_PATHS[name]}" fill="none" '
        f'stroke="{colour}" stroke-width="{width}" stroke-linecap="round" stroke-linejoin="round"/></svg>'
    )
    return QSvgRenderer(QByteArray(svg.encode()))
