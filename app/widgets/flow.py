"""A row of widgets that wraps like words in a line, for rows of actions."""

from PySide6.QtCore import QPoint, QRect, QSize, Qt
from PySide6.QtWidgets import QLayout, QLayoutItem, QSizePolicy, QSpacerItem, QWidget

HORIZONTAL = Qt.Orientation.Horizontal
SPACING = 8


class Flow(QLayout):
    """A layout that places its items in a row, and in as many rows as the width needs.

    The items that can grow share the rest of their row, as in a `QHBoxLayout`; a stretch is one of them.
    """

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._items: list[QLayoutItem] = []
        self.setContentsMargins(0, 0, 0, 0)
        self.setSpacing(SPACING)

    def addStretch(self) -> None:
        self.addItem(QSpacerItem(0, 0, QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Minimum))

    def insertWidget(self, place: int, widget: QWidget) -> None:
        self.addWidget(widget)
        self._items.insert(place, self._items.pop())

    def addItem(self, item: QLayoutItem) -> None:
        self._items.append(item)
        self.invalidate()

    def count(self) -> int:
        return len(self._items)

    def itemAt(self, index: int) -> QLayoutItem | None:
        return self._items[index] if 0 <= index < len(self._items) else None

    def takeAt(self, index: int) -> QLayoutItem | None:
        return self._items.pop(index) if 0 <= index < len(self._items) else None

    def expandingDirections(self) -> Qt.Orientation:
        return HORIZONTAL

    def hasHeightForWidth(self) -> bool:
        return True

    def heightForWidth(self, width: int) -> int:
        return self._place(QRect(0, 0, width, 0), moves=False)

    def setGeometry(self, rect: QRect) -> None:
        super().setGeometry(rect)
        self._place(rect, moves=True)

    def sizeHint(self) -> QSize:
        """Return the size of a single row."""
        hints = [item.sizeHint() for item in self._items if self._has_size(item)]
        width = sum(hint.width() for hint in hints) + self.spacing() * max(0, len(hints) - 1)
        return self._framed(QSize(width, max((hint.height() for hint in hints), default=0)))

    def minimumSize(self) -> QSize:
        """Return the size of the largest item."""
        least = QSize()
        for item in self._items:
            if not item.isEmpty():
                least = least.expandedTo(item.minimumSize())
        return self._framed(least)

    def _framed(self, size: QSize) -> QSize:
        around = self.contentsMargins()
        return size + QSize(around.left() + around.right(), around.top() + around.bottom())

    def _place(self, rect: QRect, *, moves: bool) -> int:
        """Place the items, if `moves`. Return the height that they need."""
        room = rect.marginsRemoved(self.contentsMargins())
        top = room.top()
        for row in self._rows(room.width()):
            height = max((_height(item, room.width()) for item in row), default=0)
            if moves:
                self._place_row(row, QRect(room.left(), top, room.width(), height))
            top += height + self.spacing()
        around = self.contentsMargins()
        return max(0, top - self.spacing() - room.top()) + around.top() + around.bottom()

    def _rows(self, width: int) -> list[list[QLayoutItem]]:
        rows: list[list[QLayoutItem]] = []
        taken = 0
        for item in self._items:
            if item.isEmpty() and item.spacerItem() is None:
                continue
            needed = item.sizeHint().width()
            space = self.spacing() if self._has_size(item) and taken else 0
            if not rows or taken + space + needed > width:
                rows.append([])
                taken = space = 0
            rows[-1].append(item)
            taken += space + needed
        return [row for row in rows if any(self._has_size(item) for item in row)]

    def _place_row(self, row: list[QLayoutItem], room: QRect) -> None:
        sized = [item for item in row if self._has_size(item)]
        needed = sum(item.sizeHint().width() for item in sized) + self.spacing() * (len(sized) - 1)
        growing = [item for item in row if item.expandingDirections() & HORIZONTAL]
        more = max(0, room.width() - needed) // max(1, len(growing))
        places = []
        left = room.left()
        for item in row:
            width = item.sizeHint().width() + (more if item in growing else 0)
            if self._has_size(item):
                height = _height(item, room.width())
                at = QPoint(left, room.top() + (room.height() - height) // 2)
                places.append((item, QRect(at, QSize(min(width, room.width()), height))))
                left += self.spacing()
            left += width
        parent = self.parentWidget()
        mirrors = parent is not None and parent.layoutDirection() == Qt.LayoutDirection.RightToLeft
        for item, place in places:
            if mirrors:
                place.moveRight(room.right() - (place.left() - room.left()))
            item.setGeometry(place)

    def _has_size(self, item: QLayoutItem) -> bool:
        return not item.isEmpty() and item.spacerItem() is None


def _height(item: QLayoutItem, most: int) -> int:
    """Return the height of an item that gets its preferred width, but not more than `most`."""
    hint = item.sizeHint()
    return item.heightForWidth(most) if item.hasHeightForWidth() and hint.width() > most else hint.height()
