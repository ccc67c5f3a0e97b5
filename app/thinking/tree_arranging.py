"""From an event to its tree, arranged in pixels. Knows no painter."""

import math
from collections.abc import Callable

from app.thinking import tree_geometry
from app.thinking.tree_geometry import Arranged
from app.thinking.tree_layout import BONUS, ROOT, TreeLayout, layout
from engine.protocol.messages import IterationDone, TreeGrown

MOST_NODES = 600


def arrange_event(
    event: TreeGrown | IterationDone, measure: Callable[[str], float], width: float, height: float
) -> tuple[TreeLayout, Arranged]:
    """Columns and rows of what is shown of the tree, and the same in an area of `width` by `height`."""
    accepted = event.accepted if isinstance(event, IterationDone) else []
    has_bonus = isinstance(event, IterationDone) and event.bonus_token is not None
    rows = tree_geometry.most_rows(height)
    placed = layout(event.tree, accepted, has_bonus=has_bonus, max_nodes=MOST_NODES, max_rows=rows)
    path = [ROOT, *accepted, *([BONUS] if has_bonus else [])]
    if not isinstance(event, IterationDone):  # the likeliest so far
        path = [place.node for place in placed.places if place.row == 0]
    arranged = tree_geometry.arrange(
        placed,
        path,
        lambda node: tree_geometry.label(event, node),
        lambda node: math.exp(min(0.0, event.tree.log_probs[node])),
        measure,
        width,
        height,
    )
    return placed, arranged
