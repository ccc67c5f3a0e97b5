"""What it is worth to ask the routers of mixtures early, with the states of a layer one or two mixtures
before them, to which the products of its experts have not been added yet. This module itself moves nothing.

By how many turns a router is asked early is called `ahead`; 0 stands for not asking, which is an alternative
like the others: then the experts that the last passes used are read. One more alternative asks no router:
RECALLED turns early, what the tokens of the pass chose when they were last read stands for its answer.

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
# By how many turns a router is asked early, at most; and by how many the last choices of tokens are.
AHEAD = 2
RECALLED = AHEAD + 1
# Passes are counted apart by the number of binary digits of their rows, the last number with all above it.
SIZES = 9


class EarlyChoice(NamedTuple):
    """What the router of a mixture has said early, of its experts, or what stands for that.

    turn: the mixture's place in the order of use. ahead: by how many turns it was asked early; RECALLED if
    these are the last choices of tokens, even where fewer turns are left of the pass. places: the
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
    waits for its experts, and those that asking, or recalling, takes. The cheapest one is used, and each of
    the others that there are again after AGAIN turns: of the first mixture, there is none to ask.
    """

    def __init__(self, turns: int) -> None:
        """turns: the number of mixtures."""
        shape = RECALLED, turns, 2, PLACES + 1
        self._expected = np.zeros(shape)  # by use by the pass before, and place: experts; where they are not
        self._came = np.zeros(shape)  # chosen, their usual chances; and how many were used then
        by_ahead = turns, SIZES, RECALLED + 1
        self._waited = np.zeros(by_ahead)  # faded seconds that the mixture has waited
        self._weight = np.zeros(by_ahead)  # faded number of the turns in which that was measured
        self._tries = np.zeros(by_ahead, np.int64)  # number of these turns
        self._since = np.zeros(by_ahead, np.int64)  # turns since the last of these
        self._offered = np.zeros(by_ahead, np.bool_)  # the alternatives that there are
        self._offered[..., 0] = True
        # Faded seconds by which each alternative but the first has delayed passes; times.
        self._taken = np.zeros((SIZES, RECALLED, 2))

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
        self._take(slice(AHEAD), seconds, rows)

    def recalled(self, seconds: float, rows: int) -> None:
        """Note by how many seconds it has taken longer because of the last choices of tokens, in a mixture
        that was told of them."""
        self._take(slice(AHEAD, RECALLED), seconds, rows)

    def _take(self, ways: slice, seconds: float, rows: int) -> None:
        taken = self._taken[_size(rows), ways]
        taken *= FADE
        taken += seconds, 1

    def offer(self, turn: int, ahead: int, rows: int) -> None:
        """Note that a router can be asked so many turns early in passes of so many rows."""
        self._offered[turn, _size(rows), ahead] = True

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
        self.offer(turn, ahead, rows)
        at = turn, _size(rows), slice(ahead + 1)
        offered = self._offered[at]
        (due,) = np.nonzero(offered & ((self._tries[at] < FEWEST) | (self._since[at] >= AGAIN)))
        if len(due):
            return bool(due[-1] == ahead)  # a later way is tried when its time has come
        costs = np.full(ahead + 1, np.inf)
        costs[offered] = self._waited[at][offered] / self._weight[at][offered]
        seconds, times = self._taken[_size(rows), :ahead].T
        costs[1:] += seconds / np.maximum(times, 1.0)
        return bool(costs[ahead] < costs[0] and costs[ahead] <= costs[:ahead].min())


def _size(rows: int) -> int:
    return min(rows.bit_length(), SIZES - 1)
