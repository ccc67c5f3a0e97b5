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


class _Costs:
    """What the alternatives have cost one mixture in passes of one size, in lists by `ahead`: numpy takes
    longer with so few numbers, several times in each layer of each pass."""

    def __init__(self) -> None:
        ways = RECALLED + 1
        self.waited = [0.0] * ways  # faded seconds that the mixture has waited
        self.weight = [0.0] * ways  # faded number of the turns in which that was measured
        self.tries = [0] * ways  # number of these turns
        self.since = [0] * ways  # turns since the last of these
        self.offered = [True] + [False] * RECALLED  # the alternatives that there are

    def wait(self, seconds: float, ahead: int) -> None:
        """Note a turn of the alternative `ahead`, and how long the mixture has waited in it."""
        self.waited = [each * FADE for each in self.waited]
        self.weight = [each * FADE for each in self.weight]
        self.since = [each + 1 for each in self.since]
        self.waited[ahead] += seconds
        self.weight[ahead] += 1.0
        self.tries[ahead] += 1
        self.since[ahead] = 0

    def latest_due(self, ahead: int) -> int | None:
        """Return the latest alternative up to `ahead` that has to be tried now, whatever it costs."""
        for way in range(ahead, -1, -1):
            if self.offered[way] and (self.tries[way] < FEWEST or self.since[way] >= AGAIN):
                return way
        return None


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
        self._costs = [[_Costs() for _ in range(SIZES)] for _ in range(turns)]
        # By size of pass and alternative but the first: faded seconds by which it has delayed passes; times.
        self._taken = [[(0.0, 0.0)] * RECALLED for _ in range(SIZES)]

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
        self._take(range(1, AHEAD + 1), seconds, rows)

    def recalled(self, seconds: float, rows: int) -> None:
        """Note by how many seconds it has taken longer because of the last choices of tokens, in a mixture
        that was told of them."""
        self._take(range(RECALLED, RECALLED + 1), seconds, rows)

    def _take(self, ways: range, seconds: float, rows: int) -> None:
        taken = self._taken[_size(rows)]
        for way in ways:
            before, times = taken[way - 1]
            taken[way - 1] = before * FADE + seconds, times * FADE + 1

    def offer(self, turn: int, ahead: int, rows: int) -> None:
        """Note that a router can be asked so many turns early in passes of so many rows."""
        self._costs[turn][_size(rows)].offered[ahead] = True

    def waited(self, seconds: float, turn: int, ahead: int, rows: int) -> None:
        """Note how long a mixture has waited for its experts in a pass of so many rows."""
        self._costs[turn][_size(rows)].wait(seconds, ahead)

    def pays(self, turn: int, ahead: int, rows: int) -> bool:
        """Return whether a router is to be asked so many turns early, in a pass of so many rows, rather than
        later or not at all: because that costs least, or to try it."""
        self.offer(turn, ahead, rows)
        size = _size(rows)
        costs = self._costs[turn][size]
        due = costs.latest_due(ahead)
        if due is not None:
            return due == ahead  # a later way is tried when its time has come
        taken = [0.0, *(seconds / max(times, 1.0) for seconds, times in self._taken[size])]
        found = [
            costs.waited[way] / costs.weight[way] + taken[way]
            for way in range(ahead + 1)
            if costs.offered[way]
        ]
        return found[-1] < found[0] and found[-1] == min(found)


def _size(rows: int) -> int:
    return min(rows.bit_length(), SIZES - 1)
