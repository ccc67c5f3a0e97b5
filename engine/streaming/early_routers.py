"""What it is worth to ask the routers of mixtures early, with the states of the layer before them, to which
the products of its experts have not been added yet. This module itself moves nothing.

Each layer adds little to what is there, so that a router mostly chooses as it will: Eliseev and Mazur, "Fast
Inference of Mixture-of-Experts Language Models with Offloading", 2023, section 3.2.
"""

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

    How sure an expert is depends on its place in the choice, on whether the pass before used it, and on the
    mixture: some layers change states more than others. Those that are not chosen become less likely, too.
    """

    def __init__(self, turns: int) -> None:
        """turns: the number of mixtures."""
        shape = turns, 2, PLACES + 1
        self._expected = np.zeros(shape)  # by turn, use by the pass before, and place: experts; where they
        self._came = np.zeros(shape)  # are not chosen, their usual chances; and how many were used then
        self._asked = np.zeros(turns)  # decayed number of times
        self._found = np.zeros(turns)  # decayed number of misses that were avoided by it
        self._turns_since = np.zeros(turns, np.int64)  # since it was asked
        self._cost, self._wait = _Mean(), _Mean()  # seconds: of asking, and of waiting for an expert

    def chances(
        self,
        turn: int,
        places: NDArray[np.int64],
        used: NDArray[np.bool_],
        usual: NDArray[np.float64],
    ) -> NDArray[np.float64]:
        """Return the chances of a mixture's experts once its router has been asked, each [experts].

        places: the first place at which it chose each of them for any row, PLACES if for none. used: whether
        the pass before used them. usual: their chances by that and earlier passes alone."""
        mean = (self._came.sum(0) + PRIOR * FIRST) / (self._expected.sum(0) + PRIOR)
        share = (self._came[turn] + PRIOR * mean) / (self._expected[turn] + PRIOR)
        found: NDArray[np.float64] = np.minimum(share, 1)[used.astype(np.int64), places]
        return found * _weights(places, usual)

    def learn(
        self,
        turn: int,
        places: NDArray[np.int64],
        used: NDArray[np.bool_],
        usual: NDArray[np.float64],
        came: NDArray[np.bool_],
    ) -> None:
        """Note which experts the mixture has chosen in the end. The other arguments are those of
        `chances`."""
        kinds = used.astype(np.int64), places
        for counts, values in ((self._expected, _weights(places, usual)), (self._came, came)):
            counts[turn] *= DECAY
            np.add.at(counts[turn], kinds, values)

    def asked(self, seconds: float) -> None:
        """Note what asking has taken."""
        self._cost.add(seconds, 1)

    def brought(self, turn: int, experts: int) -> None:
        """Note how many of the experts that this mixture has chosen are there because it was asked early."""
        self._asked[turn] = self._asked[turn] * DECAY + 1
        self._found[turn] = self._found[turn] * DECAY + experts

    def waited(self, seconds: float, experts: int) -> None:
        """Note how long a mixture has waited for the experts that were not there."""
        if experts:
            self._wait.add(seconds, experts)

    def pays(self, turn: int) -> bool:
        """Return whether asking is likely to take less time than it saves, or whether it is to be tried."""
        self._turns_since[turn] += 1
        asked = self._asked[turn]
        saved = self._found[turn] / max(asked, 1) * self._wait.value
        pays = asked < FEWEST or saved >= self._cost.value or self._turns_since[turn] >= AGAIN
        if pays:
            self._turns_since[turn] = 0
        return bool(pays)


def _weights(places: NDArray[np.int64], usual: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.where(places < PLACES, 1.0, usual)
