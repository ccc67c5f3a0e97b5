"""How many tokens trees of each budget bring, as recent trees show."""

from bisect import bisect_right

import numpy as np

from engine.decoding.iteration import Iterated

# With the root, a pass then has 2^n rows, which products take in whole chunks.
BUDGETS: tuple[int, ...] = tuple(2**n - 1 for n in range(1, 11))
FADE = 0.95  # factor by which the weight of an acceptance falls with each iteration
# The gain from one doubling of the budget serves as an estimate of the gain from the next, and weighs as much
# as this number of trees.
BELIEF = 3.0


class Gains:
    """What each doubling of a tree's budget brings.

    One tree also shows what every smaller one would have given: the smaller tree consists of the best nodes
    of the larger one, and its accepted path ends where the larger tree's path leaves those nodes.
    """

    def __init__(self) -> None:
        # For each doubling: how many nodes were accepted among those that it adds, and in how many trees that
        # had them; recent trees weigh more.
        self._accepted = np.zeros(len(BUDGETS))
        self._trees = np.zeros(len(BUDGETS))

    def learn(self, iteration: Iterated, told: int) -> None:
        """Learn what each doubling brings, of those within `told` nodes."""
        ranks = np.argsort(np.argsort(-iteration.tree.scores, kind="stable"), kind="stable")
        counts = np.bincount(
            np.searchsorted(BUDGETS, ranks[iteration.accepted], side="right"), minlength=len(BUDGETS)
        )
        had = bisect_right(BUDGETS, told)
        self._accepted *= FADE
        self._trees *= FADE
        self._accepted[:had] += counts[:had]
        self._trees[:had] += 1

    def trees(self, budget: int) -> float:
        """Return how many trees had as many nodes as the largest of BUDGETS within `budget`; 0 if none of
        them is: a pass without a tree tells nothing of trees."""
        within = bisect_right(BUDGETS, budget)
        return float(self._trees[within - 1]) if within else 0.0

    def tokens(self, budget: int) -> float:
        """Return the expected number of tokens that an iteration with a tree of `budget` nodes gives.

        The gain of each doubling is a weighted mean of two things: the accepted nodes that it added in past
        trees, and the gain of the doubling before, which weighs as much as BELIEF trees.
        """
        tokens = gain = 1.0
        for doubling in range(bisect_right(BUDGETS, budget)):
            weight = BELIEF if doubling else 0.0
            trees = self._trees[doubling] + weight
            gain = (self._accepted[doubling] + gain * weight) / trees if trees else 0.0
            tokens += gain
        return float(tokens)


def told_budget(iteration: Iterated) -> int:
    """Return the largest budget, up to the one chosen, of which an iteration's tree tells what it brings.

    Where the answer ends, a tree is cut below the nodes of the depth that is left. Only nodes that score
    lower than the best of these are missing, so the best nodes down to that one are those of the whole tree.
    """
    limited, tree = iteration.limited, iteration.tree
    if limited.depth >= iteration.limits.depth:
        return limited.budget
    if limited.depth <= 0:
        return 0
    by_score = tree.depths[np.argsort(-tree.scores, kind="stable")]
    (cut,) = np.nonzero(by_score >= limited.depth)
    return min(limited.budget, int(cut[0]) + 1) if len(cut) else limited.budget
