"""Geometry of the token tree: columns and rows in pixels, and the part of the tree in view. No painter.

The most probable rows are high enough for labels, and the others are slivers. The columns are as wide as the
labels need, so that a deep tree is wider than the view and is scrolled. Zooming in gives all nodes a label;
the font size stays. The overview has the whole tree in view: if it is too deep for labels there, its nodes
are bars whose width is their probability, and the tokens of the path are written above the columns. The width
of a text is measured by a function that the caller passes.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from PySide6.QtCore import QPointF, QRectF, QSizeF

from app.panel.node_words import visible
from app.panel.tree_layout import BONUS, ROOT, TreeLayout, layout
from engine.protocol.messages import IterationDone, TreeGrown

MARGIN = 8.0
NODE_PADDING = 5.0
GLYPH = 12.0  # width of the space before a label, where the shape of the node's source is drawn
THIN_ROW, BAR_ROW = 6.0, 22.0
NAMED_ROW, MAX_ROW = 21.0, 28.0
THIN_WIDTH = 8.0
MIN_WIDTH = 34.0  # keeps the pill of a short label wider than high
MIN_GAP, MAX_GAP = 9.0, 40.0
# Maximum widths of a label's text; the first one with which the tree fits is used.
LABEL_WIDTHS = (170.0, 130.0, 96.0, 80.0, 68.0)
OVERVIEW_LABEL_WIDTHS = (*LABEL_WIDTHS, 60.0, 52.0, 46.0, 40.0, 34.0, 30.0)
SCROLLED_LABEL_WIDTH = 96.0  # if the tree fits with none of them and is scrolled
HEAD_HEIGHT = 62.0  # height of the slanted text above the columns
HEAD_PITCH = 11.0  # minimum distance between two slanted texts
MIN_PITCH, BAR_GAP = 6.0, 4.0
MAX_NODES = 600
MAX_ZOOM = 12.0
NAMED_BAR = 54.0  # minimum width of a bar with a label


@dataclass(frozen=True, slots=True)
class Box:
    """A node with its place and size in pixels.

    rail: x coordinate of the column's end, from which lines to children may bend.
    text: the label; empty if it does not fit.
    """

    node: int
    parent: int
    x: float
    y: float
    width: float
    height: float
    rail: float
    text: str

    @property
    def middle(self) -> float:
        return self.y + self.height / 2


def label(event: TreeGrown | IterationDone, node: int) -> str:
    """Return a node's text, with invisible characters made visible."""
    if node == ROOT:
        return visible(event.tree.root_text)
    if node == BONUS:
        assert isinstance(event, IterationDone)
        return visible(event.bonus_text)
    return visible(event.tree.texts[node])


