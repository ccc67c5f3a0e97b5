"""Legend of the token tree."""

from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from app.panel.node_words import SOURCES, is_ahead, sources
from app.panel.tree_painter import GLYPH_SIZE, Kind, NodeStyle, draw_glyph, draw_node
from app.widgets import theme
from engine.protocol.messages import TreeNodes

SWATCH = 18
SPACING = 6
BETWEEN = 14


class TreeLegend(QWidget):
    """Widget with shapes and their names: first the verdicts, then the sources that have occurred, from the
    next line on."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._verdicts = (
            (NodeStyle(Kind.GROWING), self.tr("drafted")),
            (NodeStyle(Kind.ACCEPTED), self.tr("accepted")),
            (NodeStyle(Kind.BONUS), self.tr("bonus token")),
            (NodeStyle(Kind.REJECTED), self.tr("rejected")),
        )
        self._ahead = (NodeStyle(Kind.GROWING, ahead=True), self.tr("drafted during the pass before"))
        self._seen = 0
        self.setAccessibleName(self.tr("Legend of the token tree"))
        self.setToolTip(
            self.tr(
                "Each node of the tree is a token that a drafter has proposed. "
                "One pass of the target verifies all nodes: it accepts one path, rejects the others "
                "and adds a bonus token of its own."
            )
        )
        policy = QSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Minimum)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)
        self._describe()

    def show_sources(self, tree: TreeNodes) -> None:
        """Add the sources that occur in a tree."""
        seen = self._seen
        for bits in set(tree.sources):
            seen |= bits
        if seen != self._seen:
            self._seen = seen
            self._describe()
            self.updateGeometry()
            self.update()

    @property
    def _looks(self) -> tuple[tuple[NodeStyle, str], ...]:
        return (*self._verdicts, self._ahead) if is_ahead(self._seen) else self._verdicts

    def sizeHint(self) -> QSize:
        return QSize(300, self.heightForWidth(300))

    def heightForWidth(self, width: int) -> int:
        verdicts, seen = self._places(width)
        (_, last) = (seen or verdicts)[-1]
        return max(last, self._line_height()) + self._line_height()

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        colours, middle = theme.current(), self._line_height() / 2
        verdicts, seen = self._places(self.width())
        for (look, name), (x, y) in zip(self._looks, verdicts, strict=True):
            draw_node(painter, QRectF(x, y + middle - 6, SWATCH, 12), "", look, colours)
            self._name(painter, x + SWATCH + SPACING, y, name)
        for source, (x, y) in zip(sources(self._seen), seen, strict=True):
            draw_glyph(
                painter, QPointF(x + GLYPH_SIZE / 2 + 1, y + middle), source.shape, source.colour(colours)
            )
            self._name(painter, x + GLYPH_SIZE + SPACING, y, source.name)

    def _places(self, width: int) -> tuple[list[tuple[float, int]], list[tuple[float, int]]]:
        """Return where the verdicts begin, and where the sources do: in as many lines as the width needs."""
        verdicts = self._wrapped([name for _, name in self._looks], SWATCH, 0, width)
        below = verdicts[-1][1] + self._line_height()
        return verdicts, self._wrapped([each.name for each in sources(self._seen)], GLYPH_SIZE, below, width)

    def _wrapped(self, names: list[str], shape: float, y: int, width: int) -> list[tuple[float, int]]:
        places = []
        x = 1.0
        for name in names:
            needed = shape + SPACING + self.fontMetrics().horizontalAdvance(name) + 2
            if x > 1 and x + needed > width:
                x, y = 1.0, y + self._line_height()
            places.append((x, y))
            x += needed + BETWEEN
        return places

    def _name(self, painter: QPainter, x: float, y: float, name: str) -> None:
        painter.setPen(theme.current().muted)
        room = QRectF(x, y, self.width(), self._line_height())
        painter.drawText(room, Qt.AlignmentFlag.AlignVCenter, name)

    def _line_height(self) -> int:
        return self.fontMetrics().height() + 6

    def _describe(self) -> None:
        names = [name for _, name in self._looks]
        names += [source.name for source in SOURCES if source.bit & self._seen]
        self.setAccessibleDescription(", ".join(names))
