"""Layout of a token tree: the column and the row of each node, and the neighbours of a node. No Qt."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from engine.protocol.messages import TreeNodes

ROOT = -1  # the last committed token; not a node
BONUS = -2  # the bonus token; not a node either

Direction = Literal["parent", "child", "above", "below"]


@dataclass(frozen=True, slots=True)
class NodePlace:
    """Place of a node.

    node: a node id, `ROOT` or `BONUS`. parent: the node to its left; the root's parent is `ROOT`.
    """

    node: int
    parent: int
    column: int
    row: int


@dataclass(frozen=True, slots=True)
class TreeLayout:
    """Places of the shown nodes: parents before their children, siblings from top to bottom.

    No two places share column and row.
    """

    places: list[NodePlace]
    columns: int
    rows: int
    shown: int  # number of nodes, without root and bonus token
    total: int
    row_scores: list[float]  # best cumulative log-probability of each row; inf on the accepted path


def layout(
    tree: TreeNodes,
    accepted: Sequence[int] = (),
    *,
    has_bonus: bool = False,
    max_nodes: int = 400,
    max_rows: int = 1000,
) -> TreeLayout:
    """Give each node a column and a row.

    The column is the depth. Each subtree has its own rows; the most probable child is in its parent's row.

    `accepted` is the accepted path; with `has_bonus` the bonus token gets a place after it. If the tree has
    more than `max_nodes` nodes or `max_rows` rows, only its best nodes by cumulative log-probability and the
    whole accepted path are shown.
    """
    cumulative = _cumulative(tree)
    chosen = _choose(tree, cumulative, accepted, max_nodes, max_rows - has_bonus)
    children = _children(tree, chosen)
    if has_bonus:
        children.setdefault(accepted[-1] if accepted else ROOT, []).append(BONUS)
    places = _place(children)
    rows = 1 + max(place.row for place in places)
    row_scores = [-math.inf] * rows
    lit = {ROOT, BONUS, *accepted}
    for place in places:
        score = math.inf if place.node in lit else cumulative[place.node]
        row_scores[place.row] = max(row_scores[place.row], score)
    return TreeLayout(
        places=places,
        columns=1 + max(place.column for place in places),
        rows=rows,
        shown=len(chosen),
        total=len(tree.tokens),
        row_scores=row_scores,
    )


def _choose(
    tree: TreeNodes, cumulative: list[float], accepted: Sequence[int], max_nodes: int, max_rows: int
) -> set[int]:
    """Choose the accepted path, then the best nodes by cumulative log-probability, up to the two limits.

    The result is a connected subtree.
    """
    chosen = set(accepted)
    # Nodes that have a child; each further child of theirs needs another row.
    inner = {tree.parents[node] for node in chosen} | {ROOT}
    rows = 1
    # Best first; a parent always precedes its children.
    for node in sorted(range(len(cumulative)), key=lambda node: (-cumulative[node], node)):
        if node in chosen:
            continue
        taken = 1 if tree.parents[node] in inner else 0
        if len(chosen) >= max_nodes or (rows + taken > max_rows and chosen):
            break
        rows += taken if chosen else 0
        chosen.add(node)
        inner.add(tree.parents[node])
    return chosen


def _cumulative(tree: TreeNodes) -> list[float]:
    """Return the log-probability of each node's path."""
    cumulative: list[float] = []
    for parent, log_prob in zip(tree.parents, tree.log_probs, strict=True):
        cumulative.append((cumulative[parent] if parent != ROOT else 0.0) + min(log_prob, 0.0))
    return cumulative


def _children(tree: TreeNodes, chosen: set[int]) -> dict[int, list[int]]:
    children: dict[int, list[int]] = {}
    for node in sorted(chosen, key=lambda node: (-tree.log_probs[node], node)):
        children.setdefault(tree.parents[node], []).append(node)
    return children


def _place(children: dict[int, list[int]]) -> list[NodePlace]:
    """Place nodes depth first: a first child is in its parent's row, the others begin the next free row."""
    places: list[NodePlace] = []
    free_row = 0
    waiting = [(ROOT, ROOT, 0, True)]
    while waiting:
        node, parent, column, is_first = waiting.pop()
        if not is_first:
            free_row += 1
        places.append(NodePlace(node, parent, column, free_row))
        following = [(child, node, column + 1, i == 0) for i, child in enumerate(children.get(node, ()))]
        waiting += reversed(following)
    return places


def neighbour(placed: TreeLayout, node: int, direction: Direction) -> int:
    """Return the neighbour of a placed node in a direction, or the node itself if there is none.

    child: the most probable child. above, below: in the nearest row, the node in the nearest column.
    """
    places = {place.node: place for place in placed.places}
    place = places[node]
    if direction == "parent":
        return place.parent
    if direction == "child":
        children = [other for other in placed.places if other.parent == node and other.node != ROOT]
        return min(children, key=lambda other: other.row).node if children else node
    side = -1 if direction == "above" else 1
    beyond = [other for other in placed.places if (other.row - place.row) * side > 0]
    if not beyond:
        return node
    nearest = min(beyond, key=lambda other: (abs(other.row - place.row), abs(other.column - place.column)))
    return nearest.node
