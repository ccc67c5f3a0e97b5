"""How much of a tree is there from the start, because it grew while the target verified the tree before."""

from collections import deque

from engine.decoding.iteration import Iterated

LAST = 32  # iterations from which the share follows


class Survival:
    """The share of trees whose growth was hidden behind a pass of the target, from the last iterations: how
    often a tree survived the verdict, and how much of the next one the survivors made up."""

    def __init__(self) -> None:
        # Of trees that could have survived: budget, nodes, and how many of these were there from the start.
        self._past: deque[tuple[int, int, int]] = deque(maxlen=LAST)
        self.begin()

    def begin(self) -> None:
        """Start an answer: no tree was verified before its first one."""
        self._is_ahead = False  # whether the last tree grew on while it was verified

    def observe(self, iteration: Iterated, is_whole: bool) -> None:
        """Learn from an iteration. is_whole: whether its tree is; one that was cut at the end of the answer
        does not tell how much of it would have been there."""
        limits, size = iteration.limits, len(iteration.tree)
        if self._is_ahead and size and is_whole:
            self._past.append((limits.budget, size, min(iteration.survivors, size)))
        self._is_ahead = limits.ahead > 0

    def share(self, budget: int) -> float:
        """Return which share of the next tree is expected to be there from the start, if it has `budget`
        nodes; 0 while trees do not grow ahead.

        A tree that was there as a whole does not tell how much of a larger one would have been. If none
        tells, that is taken to be all, so that it is tried.
        """
        if not budget or not self._is_ahead or not self._past:
            return 0.0
        survived = [past for past in self._past if past[-1]]
        shares = [
            min(1.0, survivors / (min(size, budget) if budget <= limit else size * budget / limit))
            for limit, size, survivors in survived
            if budget <= limit or survivors < size
        ]
        share = sum(shares) / len(shares) if shares else 1.0
        return share * len(survived) / len(self._past)
