"""Selects the nodes to expand while the target verifies a tree: those that the next tree most likely needs.

The walk through a tree that was sent ends at a token that was not sent, and that token is the next root. So
each child of a sent node that was not sent itself is an *exit*, and every node that was not sent lies below
exactly one exit. If the walk leaves there, what lies below is the beginning of the next tree. What is wanted
below an exit is therefore a tree of its own: the best `budget` nodes counted from the exit.
"""

import numpy as np
from numpy.typing import NDArray

from engine.drafting.best_first import BestFirst
from engine.drafting.protocol import TreeLimits
from engine.tree import ROOT

# How much less a node is wanted that is less likely once the walk has left at its exit. At 1, nodes would be
# expanded in the order of their own chances; at 0, one exit after the other would get its whole tree.
EAGERNESS = 0.5
SENT = -2  # in place of an exit: a node that was sent


class Exits:
    """The exits of a tree, and what has grown below them."""

    def __init__(self, grower: BestFirst, sent: list[int], limits: TreeLimits, deepest: int) -> None:
        """grower: its growth is lasting. sent: its nodes that the target verifies. limits: of the trees that
        are wanted below exits, and the number of nodes to expand ahead. deepest: greatest depth of a node."""
        self._grower = grower
        self._budget, self._depth, self._deepest = limits.budget, limits.depth, deepest
        self._most, self._worth = limits.ahead + int(grower.expanded.sum()), limits.worth_ahead
        self._exits: list[int] = []
        self._sent = set(sent)
        self._note_new()

    def _note_new(self) -> None:
        exits = self._exits
        for node in range(len(exits), len(self._grower.tokens)):
            parent = self._grower.parents[node]
            if node in self._sent:
                exits.append(SENT)
            elif parent == ROOT or exits[parent] == SENT:
                exits.append(node)
            else:
                exits.append(exits[parent])

    def frontier(self, beams: int) -> list[int]:
        """Return the nodes to expand next, best first: at most `beams` nodes, or ROOT. Return none if so few
        of them will be wanted that they are not worth a round."""
        grower = self._grower
        if self._deepest <= 0:
            return []
        if not grower.is_rooted:
            return [ROOT]
        self._note_new()
        exits, scores, expanded = np.asarray(self._exits), grower.scores, grower.expanded
        depths, parents = np.asarray(grower.depths), np.asarray(grower.parents)
        outside = exits != SENT
        at = np.where(outside, exits, np.arange(len(exits)))
        given = scores - scores[at]  # log chances, given that the walk leaves at the exit
        beams = max(0, min(beams, self._most - int(expanded.sum())))
        wanted = ~expanded & (depths < self._deepest) & (depths - depths[at] < self._depth)
        wanted &= (parents == ROOT) | expanded[parents]
        wanted &= ~outside | (self._ranks(at, scores) < self._budget)
        nodes = np.flatnonzero(wanted)
        log_chances = scores[at] + EAGERNESS * given  # that a node is wanted, by which nodes are compared
        best = nodes[np.lexsort((nodes, -log_chances[nodes]))[:beams]]
        if float(np.exp(log_chances[best]).sum()) < self._worth:
            return []
        chosen: list[int] = best.tolist()
        return chosen

    @staticmethod
    def _ranks(groups: NDArray[np.int64], scores: NDArray[np.float64]) -> NDArray[np.int64]:
        """Return the rank of each node's score among those of its group, from 0."""
        order = np.lexsort((-scores, groups))
        sorted_groups = groups[order]
        first = np.flatnonzero(np.r_[True, sorted_groups[1:] != sorted_groups[:-1]])
        starts = np.repeat(first, np.diff(np.r_[first, len(order)]))
        ranks = np.empty(len(order), np.int64)
        ranks[order] = np.arange(len(order)) - starts
        return ranks
