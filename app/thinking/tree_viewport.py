"""Which part of a tree is seen: how far it is zoomed and moved. Knows no widget."""

from PySide6.QtCore import QPointF, QRectF, QSizeF

from app.thinking.tree_geometry import MARGIN, Arranged

MOST_ZOOM = 12.0


class Viewport:
    """Attributes: `zoom`, 1 where the tree is fitted to the view; `offset`, what is left of and above it, in
    pixels."""

    def __init__(self) -> None:
        self.fit()

    def fit(self) -> None:
        self.zoom, self.offset = 1.0, QPointF()

    def zoom_about(self, factor: float, at: QPointF) -> None:
        """What lies at `at` stays there."""
        before = self.zoom
        self.zoom = min(MOST_ZOOM, max(1.0, before * factor))
        self.offset = (self.offset + at) * (self.zoom / before) - at

    def pan(self, by: QPointF, tree: Arranged, size: QSizeF) -> None:
        """As far as there is more of the tree."""
        most = overhang(tree, size)
        x = min(most.x(), max(0.0, self.offset.x() + by.x()))
        y = min(most.y(), max(0.0, self.offset.y() + by.y()))
        self.offset = QPointF(x, y)

    def show(self, rect: QRectF, tree: Arranged, size: QSizeF) -> None:
        """Move so far that a part of the tree is seen."""
        left, top = rect.left() - MARGIN - self.offset.x(), rect.top() - MARGIN - self.offset.y()
        right = rect.right() + MARGIN - self.offset.x() - size.width()
        low = rect.bottom() + MARGIN - self.offset.y() - size.height()
        self.pan(QPointF(min(0.0, left) + max(0.0, right), min(0.0, top) + max(0.0, low)), tree, size)


def overhang(tree: Arranged, size: QSizeF) -> QPointF:
    """How far a tree reaches beyond the right and the lower edge of a view of this size."""
    right = max((box.rail for box in tree.boxes.values()), default=0.0) + MARGIN
    low = max((box.y + box.height for box in tree.boxes.values()), default=0.0) + MARGIN
    return QPointF(max(0.0, right - size.width()), max(0.0, low - size.height()))
