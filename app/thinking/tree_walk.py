"""Where the arrow keys lead in a tree. Knows neither Qt nor pixels."""

from typing import Literal

from app.thinking.tree_layout import ROOT, TreeLayout

Direction = Literal["parent", "child", "above", "below"]


def neighbour(placed: TreeLayout, node: int, direction: Direction) -> int:
    """The node next to one that is placed; itself where there is none.

    A child is the most probable one. Above and below: the nearest row, and in it the nearest column.
    """
    places = {place.node: place for place in placed.places}
    here = places[node]
    if direction == "parent":
        return here.parent
    if direction == "child":
        children = [each for each in placed.places if each.parent == node and each.node != ROOT]
        return min(children, key=lambda each: each.row).node if children else node
    side = -1 if direction == "above" else 1
    beyond = [each for each in placed.places if (each.row - here.row) * side > 0]
    if not beyond:
        return node
    nearest = min(beyond, key=lambda each: (abs(each.row - here.row), abs(each.column - here.column)))
    return nearest.node
