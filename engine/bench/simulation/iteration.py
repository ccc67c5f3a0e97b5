"""Iterations in virtual time: a draft grows trees on the same card, before the target's pass or beside it."""

import numpy as np

from engine.bench.simulation.card import SimulatedCard
from engine.bench.simulation.clock import VirtualClock
from engine.bench.simulation.model import SimulatedTarget
from engine.decoding.iteration import PhaseClock, draft, draft_ahead
from engine.decoding.pass_thread import PassThread
from engine.decoding.verdict import Verdict
from engine.drafting import Drafter, Feedback, TreeLimits
from engine.model.interface import Progress, no_progress
from engine.planner.prediction import Growth
from engine.tree import TokenTree

_NOTHING = np.empty(0, np.int64)
_VERDICT = Verdict([], 0, Feedback(_NOTHING, _NOTHING, np.empty(0, np.float32), {}, _NOTHING), [])


class SimulatedDrafter(Drafter):
    """A draft model without numbers. Each round takes the card as long as the planner predicts, layer by
    layer, and ends when the card has done it. Of what is grown ahead, the next tree is spared a share.

    Attribute: `seconds`, for which it has kept the card computing.
    """

    name = "simulated"

    def __init__(self, growth: Growth, layers: int, card: SimulatedCard, survival: float = 1.0) -> None:
        """survival: the share of the rounds done beside a pass that the next tree is spared, above 0; 1 is
        the best that can happen."""
        self.seconds = 0.0
        self._survival = survival
        self._growth = growth
        self._layers = layers
        self._card = card
        self._left = 0.0  # rounds until the current tree is whole, or the next one, while it grows ahead
        self._ahead: float | None = None  # rounds that the next tree still takes in turn, once it has begun

    def plant(self, limits: TreeLimits) -> None:
        self._left = self._growth.rounds if self._ahead is None else self._ahead
        self._ahead = None

    def widen(self, tree: TokenTree, depth: int) -> bool:
        self._ahead = self._growth.rounds
        self._left = self._ahead / self._survival
        return True

    def grow(self, rounds: int, progress: Progress) -> bool:
        share = min(1.0, self._left)  # of a round: a mean number of rounds is not a whole one
        if share > 0:
            seconds = share * self._growth.round_s
            for layer in range(self._layers):
                progress(layer, self._layers)
                ended = self._card.draft(seconds / self._layers)
            self._card.wait(ended)
            self.seconds += seconds
            self._left -= share
            if self._ahead is not None:
                self._ahead = self._survival * self._left
        return self._left > 0

    def snapshot(self, budget: int) -> TokenTree:
        return TokenTree.empty()


def iterate(
    drafter: SimulatedDrafter, target: SimulatedTarget, rows: int, overlapped: bool, clock: VirtualClock
) -> None:
    """Grow a tree, then verify it with a pass over `rows` rows. overlapped: whether the draft goes on beside
    the pass, on a stream of the card that computes when the target's waits."""
    limits = TreeLimits(rows - 1, beams=1, depth=rows)
    for _ in draft(drafter, limits, no_progress, PhaseClock()):
        pass
    if not overlapped:
        target.run(rows)
        return
    streamer = target.streamer
    assert streamer is not None

    def run(progress: Progress) -> int:
        target.run(rows, progress)
        return rows

    pending = PassThread(run, lambda rows: _VERDICT, streamer, no_progress, clock, gives_way=True)
    try:
        draft_ahead(drafter, pending, TokenTree.empty(), rows)
        pending.verdict()
    finally:
        pending.cancel()
