"""Medusa (arXiv 2401.10774): from the target's last hidden state, each head guesses one token further ahead.

The paper uses a fixed tree shape; this drafter grows best-first by the product of the heads' probabilities.
"""

from collections.abc import Sequence as Ids

from engine.arrays import Array, masked
from engine.drafting.position_guesses import BRANCH, PositionDrafter
from engine.drafting.protocol import Feedback, Needs, TreeLimits
from engine.heads import MedusaHeads
from engine.heads.interface import Allowed, Guesses, guesses
from engine.model.interface import Progress
from engine.sampling import Sampler


class MedusaDrafter(PositionDrafter):
    name = "medusa"
    defaults = TreeLimits(budget=64, beams=16, depth=8)

    def __init__(self, heads: MedusaHeads) -> None:
        super().__init__(heads.layers)
        self._heads = heads
        (self._layer,) = heads.hidden_layers
        self.needs = Needs(hidden_layers=heads.hidden_layers)
        self._state: Array = None  # [width] the target's state at the token before the root

    def begin(self, context: Ids[int], sampler: Sampler, progress: Progress) -> None:
        self._masks = sampler.masks

    def observe_prefill(self, feedback: Feedback) -> None:
        self._state = feedback.hidden[self._layer][-1]

    def advance(self, tokens: Ids[int], feedback: Feedback) -> None:
        self._state = feedback.hidden[self._layer][feedback.path[: len(tokens)][-1]]

    def _guess(self) -> Array:
        return self._heads.logits(self._state)

    def _best(self, logits: Array, allowed: Allowed | None = None) -> Guesses:
        return guesses(logits if allowed is None else masked(logits, allowed), BRANCH)

    @property
    def _vocabulary(self) -> int:
        return int(self._logits.shape[-1])
