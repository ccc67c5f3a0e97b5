"""Scrolling of code that is wider than its message. The document stays as it is; what is painted moves."""

from dataclasses import dataclass

from PySide6.QtCore import QObject, QPointF, QRectF, Qt
from PySide6.QtGui import (
    QAbstractTextDocumentLayout,
    QColor,
    QMouseEvent,
    QPainter,
    QPalette,
    QTextCharFormat,
    QTextCursor,
    QWheelEvent,
)
from PySide6.QtWidgets import QScrollBar, QTextEdit, QWidget

from app.rendering import decoration
from app.rendering.message_document import MessageDocument
from app.rendering.pieces import Block

MAX_BARS = 200  # a page of nothing but wide code would be a page of widgets
BAR_HEIGHT = 8  # pixels
DESCENT = 2  # pixels by which letters may reach below their line
NOTCH = 120  # the angle of one notch of a mouse wheel, in eighths of a degree
LINES_PER_NOTCH = 3


@dataclass(slots=True)
class _Measured:
    """The lines of a block of code. settled, width: how many no longer change, and the widest of those."""

    settled: int = 0
    width: float = 0.0


@dataclass(frozen=True, slots=True)
class _Scrolled:
    """A block of code with a scroll bar. area: its lines, in the document's coordinates."""

    area: QRectF
    bar: QScrollBar


