"""Trees of heads that guess each position by itself: all nodes of one depth get the same children, and the
tree grows best-first by the product of their probabilities. What the heads run on is up to the drafters."""

from abc import abstractmethod
from dataclasses import replace

from engine.arrays import Array
from engine.drafting.best_first_drafter import BestFirstDrafter
from engine.drafting.protocol import TreeLimits
from engine.heads.interface import Allowed, Guesses
from engine.model.interface import Progress
from engine.tree import ROOT, SOURCE_HEADS

DECAY = 0.95  # as in SpecExec
BRANCH = 10  # children per node; the trees of Medusa's paper use no more


class PositionDrafter(BestFirstDrafter):
    """Runs its heads once for each tree."""

    def __init__(self, positions: int) -> None:
        """positions: the number of tokens that are guessed."""
        super().__init__(DECAY, SOURCE_HEADS)
        self._positions = positions
        self._logits: Array = None  # [positions, tokens of the heads] behind the root
        self._guesses: Guesses | None = None  # [positions, branch] each

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
        # No round but the first runs the heads, so none has to be worth its time.
        super().plant(replace(limits, depth=min(limits.depth, self._positions), worth=0.0))
        self._guesses = self._logits = None

    def _expand(self, nodes: list[int], progress: Progress) -> None:
        if self._logits is None:
            progress(0, 1)
            self._logits = self._guess()
        self._grower.expand(nodes, *self._children(nodes))

    def _children(self, nodes: list[int]) -> Guesses:
        depths = [0 if node == ROOT else self._grower.depths[node] for node in nodes]
        allowed = self._allowed(nodes, self._vocabulary)
        if allowed is not None:
            return self._best(self._logits[depths], allowed)
        if self._guesses is None:
            self._guesses = self._best(self._logits)
        return self._guesses[0][depths], self._guesses[1][depths]
