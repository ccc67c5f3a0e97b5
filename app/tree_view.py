"""The token tree of one iteration, painted."""

import math

from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt
from PySide6.QtGui import (
    QFontMetricsF,
    QHelpEvent,
    QKeyEvent,
    QPainter,
    QPainterPath,
    QPaintEvent,
    QResizeEvent,
    QWheelEvent,
)
from PySide6.QtWidgets import QToolTip, QWidget

from app import theme, tree_geometry, words
from app.tree_geometry import Box
from app.tree_layout import BONUS, ROOT, TreeLayout, layout
from app.tree_shapes import Kind, draw_node, edge_pen
from engine.protocol.messages import IterationDone, TreeGrown

PAN_STEP = 60


class TreeView(QWidget):
    """Paints the newest tree it was given; hidden, only keeps it. The wheel and arrow keys move a deep tree.

    Attributes:
        placed: where the nodes of the tree stand, or None where there is no tree or nobody looks.
        paints: how often it was painted.
    """

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.placed: TreeLayout | None = None
        self.paints = 0
        self._event: TreeGrown | IterationDone | None = None
        self._boxes: dict[int, Box] = {}
        self._accepted: frozenset[int] = frozenset()
        self._offset = 0.0
        self.setAccessibleName(self.tr("Token tree"))
        self.setFont(theme.smaller(self.font()))
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setMinimumSize(200, 120)

    def show_tree(self, event: TreeGrown | IterationDone | None) -> None:
        """Show a tree (None: none)."""
        self._event = event
        if self.isVisible():
            self._arrange()
            self.update()

    def sizeHint(self) -> QSize:
        return QSize(460, 360)

    def showEvent(self, event: QEvent) -> None:
        super().showEvent(event)  # type: ignore[arg-type]
        self._arrange()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._arrange()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.FontChange:
            self._arrange()

    def wheelEvent(self, event: QWheelEvent) -> None:
        delta = event.angleDelta()
        self._pan(-(delta.x() or delta.y()) / 120 * PAN_STEP)
        event.accept()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        steps = {Qt.Key.Key_Left: -PAN_STEP, Qt.Key.Key_Right: PAN_STEP}
        if event.key() in steps:
            self._pan(steps[Qt.Key(event.key())])
        else:
            super().keyPressEvent(event)

    def event(self, event: QEvent) -> bool:
        if isinstance(event, QHelpEvent) and event.type() == QEvent.Type.ToolTip:
            QToolTip.showText(event.globalPos(), self._tip(event.pos().toPointF()), self)
            return True
        return super().event(event)

    def kind(self, node: int) -> Kind:
        """How a node is drawn."""
        if node == ROOT:
            return Kind.ROOT
        if node == BONUS:
            return Kind.BONUS
        if not isinstance(self._event, IterationDone):
            return Kind.GROWING
        return Kind.ACCEPTED if node in self._accepted else Kind.REJECTED

    def box(self, node: int) -> QRectF:
        """Where a node is, in pixels of this widget."""
        box = self._boxes[node]
        return QRectF(box.x - self._offset, box.y, box.width, box.height)

    def paintEvent(self, event: QPaintEvent) -> None:
        self.paints += 1
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if not self._boxes:
            self._paint_nothing(painter)
            return
        colours = theme.current()
        order = sorted(
            self._boxes.values(), key=lambda box: self.kind(box.node) in (Kind.ACCEPTED, Kind.BONUS)
        )
        for box in order:  # what was accepted comes last, on top
            if box.node != ROOT:
                painter.setBrush(Qt.BrushStyle.NoBrush)
                painter.setPen(edge_pen(self.kind(box.node), self._probability(box.node), colours))
                painter.drawPath(self._edge(self._boxes[box.parent], box))
        metrics = QFontMetricsF(self.font())
        for box in order:
            room = box.width - tree_geometry.NODE_PADDING
            text = metrics.elidedText(box.text, Qt.TextElideMode.ElideRight, room)
            draw_node(painter, self.box(box.node), text, self.kind(box.node), colours)

    def _paint_nothing(self, painter: QPainter) -> None:
        painter.setPen(theme.current().muted)
        text = self.tr("The token tree appears here while the model answers.")
        flags = Qt.AlignmentFlag.AlignCenter | Qt.TextFlag.TextWordWrap
        painter.drawText(self.rect().adjusted(24, 0, -24, 0), flags, text)

    def _arrange(self) -> None:
        if self._event is None or not self.isVisible():
            self.placed, self._boxes = None, {}
            return
        event = self._event
        accepted = event.accepted if isinstance(event, IterationDone) else []
        has_bonus = isinstance(event, IterationDone) and event.bonus_token is not None
        self._accepted = frozenset(accepted)
        rows = max(2, int((self.height() - 2 * tree_geometry.MARGIN) // tree_geometry.MIN_ROW))
        self.placed = layout(event.tree, accepted, has_bonus=has_bonus, max_rows=rows)
        texts = {place.node: tree_geometry.label(event, place.node) for place in self.placed.places}
        measure = QFontMetricsF(self.font()).horizontalAdvance
        self._boxes = tree_geometry.boxes(self.placed, texts, measure, self.width(), self.height())
        self._offset = self._start_offset()

    def _overhang(self) -> float:
        right = max((box.rail for box in self._boxes.values()), default=0.0)
        return max(0.0, right + tree_geometry.MARGIN - self.width())

    def _start_offset(self) -> float:
        """A verdict that runs beyond the right edge is moved into view; a growing tree stays where it is."""
        if BONUS not in self._boxes:
            return min(self._offset, self._overhang())
        end = self._boxes[BONUS].x + self._boxes[BONUS].width + tree_geometry.MARGIN
        return max(0.0, end - self.width())

    def _pan(self, by: float) -> None:
        self._offset = min(self._overhang(), max(0.0, self._offset + by))
        self.update()

    def _probability(self, node: int) -> float:
        """The drafter's p(token | path); 1 for what it did not propose."""
        if self._event is None or node < 0:
            return 1.0
        return math.exp(min(0.0, self._event.tree.log_probs[node]))

    def _edge(self, parent: Box, child: Box) -> QPainterPath:
        path = QPainterPath(QPointF(parent.x + parent.width - self._offset, parent.middle))
        path.lineTo(parent.rail - self._offset, parent.middle)
        end = QPointF(child.x - self._offset, child.middle)
        if parent.middle == child.middle:
            path.lineTo(end)
            return path
        bend = (parent.rail + child.x) / 2 - self._offset
        path.cubicTo(QPointF(bend, parent.middle), QPointF(bend, child.middle), end)
        return path

    def _tip(self, at: QPointF) -> str:
        node = next((node for node in self._boxes if self.box(node).contains(at)), None)
        if node is None or node < 0 or self._event is None:
            return ""
        percent = words.decimal(100 * self._probability(node))
        token = self._event.tree.tokens[node]
        return self.tr("“{}”, token {}, {} % probable to the drafter").format(
            self._boxes[node].text, token, percent
        )