class _CodeBar(QScrollBar):
    """A scroll bar that leaves the wheel to the message below it."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(Qt.Orientation.Horizontal, parent)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setCursor(Qt.CursorShape.ArrowCursor)
        self.setAccessibleName(self.tr("Scroll the code sideways"))

    def wheelEvent(self, event: QWheelEvent) -> None:
        event.ignore()


class WideCode(QObject):
    """Gives each block of code that is wider than its message a scroll bar."""

    def __init__(self, text: QTextEdit) -> None:
        super().__init__(text)
        self._text = text
        self._measured: dict[int, _Measured] = {}  # by the index of a block's first line in the parts
        self._blocks: dict[int, _Scrolled] = {}  # likewise; only those that are too wide
        own = text.horizontalScrollBar()  # Qt would scroll the whole message
        own.rangeChanged.connect(lambda *_: own.setRange(0, 0))

    def refit(self) -> None:
        """Measure everything again at the next `fit`: the width or the look has changed."""
        self._measured.clear()

    def fit(self, message: MessageDocument) -> None:
        """Measure the lines of code that may have changed, and place the scroll bars."""
        heads = [] if message.look.wraps_code else message.code_heads[:MAX_BARS]
        for head in self._blocks.keys() - set(heads):
            self._remove(head)
        for head in self._measured.keys() - set(heads):
            del self._measured[head]
        for head, following in zip(heads, [*heads[1:], len(message.parts)], strict=False):
            measured = self._measured.setdefault(head, _Measured())
            if following > message.settled or head + measured.settled < following:
                self._fit_block(message, head, measured)

    def _fit_block(self, message: MessageDocument, head: int, measured: _Measured) -> None:
        width, last = measured.width, head + measured.settled
        fence = _fence(message, head)
        while last < len(message.parts) and _fence(message, last) == fence:
            line = message.findBlock(message.parts[last].position).layout().lineAt(0)
            width = max(width, line.naturalTextWidth())
            last += 1
            if last <= message.settled:
                measured.settled, measured.width = last - head, width
        look, left = message.look, message.look.indent(message.parts[head].part.containers)
        room = message.textWidth() - left - 2 * look.code_padding
        if width <= room:
            self._remove(head)
            return
        first, end = (decoration.part_rect(message, message.parts[at]) for at in (head, last - 1))
        area = QRectF(left, first.top(), message.textWidth() - left, end.bottom() - first.top())
        bar = self._blocks[head].bar if head in self._blocks else self._add()
        bar.setRange(0, round(width - room) + look.code_padding)
        bar.setPageStep(round(room))
        bar.setSingleStep(2 * look.em)
        top = area.bottom() + (look.code_bottom - BAR_HEIGHT) // 2
        bar.setGeometry(int(left) + look.code_padding, round(top), int(room), BAR_HEIGHT)
        self._blocks[head] = _Scrolled(area, bar)

    def _add(self) -> QScrollBar:
        bar = _CodeBar(self._text.viewport())
        bar.valueChanged.connect(lambda _: self._text.viewport().update())
        bar.show()
        return bar

    def _remove(self, head: int) -> None:
        if head in self._blocks:
            bar = self._blocks.pop(head).bar
            bar.hide()
            bar.deleteLater()

    # -- places ----------------------------------------------------------------------------------------------

    def _at(self, point: QPointF) -> _Scrolled | None:
        return next((block for block in self._blocks.values() if block.area.contains(point)), None)

    def in_document(self, point: QPointF) -> QPointF:
        """Return the place in the document that is shown at a point of the viewport."""
        block = self._at(point)
        return point + QPointF(block.bar.value(), 0) if block else point

    def moved(self, event: QMouseEvent) -> QMouseEvent:
        """Return the event at the place in the document that is shown where it happened. A selection that is
        drawn out of the block scrolls it."""
        point = event.position()
        if not self._blocks or (place := self._in_document_scrolling(event)) == point:
            return event
        return QMouseEvent(
            event.type(),
            place,
            event.scenePosition(),
            event.globalPosition(),
            event.button(),
            event.buttons(),
            event.modifiers(),
            event.pointingDevice(),
        )

    def _in_document_scrolling(self, event: QMouseEvent) -> QPointF:
        point = event.position()
        is_drawn = bool(event.buttons() & Qt.MouseButton.LeftButton)
        for block in self._blocks.values() if is_drawn else ():
            if block.area.top() <= point.y() < block.area.bottom():
                over = point.x() - min(max(point.x(), block.area.left()), block.area.right() - 1)
                block.bar.setValue(block.bar.value() + round(over))
                return point + QPointF(block.bar.value(), 0)
        return self.in_document(point)

    def scroll(self, event: QWheelEvent) -> bool:
        """Scroll the block under the pointer if the wheel is turned sideways or with Shift; return whether it
        was."""
        pixels, angle = event.pixelDelta(), event.angleDelta()
        is_shifted = bool(event.modifiers() & Qt.KeyboardModifier.ShiftModifier)
        if not is_shifted and abs(angle.x()) <= abs(angle.y()):
            return False
        reach = QPointF(0, BAR_HEIGHT)
        block = self._at(event.position()) or self._at(event.position() - reach)
        if block is None:
            return False
        if pixels.isNull():
            step = block.bar.singleStep() * LINES_PER_NOTCH
            by = (angle.x() or angle.y()) / NOTCH * step
        else:
            by = pixels.x() or pixels.y()
        block.bar.setValue(block.bar.value() - round(by))
        return True

    def reveal(self, cursor: QTextCursor) -> None:
        """Scroll so that a place in code is visible."""
        place = self._text.cursorRect(cursor)
        block = self._at(QPointF(self._text.viewport().width() // 2, place.center().y()))
        if block is not None:
            margin = 2 * block.bar.singleStep()
            ahead = place.right() + margin - int(block.area.right())
            behind = place.left() - margin - int(block.area.left())
            block.bar.setValue(min(max(block.bar.value(), ahead), max(behind, 0)))

    # -- painting --------------------------------------------------------------------------------------------

    def paint(self, painter: QPainter, message: MessageDocument, clip: QRectF) -> None:
        """Paint the lines of wide code again, scrolled, over those that Qt has painted."""
        look = message.look
        for block in self._blocks.values():
            area = block.area.adjusted(0, 0, 0, DESCENT)
            visible = area.intersected(clip)
            if visible.isEmpty():
                continue
            painter.save()
            painter.fillRect(visible, QColor(look.colours.raised))
            padding = look.code_padding // 2
            painter.setClipRect(area.adjusted(padding, 0, -padding, 0).intersected(clip))
            painter.translate(-block.bar.value(), 0)
            message.documentLayout().draw(painter, self._context(visible.translated(block.bar.value(), 0)))
            painter.restore()

    def _context(self, clip: QRectF) -> QAbstractTextDocumentLayout.PaintContext:
        made = QAbstractTextDocumentLayout.PaintContext()
        made.clip, made.palette = clip, self._text.palette()
        selections = []
        for extra in self._text.extraSelections():
            selections.append(_selection(extra.cursor, extra.format))
        cursor = self._text.textCursor()
        if cursor.hasSelection():
            group = QPalette.ColorGroup.Active if self._text.hasFocus() else QPalette.ColorGroup.Inactive
            chosen = QTextCharFormat()
            chosen.setBackground(made.palette.brush(group, QPalette.ColorRole.Highlight))
            chosen.setForeground(made.palette.brush(group, QPalette.ColorRole.HighlightedText))
            selections.append(_selection(cursor, chosen))
        made.selections = selections
        return made


def _fence(message: MessageDocument, at: int) -> object:
    part = message.parts[at].part
    return part.layout.fence if isinstance(part, Block) else None


def _selection(cursor: QTextCursor, shown: QTextCharFormat) -> QAbstractTextDocumentLayout.Selection:
    made = QAbstractTextDocumentLayout.Selection()
    made.cursor, made.format = cursor, shown
    return made
