"""What the shapes of the token tree mean."""

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from app import theme
from app.tree_shapes import Kind, draw_node

SWATCH = 18
SPACING = 6
BETWEEN = 14


class TreeLegend(QWidget):
    """A line of shapes with their names."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._entries = (
            (Kind.GROWING, self.tr("drafted")),
            (Kind.ACCEPTED, self.tr("accepted")),
            (Kind.BONUS, self.tr("bonus token")),
            (Kind.REJECTED, self.tr("rejected")),
        )
        self.setAccessibleName(self.tr("Legend of the token tree"))
        self.setAccessibleDescription(", ".join(name for _, name in self._entries))
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)

    def sizeHint(self) -> QSize:
        return QSize(300, self.fontMetrics().height() + 8)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        colours = theme.current()
        x, middle = 1.0, self.height() / 2
        for kind, name in self._entries:
            draw_node(painter, QRectF(x, middle - 6, SWATCH, 12), "", kind, colours)
            x += SWATCH + SPACING
            painter.setPen(colours.muted)
            width = self.fontMetrics().horizontalAdvance(name) + 2
            painter.drawText(QRectF(x, 0, width, self.height()), Qt.AlignmentFlag.AlignVCenter, name)
            x += width + BETWEEN
