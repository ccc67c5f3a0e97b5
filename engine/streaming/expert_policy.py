"""Expects when each expert of a model's mixtures is used next. This module itself moves nothing."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

# Factor by which a pass weighs less with each pass after it. In routings with overlap and skew
# (`specexec bench experts`), 0.97 kept more hits than 0.9 or 0.8, whatever the cache's size.
DECAY = 0.97
# The rate of an expert that no pass has used for long: such experts differ only in their turn.
LEAST = 1e-4


class ExpertPolicy:
    """The uses that are expected of each expert.

    The mixtures of a pass take turns. If a pass uses an expert with probability p, its mixture comes 1 / p
    times in the mean until the expert is used: after d + t (1 / p - 1) turns, where d is the number of
    turns until the mixture's next one, and t the number of mixtures. p is the mean of two estimates: 1 or
    0, as the last pass did or did not use the expert, since consecutive passes choose much the same
    experts; and the share of all passes that used it, in which older passes weigh less.

    Attribute: `wanted`: the experts that the mixture in turn still uses, in the order of use.
    """

    def __init__(self, mixtures: Sequence[int]) -> None:
        """mixtures: for each expert the number of its mixture, in the order of use."""
        numbers, turns = np.unique(mixtures, return_inverse=True)
        self._turn_of: dict[int, int] = {int(number): turn for turn, number in enumerate(numbers)}
        self._turns = turns.reshape(-1)  # of each expert
        self._uses = np.zeros(len(mixtures))  # decayed number of passes that used each expert
        self._passes = np.zeros(len(mixtures))  # decayed number of passes
        self._used: list[list[int]] = [[] for _ in numbers]  # the experts of each mixture in its last pass
        self._last = np.zeros(len(mixtures))  # 1 for these
        self._now = len(numbers) - 1
        self._later = np.zeros(len(mixtures))
        self.wanted: list[int] = []
        self._expect()

    def choose(self, mixture: int, wanted: Sequence[int]) -> None:
        """Note that it is the turn of `mixture`, and that this pass uses the `wanted` of its experts."""
        self._now = self._turn_of[mixture]
        ours = self._turns == self._now
        self._uses[ours] *= DECAY
        self._uses[list(wanted)] += 1
        self._passes[ours] = self._passes[ours] * DECAY + 1
        self._last[ours] = 0
        self._last[list(wanted)] = 1
        self._used[self._now] = self.wanted = list(wanted)
        self._expect()

    def use(self, expert: int) -> None:
        """Note that `expert` is used now; its next use is in another pass."""
        self.wanted = [other for other in self.wanted if other != expert]

    def next_uses(self) -> NDArray[np.float64]:
        """Return for each expert the expected turns until its next use: less than 1 if it is wanted."""
        uses = self._later.copy()
        uses[self.wanted] = np.arange(len(self.wanted)) / max(len(self.wanted), 1)
        return uses

    def out(self, ready: NDArray[np.bool_], expert: int, of_wanted: bool, held: int | None) -> int | None:
        """Return the expert that makes room for `expert`: the one whose next use is expected last, if that is
        later than that of `expert`; None if there is none.

        ready: bool [experts], those in the cache. of_wanted: whether an expert that is wanted may make room.
        held: the expert in use, which stays.
        """
        uses = self.next_uses()
        if held is not None:
            uses[held] = -1.0
        candidates = ready if of_wanted else ready & (uses >= 1)
        last = int(np.where(candidates, uses, -1.0).argmax())
        return last if uses[last] > uses[expert] and candidates[last] else None

    def guess(self) -> list[int]:
        """Return the experts that the last pass used in the mixture whose turn comes next."""
        return self._used[(self._now + 1) % len(self._used)]

    def _expect(self) -> None:
        """Compute what `next_uses` returns of experts that are not wanted."""
        count = len(self._used)
        until = (self._turns - self._now - 1) % count + 1
        rates = (self._last + self._uses / np.maximum(self._passes, 1)) / 2
        self._later = until + count * (1 / np.maximum(rates, LEAST) - 1)
