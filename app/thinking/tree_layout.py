"""Where each node of a token tree stands: a column and a row. Knows neither Qt nor pixels."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from engine.protocol.messages import TreeNodes

ROOT = -1  # the last committed token; not a node
BONUS = -2  # the bonus token; not a node either


@dataclass(frozen=True, slots=True)
class Place:
    """`node` is a node id, `ROOT` or `BONUS`; `parent` stands to its left (the root's own is `ROOT`)."""

    node: int
    parent: int
    column: int
    row: int


@dataclass(frozen=True, slots=True)
class TreeLayout:
    """No two places share column and row. Parents come before their children, siblings from top to bottom."""

    places: list[Place]
    columns: int
    rows: int
    shown: int  # nodes, without root and bonus token
    total: int
    row_scores: list[float]  # the best cumulative log-probability in each row; inf on the accepted path


def layout(
    tree: TreeNodes,
    accepted: Sequence[int] = (),
    *,
    has_bonus: bool = False,
    max_nodes: int = 400,
    max_rows: int = 1000,
) -> TreeLayout:
    """Columns by depth, rows by subtree, the most probable sibling first and level with its parent.

    `accepted` is the path the target took; with `has_bonus` the bonus token gets a place after it. Where the
    tree is larger than `max_nodes` or wider than `max_rows`, its best nodes by cumulative log-probability are
    shown, and the accepted path whole.
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
    """The accepted path and the best nodes by cumulative log-probability that fit; a connected subtree."""
    chosen = set(accepted)
    inner = {tree.parents[node] for node in chosen} | {ROOT}  # have a child already: the next one takes a row
    rows = 1
    # Best first; a parent always before its children.
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
    """Log-probability of each node's path."""
    cumulative: list[float] = []
    for parent, log_prob in zip(tree.parents, tree.log_probs, strict=True):
        cumulative.append((cumulative[parent] if parent != ROOT else 0.0) + min(log_prob, 0.0))
    return cumulative


def _children(tree: TreeNodes, chosen: set[int]) -> dict[int, list[int]]:
    children: dict[int, list[int]] = {}
    for node in sorted(chosen, key=lambda node: (-tree.log_probs[node], node)):
        children.setdefault(tree.parents[node], []).append(node)
    return children


def _place(children: dict[int, list[int]]) -> list[Place]:
    """Depth first: each subtree takes the next free rows; a first child stays level with its parent."""
    places: list[Place] = []
    free_row = 0
    waiting = [(ROOT, ROOT, 0, True)]
    while waiting:
        node, parent, column, is_first = waiting.pop()
        if not is_first:
            free_row += 1
        places.append(Place(node, parent, column, free_row))
        following = [(child, node, column + 1, i == 0) for i, child in enumerate(children.get(node, ()))]
        waiting += reversed(following)
    return places
