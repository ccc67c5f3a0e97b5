"""From columns and rows to pixels. Knows no painter; text is measured by a function it is given.

Where the tree fits with names, its probable rows have room for them and the others are slivers. Where it is
too deep for that, nodes are bars as wide as they are probable, and above each column stands what the path
says there. Zooming in makes room for more names; letters keep their size.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from app.thinking.token_text import visible
from app.thinking.tree_layout import BONUS, ROOT, TreeLayout
from engine.protocol.messages import IterationDone, TreeGrown

MARGIN = 8.0
NODE_PADDING = 5.0
GLYPH = 12.0  # left of a name: the shape of who proposed it
THIN_ROW, BAR_ROW = 6.0, 22.0
NAMED_ROW, MAX_ROW = 21.0, 28.0
THIN_WIDTH = 8.0
MIN_WIDTH = 34.0  # so that a short label's pill lies rather than stands
MIN_GAP, MAX_GAP = 9.0, 40.0
# A label's widest text, from roomy to tight; the first with which the tree fits is taken.
LABEL_WIDTHS = (96.0, 80.0, 68.0, 60.0, 52.0, 46.0, 40.0, 34.0, 30.0)
HEAD_HEIGHT = 62.0  # of the slanted texts above the columns
HEAD_PITCH = 11.0  # two of them need so much
MIN_PITCH, BAR_GAP = 6.0, 4.0
NAMED_BAR = 54.0  # narrower ones have no room for a name


@dataclass(frozen=True, slots=True)
class Box:
    """A node in pixels. `rail` is where the column ends and lines to children may bend; `text` is empty where
    there is no room for it."""

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
    if node == ROOT:
        return visible(event.tree.root_text)
    if node == BONUS:
        assert isinstance(event, IterationDone)
        return visible(event.bonus_text)
    return visible(event.tree.texts[node])


def most_rows(height: float) -> int:
    """That fit a height, as slivers."""
    return max(2, int((height - 2 * MARGIN) // THIN_ROW))


@dataclass(frozen=True, slots=True)
class Head:
    """A slanted text above a column, where it begins; `node` as in `Box`."""

    node: int
    x: float
    y: float
    text: str


@dataclass(frozen=True, slots=True)
class Arranged:
    """`boxes` by node; `heads`: none where nodes have names."""

    boxes: dict[int, Box]
    heads: list[Head]


def arrange(
    placed: TreeLayout,
    path: Sequence[int],
    label_of: Callable[[int], str],
    probability_of: Callable[[int], float],
    measure: Callable[[str], float],
    width: float,
    height: float,
) -> Arranged:
    """An area of `width` by `height`; a tree too deep even for bars runs over it.

    path: nodes that the heads name, one per column.
    """
    heights = row_heights(placed.row_scores, height - 2 * MARGIN)
    texts = {
        place.node: label_of(place.node) if heights[place.row] >= NAMED_ROW else "" for place in placed.places
    }
    needed = {node: measure(text) + 2 * NODE_PADDING + GLYPH for node, text in texts.items() if text}
    fitting = _fit_columns(placed, needed, width)
    if fitting is None:
        return _bars(placed, path, label_of, probability_of, width, height)
    widths, columns = fitting
    tops = [MARGIN + sum(heights[:i]) for i in range(len(heights))]
    gap = _gap(columns, width)
    lefts = [MARGIN + sum(columns[:i]) + gap * i for i in range(len(columns))]
    found = {}
    for place in placed.places:
        inset = 2.0 if texts[place.node] else 1.0
        found[place.node] = Box(
            node=place.node,
            parent=place.parent,
            x=lefts[place.column],
            y=tops[place.row] + inset,
            width=widths.get(place.node, THIN_WIDTH),
            height=heights[place.row] - 2 * inset,
            rail=lefts[place.column] + columns[place.column],
            text=texts[place.node],
        )
    return Arranged(found, [])


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
    room = pitch - min(BAR_GAP, pitch / 2)
    lit = set(path)
    found = {}
    for place in placed.places:
        x = MARGIN + place.column * pitch
        share = 1.0 if place.node in lit else probability_of(place.node)
        bar = max(2.0, share * room)
        found[place.node] = Box(
            node=place.node,
            parent=place.parent,
            x=x,
            y=top + place.row * row + 1,
            width=bar,
            height=row - 2,
            rail=x + room,
            text=label_of(place.node) if bar >= NAMED_BAR and row >= NAMED_ROW else "",
        )
    every = max(1, math.ceil(HEAD_PITCH / pitch))  # heads that have room
    named: list[int] = [node for node in path[::every] if node in found]
    return Arranged(found, [Head(node, found[node].x + room / 2, top - 4, label_of(node)) for node in named])


def row_heights(scores: list[float], height: float) -> list[float]:
    """Pixels of each row: the best rows are high enough for a name, as many as there is room for."""
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
    placed: TreeLayout, needed: dict[int, float], width: float
) -> tuple[dict[int, float], list[float]] | None:
    """Widths of the nodes that have a name, and of the columns; None where no names fit."""
    for widest in LABEL_WIDTHS:
        most = widest + 2 * NODE_PADDING + GLYPH
        widths = {node: max(MIN_WIDTH, min(one, most)) for node, one in needed.items()}
        columns = [THIN_WIDTH] * placed.columns
        for place in placed.places:
            columns[place.column] = max(columns[place.column], widths.get(place.node, THIN_WIDTH))
        if sum(columns) + MIN_GAP * (len(columns) - 1) + 2 * MARGIN <= width:
            return widths, columns
    return None


def _gap(columns: list[float], width: float) -> float:
    if len(columns) == 1:
        return 0.0
    return min(MAX_GAP, max(MIN_GAP, (width - 2 * MARGIN - sum(columns)) / (len(columns) - 1)))
