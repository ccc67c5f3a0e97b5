"""The limits of each token tree: as the user wishes, or as this machine and this text make best."""

import math
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from engine.decoding import Iterated, Rule
from engine.drafting import Limits

BUDGETS: tuple[int, ...] = tuple(2**n for n in range(2, 11))
BEAMS: tuple[int, ...] = tuple(2**n for n in range(2, 8))
MEMORY = 40  # iterations whose acceptance counts
LAST = 8  # measured times of each size that count
FADE = 0.93  # what an acceptance counts for, one iteration later
FADE_SECONDS = 0.8  # a time is less a matter of chance, and stays true for less long
NEAR = 0.25  # and one doubling of size away
CHANGE = 2.0  # a time so much longer or shorter than those before comes of another machine
HOPE = 0.4  # what a smaller size may save: seconds ~ size ** HOPE
BELIEF = 3.0  # trees: how much what one doubling of the budget gained counts for the next
GAIN = 1.03  # a change must promise this much
KNOWN = 4  # iterations until a drafter's chances can be judged
MODESTY = 0.25, 2.0  # of a drafter: the least and the most that is believed


@dataclass(frozen=True, slots=True)
class FixedLimits:
    """Always the same."""

    limits: Limits

    def choose(self) -> Limits:
        return self.limits

    def observe(self, iteration: Iterated) -> None:
        pass


@dataclass(frozen=True, slots=True)
class Overridden:
    """As `rule`, but for what the user fixed: names of Limits and their values."""

    rule: Rule
    fixed: Mapping[str, int]

    def choose(self) -> Limits:
        return replace(self.rule.choose(), **self.fixed)

    def observe(self, iteration: Iterated) -> None:
        self.rule.observe(iteration)


class Replayed:
    """As `rule`, but for the budgets of the first iterations, which are those of an earlier answer."""

    def __init__(self, rule: Rule, budgets: Sequence[int]) -> None:
        self._rule = rule
        self._budgets = deque(budgets)

    def choose(self) -> Limits:
        limits = self._rule.choose()
        return replace(limits, budget=self._budgets[0]) if self._budgets else limits

    def observe(self, iteration: Iterated) -> None:
        if self._budgets:
            self._budgets.popleft()
        self._rule.observe(iteration)


class Curve:
    """Seconds as a function of size, from measurements with noise that drift."""

    def __init__(self) -> None:
        self._count = 0
        self._changed = False
        # size -> (number, seconds) of its last measurements: one size never drives out what others told.
        self._measured: dict[int, deque[tuple[int, float]]] = {}

    def add(self, size: int, seconds: float) -> None:
        before = [past for _, past in self._measured.get(size, ())]
        if before and not 1 / CHANGE < seconds / float(np.median(before)) < CHANGE:
            self._measured.clear()  # the machine is no longer what it was
            self._changed = True
        self._count += 1
        self._measured.setdefault(size, deque(maxlen=LAST)).append((self._count, seconds))

    def at(self, size: int) -> float:
        """From a line through what was measured near it. Sizes beyond those tried look as good as they may
        be, so that they are tried: larger ones no slower; after a change, smaller ones faster."""
        least = min(self._measured)
        if size < least and self._changed:
            return self.at(least) * float((size / least) ** HOPE)
        near: dict[int, float] = {other: NEAR ** abs(math.log2(other / size)) for other in self._measured}
        points = [  # plain numbers: there are few, and numpy would take longer to begin
            (other, seconds, near[other] * FADE_SECONDS ** (self._count - number))
            for other, pairs in self._measured.items()
            for number, seconds in pairs
        ]
        total = sum(weight for _, _, weight in points)
        size_0 = sum(weight * other for other, _, weight in points) / total
        seconds_0 = sum(weight * seconds for _, seconds, weight in points) / total
        spread = sum(weight * (other - size_0) ** 2 for other, _, weight in points)
        common = sum(weight * (other - size_0) * (seconds - seconds_0) for other, seconds, weight in points)
        slope = max(0.0, common / spread) if spread > 0 else 0.0
        return max(seconds_0 + slope * (size - size_0), min(seconds for _, seconds, _ in points) / 2)


@dataclass(frozen=True, slots=True)
class _Past:
    """An iteration. ranks: of accepted nodes in the order of scores; expanded: nodes; chances: float [depth
    of the tree], to get to each depth of it, as the drafter sees it."""

    budget: int
    ranks: list[int]
    expanded: int
    chances: NDArray[np.float64]


