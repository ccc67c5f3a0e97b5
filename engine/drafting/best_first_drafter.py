"""The common part of drafters whose trees grow best-first: rounds that expand the most promising nodes. A new
drafter of this kind is one method, `_expand`."""

from abc import abstractmethod

from engine.constraint.masks import Masks
from engine.drafting.best_first import BestFirst
from engine.drafting.protocol import Drafter, TreeLimits
from engine.heads.interface import Allowed
from engine.model.interface import Progress
from engine.tree import TokenTree


class BestFirstDrafter(Drafter):
    """Grows trees with a `BestFirst`. A subclass sets `_masks` in `begin`.

    What no model proposes is restricted to what the masks allow while the tree grows. A model's tokens are
    restricted by the subclass, before the best of them are chosen.
    """

    def __init__(self, decay: float, source: int) -> None:
        """decay, source: as for `BestFirst`."""
        self._decay = decay
        self._source = source
        self._masks: Masks | None = None
        self._limits = self.defaults
        self._grower = BestFirst(0, 0, decay, source)

    @abstractmethod
    def _expand(self, nodes: list[int], progress: Progress) -> None:
        """Add the children of `nodes` to `_grower`. The first nodes of a tree are [ROOT]; later, the parents
        of all nodes have been expanded."""

    def _free_beams(self) -> int:
        """Return how many nodes the next round may expand at most."""
        return self._limits.beams

    def _frontier(self) -> list[int]:
        """Return the nodes to expand next."""
        return self._grower.frontier(self._free_beams())

    def _can_grow(self) -> bool:
        """Return whether another round may improve the tree."""
        return bool(self._frontier())

    def plant(self, limits: TreeLimits) -> None:
        self._limits = limits
        worth, masks = (limits.worth, None) if self.runs_a_model else (0.0, self._masks)
        self._grower = BestFirst(limits.budget, limits.depth, self._decay, self._source, worth, masks)

    def grow(self, rounds: int, progress: Progress) -> bool:
        for _ in range(rounds):
            nodes = self._frontier()
            if not nodes:
                return False
            self._expand(nodes, progress)
        return self._can_grow()

    def snapshot(self, budget: int) -> TokenTree:
        return self._grower.snapshot(budget)

    def _allowed(self, nodes: list[int], vocabulary: int) -> Allowed | None:
        """Return which of the first `vocabulary` tokens may follow each of `nodes`, bool [nodes, vocabulary];
        None if all may."""
        if self._masks is None:
            return None
        return self._masks.rows([self._grower.path(node) for node in nodes], vocabulary)
