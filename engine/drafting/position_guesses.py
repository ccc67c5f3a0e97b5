"""Trees of heads that guess each position by itself: all nodes of one depth get the same children, and the
tree grows best-first by the product of their probabilities. What the heads run on is up to the drafters."""

from abc import abstractmethod

from engine.arrays import Array
from engine.constraint.masks import Masks
from engine.drafting.best_first import BestFirst
from engine.drafting.protocol import Drafter, TreeLimits
from engine.heads.interface import Allowed, Guesses
from engine.model.interface import Progress
from engine.tree import ROOT, SOURCE_HEADS, TokenTree

DECAY = 0.95  # as in SpecExec
BRANCH = 10  # children per node; the trees of Medusa's paper use no more


class PositionDrafter(Drafter):
    """Runs its heads once for each tree. Attribute: `masks`, which tokens may follow which path, or None."""

    def __init__(self, positions: int) -> None:
        """positions: the number of tokens that are guessed."""
        self.masks: Masks | None = None
        self._positions = positions
        self._beams = 0
        self._logits: Array = None  # [positions, tokens of the heads] behind the root
        self._guesses: Guesses | None = None  # [positions, branch] each
        self._grower = BestFirst(0, 0, DECAY, SOURCE_HEADS)

    @abstractmethod
    def _guess(self) -> Array:
        """Run the heads; return their logits, [positions, tokens of the heads]."""

    @abstractmethod
    def _best(self, logits: Array, allowed: Allowed | None = None) -> Guesses:
        """Return the best BRANCH tokens of each row of logits, of those allowed."""

    @property
    @abstractmethod
    def _vocabulary(self) -> int:
        """Number of tokens that masks concern."""

    def plant(self, limits: TreeLimits) -> None:
        self._beams = limits.beams
        depth = min(limits.depth, self._positions)
        self._grower = BestFirst(limits.budget, depth, DECAY, SOURCE_HEADS)
        self._guesses = self._logits = None

    def grow(self, rounds: int, progress: Progress) -> bool:
        for _ in range(rounds):
            nodes = self._grower.frontier(self._beams)
            if not nodes:
                return False
            if self._logits is None:
                progress(0, 1)
                self._logits = self._guess()
            self._grower.expand(nodes, *self._children(nodes))
        return bool(self._grower.frontier(min(1, self._beams)))

    def snapshot(self, budget: int) -> TokenTree:
        return self._grower.snapshot(budget)

    def _children(self, nodes: list[int]) -> Guesses:
        depths = [0 if node == ROOT else self._grower.depths[node] for node in nodes]
        if self.masks:
            paths = [self._grower.path(node) for node in nodes]
            allowed = self.masks.rows(paths, self._vocabulary)
            if allowed is not None:
                return self._best(self._logits[depths], allowed)
        if self._guesses is None:
            self._guesses = self._best(self._logits)
        return self._guesses[0][depths], self._guesses[1][depths]