class AutoLimits:
    """Minimises seconds per token: (drafting + verifying a tree of some budget) / (tokens it gives), both
    learned from the iterations so far (DESIGN section 4).

    One tree tells what every smaller one would have given: its best nodes are that smaller tree, and an
    accepted path goes as far as its nodes are among them. Budgets move by a factor of two at most.
    """

    def __init__(self, start: Limits, most: int = BUDGETS[-1]) -> None:
        """start: limits of the first tree. most: largest budget."""
        self._limits = start
        self._budgets = [budget for budget in BUDGETS if budget <= most]
        self._iteration_s = Curve()  # by budget
        self._round_s = Curve()  # by beams
        self._past: deque[_Past] = deque(maxlen=MEMORY)

    def choose(self) -> Limits:
        return self._limits

    def observe(self, iteration: Iterated) -> None:
        limits = iteration.limits
        seconds = iteration.draft_s + iteration.target_s + iteration.other_s
        self._iteration_s.add(limits.budget, seconds)
        if iteration.rounds:
            self._round_s.add(limits.beams, iteration.draft_s / iteration.rounds)
        tree = iteration.tree
        ranks = np.argsort(np.argsort(-tree.scores, kind="stable"), kind="stable")
        accepted: list[int] = ranks[iteration.accepted].tolist()
        chances = np.bincount(tree.depths, np.exp(tree.scores))[1:].clip(max=1.0)
        self._past.append(_Past(limits.budget, accepted, iteration.rounds * limits.beams, chances))
        budget = self._best_budget()
        beams = self._best_beams(budget)
        self._limits = Limits(budget, beams, self._best_depth(), self._worth(budget, beams))

    def tokens(self, budget: int) -> float:
        """Expected of one iteration."""
        gain = self._gained(0, BUDGETS[0], 0.0, 0)
        tokens, last = 1 + gain, BUDGETS[0]
        while last < budget:
            gain = self._gained(last, 2 * last, gain, BELIEF)
            tokens, last = tokens + gain, 2 * last
        return tokens

    def _gained(self, first: int, last: int, belief: float, weight: float) -> float:
        """Expected accepted nodes of ranks first..last: of the trees that large, and as much as `weight` of
        them, `belief` (what the doubling before gained)."""
        total, weights = belief * weight, weight
        for age, past in enumerate(reversed(self._past)):
            if past.budget >= last:
                total += FADE**age * sum(first <= rank < last for rank in past.ranks)
                weights += FADE**age
        return total / weights if weights else belief

    def _best_budget(self) -> int:
        now = self._limits.budget
        near = [budget for budget in self._budgets if now / 2 <= budget <= now * 2] or [now]
        seconds_per_token = {b: self._iteration_s.at(b) / self.tokens(b) for b in {now, *near}}
        best = min(sorted(seconds_per_token), key=seconds_per_token.__getitem__)
        return best if seconds_per_token[best] * GAIN < seconds_per_token[now] else now

    def _best_beams(self, budget: int) -> int:
        """The more nodes a round expands, the fewer rounds; but a tree needs as many as it is deep."""
        if not any(past.expanded for past in self._past):
            return self._limits.beams
        expanded = float(np.mean([budget * min(1, past.expanded / past.budget) for past in self._past]))
        depth = float(np.mean([len(past.chances) for past in self._past]))
        return min(BEAMS, key=lambda beams: max(depth, expanded / beams) * self._round_s.at(beams))

    def _worth(self, budget: int, beams: int) -> float:
        """Tokens that could be had in the time of a round: it must promise more than that, by the drafter's
        own, uncorrected chances."""
        if len(self._past) < KNOWN:
            return 0.0
        cost = self._round_s.at(beams) * self.tokens(budget) / self._iteration_s.at(budget)
        return cost ** (1 / self._modesty()) if cost < 1 else cost

    def _modesty(self) -> float:
        """The power of the drafter's chances that is true: below 1 where more is accepted than it thinks, as
        of a greedy target, whose choice it cannot be as sure of as the target is."""
        chances = np.concatenate([past.chances for past in self._past])
        accepted = sum(len(past.ranks) for past in self._past)
        low, high = MODESTY
        while high / low > 1.05:
            middle = math.sqrt(low * high)
            low, high = (middle, high) if (chances**middle).sum() > accepted else (low, middle)
        return low

    def _best_depth(self) -> int:
        """Twice as deep as an accepted path was lately; a tree that grows deeper than that grows in vain."""
        deepest = max(len(past.ranks) for past in self._past)
        return max(8, 2 * deepest)
