"""Legend of the token tree."""

from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from app.panel.node_words import SOURCES, sources
from app.panel.tree_painter import GLYPH_SIZE, Kind, NodeStyle, draw_glyph, draw_node
from app.widgets import theme
from engine.protocol.messages import TreeNodes

SWATCH = 18
SPACING = 6
BETWEEN = 14


class TreeLegend(QWidget):
    """Widget with two lines of shapes and their names: the verdicts, and the sources that have occurred."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._verdicts = (
            (Kind.GROWING, self.tr("drafted")),
            (Kind.ACCEPTED, self.tr("accepted")),
            (Kind.BONUS, self.tr("bonus token")),
            (Kind.REJECTED, self.tr("rejected")),
        )
        self._seen = 0
        self.setAccessibleName(self.tr("Legend of the token tree"))
        self.setToolTip(
            self.tr(
                "Each node of the tree is a token that a drafter has proposed. "
                "One pass of the target verifies all nodes: it accepts one path, rejects the others "
                "and adds a bonus token of its own."
            )
        )
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        self._describe()

    def show_sources(self, tree: TreeNodes) -> None:
        """Add the sources that occur in a tree."""
        seen = self._seen
        for bits in set(tree.sources):
            seen |= bits
        if seen != self._seen:
            self._seen = seen
            self._describe()
            self.update()

    def sizeHint(self) -> QSize:
        return QSize(300, 2 * self._line_height())

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        colours = theme.current()
        height = self._line_height()
        x = 1.0
        for kind, name in self._verdicts:
            draw_node(painter, QRectF(x, height / 2 - 6, SWATCH, 12), "", NodeStyle(kind), colours)
            x = self._name(painter, x + SWATCH + SPACING, 0, name)
        x = 1.0
        for source in sources(self._seen):
            at = QPointF(x + GLYPH_SIZE / 2 + 1, 1.5 * height)
            draw_glyph(painter, at, source.shape, source.colour(colours))
            x = self._name(painter, x + GLYPH_SIZE + SPACING, height, source.name)

    def _name(self, painter: QPainter, x: float, y: float, name: str) -> float:
        """Write a name; return the x coordinate of the next entry."""
        painter.setPen(theme.current().muted)
        width = self.fontMetrics().horizontalAdvance(name) + 2
        flags = Qt.AlignmentFlag.AlignVCenter
        painter.drawText(QRectF(x, y, width, self._line_height()), flags, name)
        return x + width + BETWEEN

    def _line_height(self) -> int:
        return self.fontMetrics().height() + 6

    def _describe(self) -> None:
        names = [name for _, name in self._verdicts]
        names += [source.name for source in SOURCES if source.bit & self._seen]
        self.setAccessibleDescription(", ".join(names))
