"""What it is worth to ask the routers of mixtures early, with the states of a layer one or two mixtures
before them, to which the products of its experts have not been added yet. This module itself moves nothing.

By how many turns a router is asked early is called `ahead`; 0 stands for not asking, which is an alternative
like the others: then the experts that the last passes used are read.

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
# Factor by which what was counted weighs less with each time after it, and what was timed: machines change
# faster than what routers are right about.
DECAY, FADE = 0.99, 0.98
# Experts, with the mean share of right ones, that are added to the counts of each mixture.
PRIOR = 4.0
FIRST = 0.5  # that share before anything has been counted
# How often each alternative is tried whatever it costs; and after how many turns without it one is tried
# again, since answers and machines change.
FEWEST, AGAIN = 8, 16
# By how many turns a router is asked early, at most.
AHEAD = 2
# Passes are counted apart by the number of binary digits of their rows, the last number with all above it.
SIZES = 9


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


class EarlyRouters:
    """How often each router is right when it is asked early, and whether asking pays.

    How sure an expert is depends on its place in the choice, on whether the pass before used it, on how early
    that is, and on the mixture: some layers change states more than others. Those that are not chosen become
    less likely, too.

    What each alternative costs is measured, for each mixture and size of a pass: the seconds that the mixture
    waits for its experts, and those that asking takes. The cheapest one is used, and each of the others again
    after AGAIN turns.
    """

    def __init__(self, turns: int) -> None:
        """turns: the number of mixtures."""
        shape = AHEAD, turns, 2, PLACES + 1
        self._expected = np.zeros(shape)  # by use by the pass before, and place: experts; where they are not
        self._came = np.zeros(shape)  # chosen, their usual chances; and how many were used then
        by_ahead = turns, SIZES, AHEAD + 1
        self._waited = np.zeros(by_ahead)  # faded seconds that the mixture has waited
        self._weight = np.zeros(by_ahead)  # faded number of the turns in which that was measured
        self._tries = np.zeros(by_ahead, np.int64)  # number of these turns
        self._since = np.zeros(by_ahead, np.int64)  # turns since the last of these
        self._asking = np.zeros((SIZES, 2))  # faded seconds by which asking has delayed passes; times

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

    def asked(self, seconds: float, rows: int) -> None:
        """Note by how many seconds a pass of so many rows has taken longer because a router was asked."""
        asking = self._asking[_size(rows)]
        asking *= FADE
        asking += seconds, 1

    def waited(self, seconds: float, turn: int, ahead: int, rows: int) -> None:
        """Note how long a mixture has waited for its experts in a pass of so many rows."""
        at = turn, _size(rows)
        for counts, value in ((self._waited, seconds), (self._weight, 1.0)):
            counts[at] *= FADE
            counts[*at, ahead] += value
        self._tries[*at, ahead] += 1
        self._since[at] += 1
        self._since[*at, ahead] = 0

    def pays(self, turn: int, ahead: int, rows: int) -> bool:
        """Return whether a router is to be asked so many turns early, in a pass of so many rows, rather than
        later or not at all: because that costs least, or to try it."""
        at = turn, _size(rows), slice(ahead + 1)
        (due,) = np.nonzero((self._tries[at] < FEWEST) | (self._since[at] >= AGAIN))
        if len(due):
            return bool(due[-1] == ahead)  # a later way is tried when its time has come
        costs = self._waited[at] / self._weight[at]
        seconds, times = self._asking[_size(rows)]
        costs[1:] += seconds / max(times, 1.0)
        return bool(costs[ahead] < costs[0] and costs[ahead] <= costs[:ahead].min())


def _size(rows: int) -> int:
    return min(rows.bit_length(), SIZES - 1)
