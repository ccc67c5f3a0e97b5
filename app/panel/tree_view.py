"""Widget with the token tree of one iteration."""

import time

from PySide6.QtCore import QCoreApplication, QEvent, QPointF, QRectF, QSize, QSizeF, Qt, Signal
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
from PySide6.QtWidgets import QApplication, QToolTip, QWidget

from app.panel.node_words import describe
from app.panel.tree_geometry import Arranged, Box, Viewport, arrange_event, extent, overhang
from app.panel.tree_layout import BONUS, ROOT, Direction, TreeLayout, neighbour
from app.panel.tree_map import HEIGHT, TreeMap
from app.panel.tree_painter import Kind, kinds_of, paint_tree, rect_of
from app.widgets import theme
from app.widgets.plain_text import plain
from engine.protocol.messages import IterationDone, TreeGrown

PAN_STEP = 60.0
ZOOM_STEP = 1.25
MOST_WIDTHS = 10_000
PAGE = 0.8  # share of the width that Page Down moves by

ARROWS: dict[Qt.Key, Direction] = {
    Qt.Key.Key_Left: "parent",
    Qt.Key.Key_Right: "child",
    Qt.Key.Key_Up: "above",
    Qt.Key.Key_Down: "below",
}


class TreeView(QWidget):
    """Paints a tree; while hidden, it only keeps the tree.

    The wheel, dragging, and Page Up and Down move the tree, and so does the map below a tree that is larger
    than the widget. Ctrl with the wheel zooms, as do + and -; 0 fits the tree to the widget; the arrow keys
    move the focus from node to node, Home to the root and End to the bonus token.

    Attributes:
        map: the map below the tree; None if the tree is not larger than the widget.
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
        self.map: TreeMap | None = None
        self._dragged: QPointF | None = None
        self._drags_map = False
        self._widths: dict[str, float] = {}  # of labels, in pixels
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

    @property
    def labels(self) -> dict[int, str]:
        """The labels of the nodes, "" where there is no room for one."""
        self._arrange()
        return {node: box.text for node, box in self._boxes.items()}

    def show_tree(self, event: TreeGrown | IterationDone | None) -> None:
        """Show a tree, or none. It is arranged when it is painted. Another iteration's begins at its root."""
        shown = self._event.iteration if self._event else None
        if event is None or (event.iteration != shown and self._view.zoom == 1):
            self._view.offset = QPointF()
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
        """Fit the whole tree to the widget; if it is too deep for labels, as bars."""
        self._view.fit()
        self._go_stale()

    @property
    def extent(self) -> QSize:
        """The size of the tree as it is arranged, at least that of the widget."""
        self._arrange()
        return extent(self._arranged).toSize().expandedTo(self.size())

    def sizeHint(self) -> QSize:
        return QSize(460, 200)  # and all the room there is

    def showEvent(self, event: QEvent) -> None:
        super().showEvent(event)  # type: ignore[arg-type]
        self._go_stale()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._go_stale()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.FontChange:
            self._widths.clear()
            self._go_stale()
        elif event.type() == QEvent.Type.StyleChange:  # perhaps all text has another size now
            self.setFont(theme.smaller(QApplication.font()))

    def wheelEvent(self, event: QWheelEvent) -> None:
        delta = event.angleDelta()
        if event.modifiers() & Qt.KeyboardModifier.ControlModifier:
            self._zoom_about(ZOOM_STEP ** (delta.y() / 120), event.position())
        else:
            self._arrange()
            is_sideways = event.modifiers() & Qt.KeyboardModifier.ShiftModifier
            down = not is_sideways and overhang(self._arranged, self._room).y() > 0
            x, y = (delta.x(), delta.y()) if down else (delta.x() or delta.y(), 0)
            self._pan(-x / 120 * PAN_STEP, -y / 120 * PAN_STEP)
        event.accept()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        self.setFocus(Qt.FocusReason.MouseFocusReason)
        self._drags_map = self.map is not None and self.map.rect.contains(event.position())
        if self._drags_map:
            self._move_to(event.position())
            return
        self._dragged = event.position()
        node = self._node_at(event.position())
        if node is not None:
            self._focus_on(node)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        if self._drags_map:
            self._move_to(event.position())
            return
        if self._dragged is not None and event.buttons() & Qt.MouseButton.LeftButton:
            by = self._dragged - event.position()
            self._dragged = event.position()
            self._pan(by.x(), by.y())
            return
        node = self._node_at(event.position())
        self.described.emit(self.describe(self.focus if node is None else node))

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        self._dragged, self._drags_map = None, False

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
        elif key in (Qt.Key.Key_PageUp, Qt.Key.Key_PageDown):
            self._pan(self.width() * (-PAGE if key == Qt.Key.Key_PageUp else PAGE), 0)
        elif key == Qt.Key.Key_Home:
            self._focus_on(ROOT)
        elif key == Qt.Key.Key_End and (last := self._last) is not None:
            self._focus_on(last)
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
        return kinds_of(self._event, [node])[node]

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
        """Paint what the widget shows with a painter on it."""
        self._arrange()
        if self._event is None or not self._boxes:
            self._paint_nothing(painter)
            return
        painter.save()
        painter.setClipRect(QRectF(QPointF(), self._room))
        painter.translate(-self._view.offset)
        paint_tree(painter, self._event, self._arranged, self._faded, QRectF(self._view.offset, self._room))
        if self.focus in self._boxes and self.hasFocus():
            self._paint_focus(painter, self._rect(self.focus))
        painter.restore()
        if self.map is not None:
            self.map.paint(painter, self._event, self._view.offset, self._room)

    def paint_whole(self, painter: QPainter) -> None:
        """Paint the whole tree with a painter on an image of the size `extent`."""
        size = self.extent
        if self._event is not None:
            paint_tree(painter, self._event, self._arranged, self._faded, QRectF(QPointF(), size))

    def _paint_focus(self, painter: QPainter, rect: QRectF) -> None:
        painter.setOpacity(1.0)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.setPen(QPen(QColor(theme.current().text), 2))
        painter.drawRoundedRect(rect.adjusted(-2, -2, 2, 2), 5, 5)

    def _paint_nothing(self, painter: QPainter) -> None:
        painter.setPen(theme.current().muted)
        flags = Qt.AlignmentFlag.AlignCenter | Qt.TextFlag.TextWordWrap
        painter.drawText(self.rect().adjusted(24, 0, -24, 0), flags, nothing())

    def _go_stale(self) -> None:
        self._stale = True
        self.update()

    def _arrange(self) -> None:
        if not self._stale:
            return
        event = self._event if self.isVisible() else None
        had_map, self.map = self.map is not None, None
        self._placed, self._arranged = None, Arranged({}, [])
        if event is None:
            return
        self._stale = False
        started = time.perf_counter()
        has_map = had_map  # most trees are like the one before
        self._arrange_in(event, has_map)
        if self._exceeds(has_map) != has_map:
            has_map = not has_map
            self._arrange_in(event, has_map)
        if has_map:
            strip = QRectF(0, self.height() - HEIGHT, self.width(), HEIGHT)
            self.map = TreeMap(self._arranged, strip)
        self._arranging_s = time.perf_counter() - started
        self._view.pan(QPointF(), self._arranged, self._room)
        if BONUS in self._boxes and self._view.zoom == 1.0:  # keep the end of the accepted path in view
            self._view.show(self._rect(BONUS), self._arranged, self._room)

    def _arrange_in(self, event: TreeGrown | IterationDone, has_map: bool) -> None:
        room = self._room_with(has_map)
        self._placed, self._arranged = arrange_event(event, self._text_width, room, self._view)

    def _exceeds(self, has_map: bool) -> bool:
        beyond = overhang(self._arranged, self._room_with(has_map))
        return beyond.x() > 0 or beyond.y() > 0

    def _text_width(self, text: str) -> float:
        """Return the width of a text; the same texts come in every tree of an answer."""
        if text not in self._widths:
            if len(self._widths) >= MOST_WIDTHS:
                self._widths.clear()
            self._widths[text] = QFontMetricsF(self.font()).horizontalAdvance(text)
        return self._widths[text]

    @property
    def _room(self) -> QSizeF:
        """The size of the widget without the map."""
        return self._room_with(self.map is not None)

    def _room_with(self, has_map: bool) -> QSizeF:
        return QSizeF(self.width(), self.height() - (HEIGHT if has_map else 0))

    @property
    def _boxes(self) -> dict[int, Box]:
        return self._arranged.boxes

    @property
    def _last(self) -> int | None:
        """The end of the accepted path, or of the deepest path while there is none."""
        self._arrange()
        deepest = max(self._boxes.values(), key=lambda box: (box.x, -box.y), default=None)
        return BONUS if BONUS in self._boxes else deepest.node if deepest else None

    def _rect(self, node: int) -> QRectF:
        """Return the rectangle of a node, in coordinates of the whole tree."""
        return rect_of(self._boxes[node])

    def _pan(self, right: float, down: float) -> None:
        self._arrange()
        self._view.pan(QPointF(right, down), self._arranged, self._room)
        self.update()

    def _move_to(self, at: QPointF) -> None:
        """Move the view to a point of the map, which may be gone: a smaller tree has come."""
        if self.map is None:
            return
        by = self.map.offset(at, self._room) - self._view.offset
        self._pan(by.x(), by.y())

    def _zoom_about(self, factor: float, at: QPointF) -> None:
        """Zoom by a factor; the node nearest to a point of the widget stays in place."""
        self._arrange()
        nearest = min(
            self._boxes,
            key=lambda node: (self.box(node).center() - at).manhattanLength(),
            default=None,
        )
        before = None if nearest is None else self.box(nearest).center()
        self._view.zoom_by(factor)
        self._go_stale()
        self._arrange()
        if before is not None and nearest in self._boxes:
            by = self.box(nearest).center() - before
            self._pan(by.x(), by.y())

    def _node_at(self, at: QPointF) -> int | None:
        """Return the node at a point, or None. A margin of one pixel makes slivers easier to hit."""
        self._arrange()
        if not QRectF(QPointF(), self._room).contains(at):
            return None
        hits = (node for node in self._boxes if self.box(node).adjusted(-1, -1, 1, 1).contains(at))
        return next(hits, None)

    def _focus_on(self, node: int) -> None:
        self._arrange()
        self.focus = node
        if node in self._boxes:
            self._view.show(self._rect(node), self._arranged, self._room)
        self.update()
        self.described.emit(self.describe(node))


def nothing() -> str:
    """Return what the widget says while there is no tree."""
    return QCoreApplication.translate("TreeView", "The token tree appears here while the model answers.")
