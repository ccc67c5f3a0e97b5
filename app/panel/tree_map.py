"""The map below a token tree that is larger than its view: the whole tree, with a frame around the view."""

from PySide6.QtCore import QPointF, QRectF, QSizeF, Qt
from PySide6.QtGui import QColor, QPainter, QPen

from app.panel.tree_geometry import Arranged, extent
from app.panel.tree_painter import Kind, kinds_of
from app.widgets import theme
from engine.protocol.messages import IterationDone, TreeGrown

HEIGHT = 44  # of the strip, with the line above it
INSET = 4.0
LOWEST = 1.6  # least height of a node


class TreeMap:
    """Places of a tree in the strip at `rect`, stretched to it."""

    def __init__(self, arranged: Arranged, rect: QRectF) -> None:
        self._arranged = arranged
        self.rect = rect
        whole = extent(arranged)
        self._x = rect.width() / whole.width()
        self._y = (rect.height() - 2 * INSET) / whole.height()

    def window(self, offset: QPointF, size: QSizeF) -> QRectF:
        """Return the rectangle in the strip that stands for the part of the tree in view."""
        top = self.rect.top() + INSET + offset.y() * self._y
        width, height = size.width() * self._x, size.height() * self._y
        window = QRectF(self.rect.left() + offset.x() * self._x, top, width, height)
        return window.intersected(self.rect.adjusted(0, 1, 0, -1))

    def offset(self, at: QPointF, size: QSizeF) -> QPointF:
        """Return the offset of the view whose middle is at a point of the strip."""
        x = (at.x() - self.rect.left()) / self._x - size.width() / 2
        y = (at.y() - self.rect.top() - INSET) / self._y - size.height() / 2
        return QPointF(x, y)

    def paint(
        self, painter: QPainter, event: TreeGrown | IterationDone, offset: QPointF, size: QSizeF
    ) -> None:
        colours = theme.current()
        painter.fillRect(self.rect, QColor(colours.surface))
        painter.setPen(QPen(QColor(colours.border), 1))
        painter.drawLine(self.rect.topLeft(), self.rect.topRight())
        painter.setPen(Qt.PenStyle.NoPen)
        kinds = kinds_of(event, self._arranged.boxes)
        for kind, colour in (
            (Kind.REJECTED, colours.outline),
            (Kind.GROWING, colours.outline),
            (Kind.ROOT, colours.text),
            (Kind.ACCEPTED, colours.accent),
            (Kind.BONUS, colours.bonus),
        ):
            painter.setBrush(QColor(colour))
            painter.drawRects([self._place(node) for node in kinds if kinds[node] is kind])
        window = self.window(offset, size)
        shade = QColor(colours.accent)
        shade.setAlphaF(0.12)
        painter.setBrush(shade)
        painter.setPen(QPen(QColor(colours.accent), 1.2))
        painter.drawRoundedRect(window.adjusted(0.6, 0.6, -0.6, -0.6), 3, 3)

    def _place(self, node: int) -> QRectF:
        box = self._arranged.boxes[node]
        top = self.rect.top() + INSET + box.y * self._y
        height = max(LOWEST, box.height * self._y - 1)
        return QRectF(self.rect.left() + box.x * self._x, top, max(1.5, box.width * self._x - 1), height)