def most_rows(height: float) -> int:
    """Return how many rows fit into a height if all of them are slivers."""
    return max(2, int((height - 2 * MARGIN) // THIN_ROW))


@dataclass(frozen=True, slots=True)
class Head:
    """A slanted text above a column. node: as in `Box`. x, y: where the text starts."""

    node: int
    x: float
    y: float
    text: str


@dataclass(frozen=True, slots=True)
class Arranged:
    """A tree in pixels. boxes: the box of each node. heads: empty unless the nodes are bars."""

    boxes: dict[int, Box]
    heads: list[Head]


def arrange_event(
    event: TreeGrown | IterationDone,
    measure: Callable[[str], float],
    size: QSizeF,
    view: "Viewport",
) -> tuple[TreeLayout, Arranged]:
    """Lay out the shown part of an event's tree and arrange it, as `arrange` does, for a view of a size."""
    width, height = view.zoom * size.width(), view.zoom * size.height()
    accepted = event.accepted if isinstance(event, IterationDone) else []
    has_bonus = isinstance(event, IterationDone) and event.bonus_token is not None
    rows = MAX_NODES if view.zoom > 1 else most_rows(height)
    placed = layout(event.tree, accepted, has_bonus=has_bonus, max_nodes=MAX_NODES, max_rows=rows)
    if view.zoom > 1:  # room for the labels of all rows
        height = max(height, placed.rows * NAMED_ROW + 2 * MARGIN)
    path = [ROOT, *accepted, *([BONUS] if has_bonus else [])]
    if not isinstance(event, IterationDone):  # the most probable path so far
        path = [place.node for place in placed.places if place.row == 0]
    arranged = arrange(
        placed,
        path,
        lambda node: label(event, node),
        lambda node: math.exp(min(0.0, event.tree.log_probs[node])),
        measure,
        width,
        height,
        view.is_overview,
    )
    return placed, arranged


def arrange(
    placed: TreeLayout,
    path: Sequence[int],
    label_of: Callable[[int], str],
    probability_of: Callable[[int], float],
    measure: Callable[[str], float],
    width: float,
    height: float,
    is_overview: bool = False,
) -> Arranged:
    """Arrange a tree in an area of `width` by `height` pixels.

    The tree becomes wider than the area if its labels need it; in an overview, only if it is too deep even
    for bars.

    path: one node per column; if the nodes are bars, the texts of these nodes are written above the columns.
    """
    heights = row_heights(placed.row_scores, height - 2 * MARGIN)
    texts = {
        place.node: label_of(place.node) if heights[place.row] >= NAMED_ROW else "" for place in placed.places
    }
    needed = {node: measure(text) + 2 * NODE_PADDING + GLYPH for node, text in texts.items() if text}
    fitting = _fit_columns(placed, needed, width, OVERVIEW_LABEL_WIDTHS if is_overview else LABEL_WIDTHS)
    if fitting is None and is_overview:
        return _bars(placed, path, label_of, probability_of, width, height)
    widths, columns = fitting or _columns(placed, needed, SCROLLED_LABEL_WIDTH)
    tops = [MARGIN + sum(heights[:i]) for i in range(len(heights))]
    gap = _gap(columns, width)
    lefts = [MARGIN + sum(columns[:i]) + gap * i for i in range(len(columns))]
    boxes = {}
    for place in placed.places:
        inset = 2.0 if texts[place.node] else 1.0
        boxes[place.node] = Box(
            node=place.node,
            parent=place.parent,
            x=lefts[place.column],
            y=tops[place.row] + inset,
            width=widths.get(place.node, THIN_WIDTH),
            height=heights[place.row] - 2 * inset,
            rail=lefts[place.column] + columns[place.column],
            text=texts[place.node],
        )
    return Arranged(boxes, [])


def _bars(
    placed: TreeLayout,
    path: Sequence[int],
    label_of: Callable[[int], str],
    probability_of: Callable[[int], float],
    width: float,
    height: float,
) -> Arranged:
    pitch = max(MIN_PITCH, (width - 2 * MARGIN) / placed.columns)
    top = MARGIN + HEAD_HEIGHT
    row = min(BAR_ROW, max(THIN_ROW, (height - top - MARGIN) / placed.rows))
    widest = pitch - min(BAR_GAP, pitch / 2)
    lit = set(path)
    boxes = {}
    for place in placed.places:
        x = MARGIN + place.column * pitch
        share = 1.0 if place.node in lit else probability_of(place.node)
        bar = max(2.0, share * widest)
        boxes[place.node] = Box(
            node=place.node,
            parent=place.parent,
            x=x,
            y=top + place.row * row + 1,
            width=bar,
            height=row - 2,
            rail=x + widest,
            text=label_of(place.node) if bar >= NAMED_BAR and row >= NAMED_ROW else "",
        )
    every = max(1, math.ceil(HEAD_PITCH / pitch))  # every nth head fits
    named: list[int] = [node for node in path[::every] if node in boxes]
    heads = [Head(node, boxes[node].x + widest / 2, top - 4, label_of(node)) for node in named]
    return Arranged(boxes, heads)


def row_heights(scores: list[float], height: float) -> list[float]:
    """Return the height of each row in pixels. The best rows, as many as possible, get room for labels."""
    heights = [THIN_ROW] * len(scores)
    left = height - sum(heights)
    named: list[int] = []
    for row in sorted(range(len(scores)), key=lambda row: -scores[row]):
        if left < NAMED_ROW - THIN_ROW and named:
            break
        heights[row] = NAMED_ROW
        left -= NAMED_ROW - THIN_ROW
        named.append(row)
    for row in named:
        heights[row] += min(MAX_ROW - NAMED_ROW, max(0.0, left / len(named)))
    return heights


def _fit_columns(
    placed: TreeLayout, needed: dict[int, float], width: float, label_widths: Sequence[float]
) -> tuple[dict[int, float], list[float]] | None:
    """Return the widths of the labelled nodes and of the columns; None if labels do not fit."""
    for widest in label_widths:
        widths, columns = _columns(placed, needed, widest)
        if sum(columns) + MIN_GAP * (len(columns) - 1) + 2 * MARGIN <= width:
            return widths, columns
    return None


def _columns(
    placed: TreeLayout, needed: dict[int, float], widest: float
) -> tuple[dict[int, float], list[float]]:
    """Return the widths of the labelled nodes and of the columns if no label's text is wider than
    `widest`."""
    most = widest + 2 * NODE_PADDING + GLYPH
    widths = {node: max(MIN_WIDTH, min(one, most)) for node, one in needed.items()}
    columns = [THIN_WIDTH] * placed.columns
    for place in placed.places:
        columns[place.column] = max(columns[place.column], widths.get(place.node, THIN_WIDTH))
    return widths, columns


def _gap(columns: list[float], width: float) -> float:
    if len(columns) == 1:
        return 0.0
    return min(MAX_GAP, max(MIN_GAP, (width - 2 * MARGIN - sum(columns)) / (len(columns) - 1)))


class Viewport:
    """The part of a tree in view.

    Attributes:
        zoom: how many times the width of the view a tree may take before its labels are shortened; at 1, all
            rows are in view, and above 1, all rows have labels.
        is_overview: whether the whole tree is fitted to the view; `zoom` is then 1.
        offset: number of pixels of the tree that lie to the left of the view and above it.
    """

    def __init__(self) -> None:
        self.zoom = 1.0
        self.is_overview = False
        self.offset = QPointF()

    def fit(self) -> None:
        """Fit the whole tree to the view."""
        self.zoom, self.is_overview, self.offset = 1.0, True, QPointF()

    def zoom_by(self, factor: float) -> None:
        """Zoom in or, with a factor below 1, out. The overview is the last step out."""
        if self.is_overview:
            self.is_overview = factor <= 1
        elif factor < 1 and self.zoom == 1:
            self.fit()
        else:
            self.zoom = min(MAX_ZOOM, max(1.0, self.zoom * factor))

    def pan(self, by: QPointF, tree: Arranged, size: QSizeF) -> None:
        """Move the view, limited to the edges of the tree."""
        most = overhang(tree, size)
        x = min(most.x(), max(0.0, self.offset.x() + by.x()))
        y = min(most.y(), max(0.0, self.offset.y() + by.y()))
        self.offset = QPointF(x, y)

    def show(self, rect: QRectF, tree: Arranged, size: QSizeF) -> None:
        """Move the view as little as needed to show a rectangle of the tree."""
        left, top = rect.left() - MARGIN - self.offset.x(), rect.top() - MARGIN - self.offset.y()
        right = rect.right() + MARGIN - self.offset.x() - size.width()
        below = rect.bottom() + MARGIN - self.offset.y() - size.height()
        self.pan(QPointF(min(0.0, left) + max(0.0, right), min(0.0, top) + max(0.0, below)), tree, size)


def extent(tree: Arranged) -> QSizeF:
    """Return the size of an arranged tree with its margins."""
    right = max((box.rail for box in tree.boxes.values()), default=0.0) + MARGIN
    low = max((box.y + box.height for box in tree.boxes.values()), default=0.0) + MARGIN
    return QSizeF(right, low)


def overhang(tree: Arranged, size: QSizeF) -> QPointF:
    """Return how far a tree extends beyond the right and the lower edge of a view of this size."""
    whole = extent(tree)
    return QPointF(max(0.0, whole.width() - size.width()), max(0.0, whole.height() - size.height()))
