"""What it is worth to ask the routers of mixtures early, with the states of a layer one or two mixtures
before them, to which the products of its experts have not been added yet. This module itself moves nothing.

Each layer adds little to what is there, so that a router mostly chooses as it will: Eliseev and Mazur, "Fast
Inference of Mixture-of-Experts Language Models with Offloading", 2023, section 3.2. The further ahead it is
asked, the more time there is to read, and the less sure is what it says.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

# Places in a row's choice that are counted apart, the last one with all behind it; as a place, this number
# stands for not being chosen.
PLACES = 16
# Factor by which what was counted weighs less with each time after it.
DECAY = 0.99
# Experts, with the mean share of right ones, that are added to the counts of each mixture.
PRIOR = 4.0
FIRST = 0.5  # that share before anything has been counted
# How often a router is asked whatever that brings; and after how many turns it is asked again that does not
# pay, since answers change.
FEWEST, AGAIN = 8, 16
# By how many turns a router is asked early, at most.
AHEAD = 2


class EarlyChoice(NamedTuple):
    """What the router of a mixture has said early, of its experts.

    turn: the mixture's place in the order of use. ahead: by how many turns it was asked early. places: the
    first place at which it chose each expert for any row, PLACES if for none. used: whether the pass before
    used them. usual: their chances by that and earlier passes alone. Each array is [experts].
    """

    turn: int
    ahead: int
    places: NDArray[np.int64]
    used: NDArray[np.bool_]
    usual: NDArray[np.float64]

    @property
    def kinds(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """What is counted apart."""
        return self.used.astype(np.int64), self.places

    @property
    def weights(self) -> NDArray[np.float64]:
        return np.where(self.places < PLACES, 1.0, self.usual)


class _Mean:
    """A mean in which what is older weighs less. Attribute: `value`, 0 if nothing was counted."""

    def __init__(self) -> None:
        self._total = self._count = self.value = 0.0

    def add(self, total: float, count: int) -> None:
        """Add `count` things, which make up `total`."""
        self._total, self._count = self._total * DECAY + total, self._count * DECAY + count
        if self._count:
            self.value = self._total / self._count


class EarlyRouters:
    """How often each router is right when it is asked early, and whether asking pays.

    How sure an expert is depends on its place in the choice, on whether the pass before used it, on how early
    that is, and on the mixture: some layers change states more than others. Those that are not chosen become
    less likely, too.
    """

    def __init__(self, turns: int) -> None:
        """turns: the number of mixtures."""
        shape = AHEAD, turns, 2, PLACES + 1
        self._expected = np.zeros(shape)  # by use by the pass before, and place: experts; where they are not
        self._came = np.zeros(shape)  # chosen, their usual chances; and how many were used then
        self._asked = np.zeros((AHEAD, turns))  # decayed number of times
        self._found = np.zeros((AHEAD, turns))  # decayed number of misses that were avoided by it
        self._turns_since = np.zeros((AHEAD, turns), np.int64)  # since it was asked
        self._cost, self._wait = _Mean(), _Mean()  # seconds: of asking, and of waiting for an expert

    def chances(self, said: EarlyChoice) -> NDArray[np.float64]:
        """Return the chances of a mixture's experts once its router has been asked, [experts]."""
        expected, came = self._expected[said.ahead - 1], self._came[said.ahead - 1]
        mean = (came.sum(0) + PRIOR * FIRST) / (expected.sum(0) + PRIOR)
        share = (came[said.turn] + PRIOR * mean) / (expected[said.turn] + PRIOR)
        found: NDArray[np.float64] = np.minimum(share, 1)[said.kinds]
        return found * said.weights

    def learn(self, said: EarlyChoice, came: NDArray[np.bool_]) -> None:
        """Note which experts the mixture has chosen in the end, [experts]."""
        for counts, values in ((self._expected, said.weights), (self._came, came)):
            ours = counts[said.ahead - 1, said.turn]
            ours *= DECAY
            np.add.at(ours, said.kinds, values)

    def asked(self, seconds: float) -> None:
        """Note what asking has taken."""
        self._cost.add(seconds, 1)

    def brought(self, said: EarlyChoice, experts: int) -> None:
        """Note how many of the experts that the mixture has chosen are there because it was asked early."""
        at = said.ahead - 1, said.turn
        self._asked[at] = self._asked[at] * DECAY + 1
        self._found[at] = self._found[at] * DECAY + experts

    def waited(self, seconds: float, experts: int) -> None:
        """Note how long a mixture has waited for the experts that were not there."""
        if experts:
            self._wait.add(seconds, experts)

    def pays(self, turn: int, ahead: int) -> bool:
        """Return whether asking so many turns early is likely to take less time than it saves, and to save as
        much as asking later, or whether it is to be tried."""
        self._turns_since[ahead - 1, turn] += 1
        later = range(1, ahead)
        saved = self._saved_s(turn, ahead)
        pays = self._is_due(turn, ahead) or (
            saved >= max([self._cost.value, *(self._saved_s(turn, each) for each in later)])
            and not any(self._is_due(turn, each) for each in later)
        )
        if pays:
            self._turns_since[ahead - 1, turn] = 0
            self._turns_since[: ahead - 1, turn] += 1
        return pays

    def _is_due(self, turn: int, ahead: int) -> bool:
        """Return whether it is to be tried."""
        at = ahead - 1, turn
        return bool(self._asked[at] < FEWEST or self._turns_since[at] >= AGAIN)

    def _saved_s(self, turn: int, ahead: int) -> float:
        at = ahead - 1, turn
        return float(self._found[at] / max(self._asked[at], 1)) * self._wait.value
