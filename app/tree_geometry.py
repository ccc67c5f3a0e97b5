"""From columns and rows to pixels. Knows no painter; text is measured by a function it is given."""

from collections.abc import Callable
from dataclasses import dataclass

from app.token_text import visible
from app.tree_layout import BONUS, ROOT, TreeLayout
from engine.protocol.messages import IterationDone, TreeGrown

MARGIN = 8
NODE_PADDING = 5
MIN_ROW, MAX_ROW = 21.0, 28.0
MIN_WIDTH = 26.0  # so that a short label's pill lies rather than stands
MIN_GAP, MAX_GAP = 9.0, 40.0
# A label's widest text, from roomy to tight; the first with which the tree fits is taken.
LABEL_WIDTHS = (96.0, 80.0, 68.0, 60.0, 52.0, 46.0, 40.0, 34.0, 30.0)
# Tighter than this only so that the accepted path is seen whole; what was rejected may run over the edge.
READABLE = 46.0


@dataclass(frozen=True, slots=True)
class Box:
    """A node in pixels. `rail` is where the column ends and lines to children may bend."""

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


def boxes(
    placed: TreeLayout,
    texts: dict[int, str],
    measure: Callable[[str], float],
    width: float,
    height: float,
) -> dict[int, Box]:
    """Node -> box for an area of `width` by `height`; a tree too deep even with tight labels runs over it."""
    row = min(MAX_ROW, max(MIN_ROW, (height - 2 * MARGIN) / placed.rows))
    needed = {node: measure(text) + 2 * NODE_PADDING for node, text in texts.items()}
    widths, columns = _fit_columns(placed, needed, width)
    gap = _gap(columns, width)
    lefts = [MARGIN + sum(columns[:i]) + gap * i for i in range(len(columns))]
    return {
        place.node: Box(
            node=place.node,
            parent=place.parent,
            x=lefts[place.column],
            y=MARGIN + place.row * row + 2,
            width=widths[place.node],
            height=row - 4,
            rail=lefts[place.column] + columns[place.column],
            text=texts[place.node],
        )
        for place in placed.places
    }


def _fit_columns(
    placed: TreeLayout, needed: dict[int, float], width: float
) -> tuple[dict[int, float], list[float]]:
    for widest in LABEL_WIDTHS:
        widths = {node: max(MIN_WIDTH, min(one, widest + 2 * NODE_PADDING)) for node, one in needed.items()}
        columns = [0.0] * placed.columns
        for place in placed.places:
            columns[place.column] = max(columns[place.column], widths[place.node])
        wanted = columns if widest > READABLE else columns[: _path_columns(placed)]
        if sum(wanted) + MIN_GAP * (len(wanted) - 1) + 2 * MARGIN <= width:
            break
    return widths, columns


def _path_columns(placed: TreeLayout) -> int:
    """Columns from the root to the bonus token; 1 while there is none."""
    return next((place.column + 1 for place in placed.places if place.node == BONUS), 1)


def _gap(columns: list[float], width: float) -> float:
    if len(columns) == 1:
        return 0.0
    return min(MAX_GAP, max(MIN_GAP, (width - 2 * MARGIN - sum(columns)) / (len(columns) - 1)))
