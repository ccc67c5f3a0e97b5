"""Widget with the token tree of one iteration."""

import time

from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, QSizeF, Qt, Signal
from PySide6.QtGui import (
    QColor,
    QFontMetricsF,
    QHelpEvent,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPen,
    QResizeEvent,
    QWheelEvent,
)
from PySide6.QtWidgets import QToolTip, QWidget

from app.panel.node_words import describe
from app.panel.tree_geometry import Arranged, Box, Viewport, arrange_event, overhang
from app.panel.tree_layout import BONUS, ROOT, Direction, TreeLayout, neighbour
from app.panel.tree_painter import Kind, kind_of, paint_tree, rect_of
from app.widgets import theme
from app.widgets.plain_text import plain
from engine.protocol.messages import IterationDone, TreeGrown

PAN_STEP = 60.0
ZOOM_STEP = 1.25

ARROWS: dict[Qt.Key, Direction] = {
    Qt.Key.Key_Left: "parent",
    Qt.Key.Key_Right: "child",
    Qt.Key.Key_Up: "above",
    Qt.Key.Key_Down: "below",
}


class TreeView(QWidget):
    """Paints a tree; while hidden, it only keeps the tree.

    The wheel and dragging move the tree; Ctrl with the wheel zooms, as do + and -; 0 fits the tree to the
    widget; the arrow keys move the focus from node to node.

    Attributes:
        paints: number of times the widget was painted.
        cost_s: seconds that arranging and painting the last tree took.
        focus: the focused node, or None.

    Signals:
        described: str, description of the node under the pointer or with the focus; "" for none
    """

    described = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.paints = 0
        self.cost_s = self._arranging_s = 0.0
        self.focus: int | None = None
        self._event: TreeGrown | IterationDone | None = None
        self._placed: TreeLayout | None = None
        self._arranged = Arranged({}, [])
        self._stale = True
        self._view = Viewport()
        self._dragged: QPointF | None = None
        self._faded = 1.0
        self.setAccessibleName(self.tr("Token tree"))
        self.setFont(theme.smaller(self.font()))
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setMouseTracking(True)
        self.setMinimumSize(200, 120)

    @property
    def event_shown(self) -> TreeGrown | IterationDone | None:
        return self._event

    @property
    def placed(self) -> TreeLayout | None:
        """Layout of the tree; None without a tree or while hidden."""
        self._arrange()
        return self._placed

    def show_tree(self, event: TreeGrown | IterationDone | None) -> None:
        """Show a tree, or none. It is arranged when it is painted."""
        self._event = event
        self.focus = None
        self._faded = 1.0
        self._go_stale()

    def fade(self, share: float) -> None:
        """Set how far rejected nodes have faded: 0 is their look while the tree grows, 1 their final look."""
        self._faded = share
        self.update()

    def zoom(self, factor: float) -> None:
        """Zoom by a factor around the centre."""
        self._zoom_about(factor, QPointF(self.width() / 2, self.height() / 2))

    def fit(self) -> None:
        """Fit the whole tree to the widget, if it is not too deep."""
        self._view.fit()
        self._go_stale()

    def sizeHint(self) -> QSize:
        return QSize(460, 360)

    def showEvent(self, event: QEvent) -> None:
        super().showEvent(event)  # type: ignore[arg-type]
        self._go_stale()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._go_stale()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.FontChange:
            self._go_stale()

    def wheelEvent(self, event: QWheelEvent) -> None:
        delta = event.angleDelta()
        if event.modifiers() & Qt.KeyboardModifier.ControlModifier:
            self._zoom_about(ZOOM_STEP ** (delta.y() / 120), event.position())
        else:
            down = overhang(self._arranged, QSizeF(self.size())).y() > 0
            x, y = (delta.x(), delta.y()) if down else (delta.x() or delta.y(), 0)
            self._pan(-x / 120 * PAN_STEP, -y / 120 * PAN_STEP)
        event.accept()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        self.setFocus(Qt.FocusReason.MouseFocusReason)
        self._dragged = event.position()
        node = self._node_at(event.position())
        if node is not None:
            self._focus_on(node)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        if self._dragged is not None and event.buttons() & Qt.MouseButton.LeftButton:
            by = self._dragged - event.position()
            self._dragged = event.position()
            self._pan(by.x(), by.y())
            return
        node = self._node_at(event.position())
        self.described.emit(self.describe(self.focus if node is None else node))

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        self._dragged = None

    def leaveEvent(self, event: QEvent) -> None:
        self.described.emit(self.describe(self.focus))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        key = Qt.Key(event.key())
        if key in ARROWS and self.placed is not None:
            has_focus = self.focus is not None and self.focus in self._boxes
            node = neighbour(self.placed, self.focus, ARROWS[key]) if has_focus else ROOT  # type: ignore[arg-type]
            self._focus_on(node)
        elif key in (Qt.Key.Key_Plus, Qt.Key.Key_Equal):
            self.zoom(ZOOM_STEP)
        elif key == Qt.Key.Key_Minus:
            self.zoom(1 / ZOOM_STEP)
        elif key == Qt.Key.Key_0:
            self.fit()
        elif key == Qt.Key.Key_Home:
            self._focus_on(ROOT)
        else:
            super().keyPressEvent(event)

    def event(self, event: QEvent) -> bool:
        if isinstance(event, QHelpEvent) and event.type() == QEvent.Type.ToolTip:
            tip = self.describe(self._node_at(event.pos().toPointF()))
            QToolTip.showText(event.globalPos(), plain(tip), self)
            return True
        return super().event(event)

    def describe(self, node: int | None) -> str:
        """Return the description of a node; "" for none."""
        if self._event is None or node is None or node not in self._boxes:
            return ""
        return describe(self._event, node)

    def kind(self, node: int) -> Kind:
        """Return a node's verdict, which determines its look."""
        assert self._event is not None
        return kind_of(self._event, node)

    def box(self, node: int) -> QRectF:
        """Return the rectangle of a node, in pixels of this widget."""
        self._arrange()
        return self._rect(node).translated(-self._view.offset)

    def paintEvent(self, event: QPaintEvent) -> None:
        self.paints += 1
        started = time.perf_counter()
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        self.paint(painter)
        painter.end()
        self.cost_s = self._arranging_s + time.perf_counter() - started

    def paint(self, painter: QPainter) -> None:
        """Paint the tree with a painter on the widget, or on an image of its size."""
        self._arrange()
        if self._event is None or not self._boxes:
            self._paint_nothing(painter)
            return
        painter.translate(-self._view.offset)
        paint_tree(painter, self._event, self._arranged, self._faded)
        if self.focus in self._boxes and self.hasFocus():
            self._paint_focus(painter, self._rect(self.focus))

    def _paint_focus(self, painter: QPainter, rect: QRectF) -> None:
        painter.setOpacity(1.0)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.setPen(QPen(QColor(theme.current().text), 2))
        painter.drawRoundedRect(rect.adjusted(-2, -2, 2, 2), 5, 5)

    def _paint_nothing(self, painter: QPainter) -> None:
        painter.setPen(theme.current().muted)
        text = self.tr("The token tree appears here while the model answers.")
        flags = Qt.AlignmentFlag.AlignCenter | Qt.TextFlag.TextWordWrap
        painter.drawText(self.rect().adjusted(24, 0, -24, 0), flags, text)

    def _go_stale(self) -> None:
        self._stale = True
        self.update()

    def _arrange(self) -> None:
        if not self._stale:
            return
        event = self._event if self.isVisible() else None
        self._placed, self._arranged = None, Arranged({}, [])
        if event is None:
            return
        self._stale = False
        started = time.perf_counter()
        zoom, measure = self._view.zoom, QFontMetricsF(self.font()).horizontalAdvance
        self._placed, self._arranged = arrange_event(
            event, measure, zoom * self.width(), zoom * self.height()
        )
        self._arranging_s = time.perf_counter() - started
        self._view.pan(QPointF(), self._arranged, QSizeF(self.size()))
        if BONUS in self._boxes and zoom == 1.0:  # keep the end of the accepted path in view
            self._view.show(self._rect(BONUS), self._arranged, QSizeF(self.size()))

    @property
    def _boxes(self) -> dict[int, Box]:
        return self._arranged.boxes

    def _rect(self, node: int) -> QRectF:
        """Return the rectangle of a node, in coordinates of the whole tree."""
        return rect_of(self._boxes[node])

    def _pan(self, right: float, down: float) -> None:
        self._view.pan(QPointF(right, down), self._arranged, QSizeF(self.size()))
        self.update()

    def _zoom_about(self, factor: float, at: QPointF) -> None:
        self._view.zoom_about(factor, at)
        self._go_stale()

    def _node_at(self, at: QPointF) -> int | None:
        """Return the node at a point, or None. A margin of one pixel makes slivers easier to hit."""
        self._arrange()
        hits = (node for node in self._boxes if self.box(node).adjusted(-1, -1, 1, 1).contains(at))
        return next(hits, None)

    def _focus_on(self, node: int) -> None:
        self.focus = node
        if node in self._boxes:
            self._view.show(self._rect(node), self._arranged, QSizeF(self.size()))
        self.update()
        self.described.emit(self.describe(node))
