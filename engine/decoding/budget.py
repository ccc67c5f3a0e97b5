"""Rules for the limits of each token tree: set by the user, or optimised for this machine and this text."""

import math
from bisect import bisect_right
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache

import numpy as np
from numpy.typing import NDArray

from engine.decoding.cost import CostCurve, Seconds, WorkDone, unknown
from engine.decoding.gains import BUDGETS, Gains, told_budget
from engine.decoding.iteration import Iterated, Rule
from engine.decoding.survival import Survival
from engine.decoding.trials import Trials
from engine.drafting import TreeLimits
from engine.tree import TokenTree

BEAMS: tuple[int, ...] = tuple(2**n for n in range(2, 8))
PLAIN = 0  # the budget of an iteration without a tree
# Plain decoding is tried once if trees are expected to be faster than it is by less than this factor.
UNSURE = 4.0
DECIDE_S = 0.01  # seconds of decoding between two decisions: deciding takes 0.2 ms
START = 3  # nodes of the first tree, at least: one node tells next to nothing of what more of them bring
MEMORY = 64  # iterations whose acceptance is remembered
GAIN = 1.03  # the budget changes only if the speed is expected to rise by more than this factor
# From plain decoding, any of the first JUMP budgets may be chosen of which recent trees tell what they bring:
# in a mixture, a second row alone may cost more than it brings.
JUMP = 3
# Where the last trees tell as much of a budget as SETTLED trees, and less of the next larger one than a part
# of a tree, that one is tried once if its speed is expected to be lower by less than a factor of DOUBT.
SETTLED = 12.0
FORGOTTEN = 0.05
DOUBT = 1.25
KNOWN = 4  # trees needed before a drafter's chances can be corrected
MODESTY = 0.25, 2.0  # range of the exponent that corrects a drafter's chances


@dataclass(frozen=True, slots=True)
class FixedLimits:
    """A rule that sets the same limits for every tree."""

    limits: TreeLimits

    def choose(self) -> TreeLimits:
        return self.limits

    def observe(self, iteration: Iterated) -> None:
        pass


@dataclass(frozen=True, slots=True)
class Overridden:
    """A rule like `rule`, except for the limits that the user fixed.

    fixed: those limits, by the names of their fields in TreeLimits.
    """

    rule: Rule
    fixed: Mapping[str, int]

    def choose(self) -> TreeLimits:
        return replace(self.rule.choose(), **self.fixed)

    def observe(self, iteration: Iterated) -> None:
        self.rule.observe(iteration)


class Replayed:
    """A rule like `rule`, except that the first iterations use the budgets of an earlier answer."""

    def __init__(self, rule: Rule, budgets: Sequence[int]) -> None:
        self._rule = rule
        self._budgets = deque(budgets)

    def choose(self) -> TreeLimits:
        limits = self._rule.choose()
        return replace(limits, budget=self._budgets[0]) if self._budgets else limits

    def observe(self, iteration: Iterated) -> None:
        if self._budgets:
            self._budgets.popleft()
        self._rule.observe(iteration)


@dataclass(frozen=True, slots=True)
class _Past:
    """What `AutoLimits` remembers about an iteration.

    accepted: number of accepted nodes; chances: float [depth of the tree], the drafter's estimate, for each
    depth, of the chance that the accepted path reaches it.
    """

    accepted: int
    chances: NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class _Begun:
    """What `AutoLimits` remembers about a tree that was begun anew. expanded: how many of its nodes the
    drafter expanded, at most, as a share of its budget; depth: in levels."""

    expanded: float
    depth: int


class AutoLimits:
    """A rule that minimises seconds per token: the time to draft and verify a tree of some budget, divided by
    the number of tokens that the tree gives. Both are learned from the iterations so far (docs/design.md,
    section 4).

    From one tree to the next, the number of rows at most doubles. It falls to any smaller one while the
    prediction holds, and else to half at most. A mixture of experts needs that: once all its experts are
    used, half as many rows cost nearly as much, and only few rows are cheap. Where no tree pays, there is
    none, except those that `Trials` asks for.

    Where trees grow ahead, what growing them takes counts as far as it is not hidden behind the target's
    passes, which follows from how often trees survived, and how much of them. So they may be larger there.

    Where experts are brought when rows choose them, rows are dear; how dear follows from how many were
    missing in passes of any size. So trees grow while a cache fills, or while rows share experts.
    """

    def __init__(
        self,
        start: TreeLimits,
        most: int = BUDGETS[-1],
        predicted: Seconds = unknown,
        work: Callable[[], WorkDone] = WorkDone,
    ) -> None:
        """start: limits of the first tree. most: maximum budget. predicted: budget -> seconds of an
        iteration in which no expert is missing; only the ratios of its values matter. work: returns what the
        models have done so far."""
        self._limits = start
        self._work = work
        self._before = work()
        self._budgets = [PLAIN, *(budget for budget in BUDGETS if budget <= most)]
        self.gains = Gains()
        self._trials = Trials()
        self._back = PLAIN  # the budget before plain decoding was tried, until that is judged
        self._undecided_s = 0.0
        # By rows of the pass, and as long as iterations take in which all drafting is done in turn.
        self._iteration_s = CostCurve(cache(lambda rows: predicted(rows - 1)))
        self._survival = Survival()
        self._round_s = CostCurve()  # by beams
        self._pass_s = CostCurve()  # by rows of the pass: what iterations take beside drafting
        self._past: deque[_Past] = deque(maxlen=MEMORY)
        self._begun: deque[_Begun] = deque(maxlen=MEMORY)  # kept however many trees survive after them

    def begin(self) -> None:
        """Start an answer, with trees."""
        self._survival.begin()
        self._back = PLAIN
        self._trials.begin(with_trees=self._limits.budget != PLAIN)
        if self._limits.budget == PLAIN:
            self._limits = self._trial()

    def choose(self) -> TreeLimits:
        self._before = self._work()
        return self._limits

    def observe(self, iteration: Iterated) -> None:
        limits, told = iteration.limits, told_budget(iteration)
        is_whole = told >= limits.budget
        rows = 1 + (limits.budget if is_whole else len(iteration.tree))
        seconds = self._draft_s(iteration) + iteration.target_s + iteration.other_s
        done = self._work() - self._before
        self._iteration_s.miss(rows, done.misses)
        self._pass_s.miss(rows, done.misses)
        is_usual = is_whole and not done.firsts
        in_turn_s = seconds + self._saved_s(iteration)
        self._survival.observe(iteration, is_whole)
        if is_usual:
            self._pass_s.add(rows, iteration.target_s + iteration.other_s, done.misses)
            if self._iteration_s.add(rows, in_turn_s, done.misses):
                self._trials.start_over()
        if limits.budget:
            if told:
                self.gains.learn(iteration, told)
            if is_whole:
                self._remember(iteration, is_usual and not self._trials.plain)
            if is_usual:
                self._trials.note_cost(seconds, len(iteration.tokens))
            self._trials.note_tree()
        else:
            self._trials.note_plain()
        self._undecided_s += seconds
        if self._trials.is_due:
            self._limits = self._trial()
        elif self._past and (
            self._undecided_s >= DECIDE_S or len(self._past) <= KNOWN or self._is_trial(limits)
        ):
            self._undecided_s = 0.0
            is_trial, budget = is_whole and self._is_trial(limits), self._best_budget()
            if is_trial and not self._back:
                self._judge(budget)
            beams = self._best_beams(max(budget, BUDGETS[0]))
            worth = self._worth(budget, beams) if budget else limits.worth
            self._limits = TreeLimits(budget, beams, self._best_depth(), worth)

    def _draft_s(self, iteration: Iterated) -> float:
        """Return the seconds of growing a tree. In the first one after iterations without a tree, a draft
        model also reads the tokens since then: this does not count."""
        if not self._trials.plain or not self._round_s:
            return iteration.draft_s
        return min(iteration.draft_s, iteration.rounds * self._round_s.at(iteration.limits.beams))

    def _remember(self, iteration: Iterated, is_usual: bool) -> None:
        """Learn from a whole tree. is_usual: whether its rounds took as long as others do."""
        limits = iteration.limits
        # A tree that had nodes from the start may have needed no round at all.
        if iteration.rounds and is_usual and not iteration.survivors:
            self._round_s.add(limits.beams, iteration.draft_s / iteration.rounds)
        chances = chances_of(iteration.tree)
        self._past.append(_Past(len(iteration.accepted), chances))
        if iteration.rounds and not iteration.survivors:
            expanded = min(1.0, iteration.rounds * limits.beams / limits.budget)
            self._begun.append(_Begun(expanded, len(chances)))

    def _cost(self, budget: int) -> float:
        """Return the expected seconds of an iteration, without the drafting that is hidden: that is a share
        of what the iteration takes beside its pass, so the pass is left at least."""
        whole_s, hidden = self._iteration_s.at(budget + 1), self._survival.share(budget)
        if not hidden or not self._pass_s:
            return whole_s
        return whole_s - hidden * max(0.0, whole_s - self._pass_s.at(budget + 1))

    def _saved_s(self, iteration: Iterated) -> float:
        """Return the seconds of drafting that an iteration was spared, because its tree had nodes from the
        start."""
        if not iteration.survivors:
            return 0.0
        return max(0.0, self._growth_s(iteration.limits.budget) - iteration.draft_s)

    def _is_trial(self, limits: TreeLimits) -> bool:
        """Return whether an iteration with these limits taught what trees bring beside plain decoding."""
        return bool(limits.budget or self._back)

    def _judge(self, budget: int) -> None:
        """Judge the last trial, after which `budget` was chosen."""
        if budget:
            self._trials.note_success()
        else:
            tried_s, plain_s = (self._iteration_s.at(each + 1) for each in (self._likeliest(), PLAIN))
            self._trials.note_failure(tried_s / plain_s - 1)

    def _trial(self) -> TreeLimits:
        """Return the limits of a tree after iterations without one."""
        budget = self._likeliest()
        return replace(self._limits, budget=budget, beams=self._best_beams(budget))

    def _likeliest(self) -> int:
        """Return the budget of a trial: the one of recent trees that came closest to paying."""
        tried = [self._budgets[place] for place in self._tried()]
        if not tried:
            return self._budgets[:2][-1]
        return min(tried, key=lambda budget: self._cost(budget) / self.gains.tokens(budget))

    def _tried(self) -> list[int]:
        """Return the places, among the budgets, of those of which recent trees tell what they bring."""
        places = range(1, len(self._budgets))
        return [place for place in places if self.gains.trees(self._budgets[place]) >= 1]

    def _best_budget(self) -> int:
        now, self._back = self._back or self._limits.budget, PLAIN
        here = max(0, bisect_right(self._budgets, now) - 1)
        least = 0 if self._iteration_s.is_predicted else max(0, here - 1)
        most = max([here + 1, *(place for place in self._tried() if place <= JUMP)])
        may_be_plain = not least and self._trials.may_end(self._iteration_s.at(PLAIN + 1))
        choices = [b for b in self._budgets[least : most + 1] if b or may_be_plain]
        seconds_per_token = {b: self._cost(b) / self.gains.tokens(b) for b in {now, *choices}}
        best = min(sorted(seconds_per_token), key=seconds_per_token.__getitem__)
        # Whether trees are faster than plain decoding is known only where both were measured.
        plain = seconds_per_token.get(PLAIN, math.inf)
        if plain < UNSURE * seconds_per_token[best] and not self._iteration_s.knows(PLAIN + 1):
            self._back = now
            return PLAIN
        if seconds_per_token[best] * GAIN < seconds_per_token[now]:
            return best
        return self._glance(now, seconds_per_token[now])

    def _glance(self, now: int, seconds_per_token: float) -> int:
        """Return the next larger budget than `now`, for one tree, if the last trees tell much of `now` and
        nothing of the larger one, which may be better; else `now`."""
        larger = bisect_right(self._budgets, now)
        if not now or larger == len(self._budgets):
            return now
        budget, trees = self._budgets[larger], self.gains.trees
        if trees(budget) >= FORGOTTEN or trees(self._budgets[larger - 1]) < SETTLED:
            return now
        expected = self._cost(budget) / self.gains.tokens(budget)
        return budget if expected < DOUBT * seconds_per_token else now

    def _best_beams(self, budget: int) -> int:
        """Return the best number of beams. The more nodes a round expands, the fewer rounds are needed; but a
        tree needs at least one round per level."""
        growths = self._growths(budget)
        return min(growths, key=growths.__getitem__, default=self._limits.beams)

    def _growth_s(self, budget: int) -> float:
        """Return the seconds of growing a tree in turn, with the best number of beams; 0 while they are not
        known."""
        return min(self._growths(budget).values(), default=0.0)

    def _growths(self, budget: int) -> dict[int, float]:
        """Return the seconds of growing a tree in turn, by the number of beams, from the trees that were
        begun anew; empty while there are none."""
        if not self._round_s or not self._begun:
            return {}
        expanded = budget * float(np.mean([begun.expanded for begun in self._begun]))
        depth = float(np.mean([begun.depth for begun in self._begun]))
        return {beams: max(depth, expanded / beams) * self._round_s.at(beams) for beams in BEAMS}

    def _worth(self, budget: int, beams: int) -> float:
        """Return the cost of a round: the number of tokens that its time is worth, as `on_the_drafters_scale`
        gives it."""
        if len(self._past) < KNOWN or not self._round_s:
            return 0.0
        tokens = self._round_s.at(beams) * self.gains.tokens(budget) / self._cost(budget)
        accepted = sum(past.accepted for past in self._past)
        return on_the_drafters_scale(tokens, [past.chances for past in self._past], accepted)

    def _best_depth(self) -> int:
        """Return twice the depth of the deepest recently accepted path; deeper nodes are hardly ever
        accepted."""
        deepest = max(past.accepted for past in self._past)
        return max(8, 2 * deepest)


def chances_of(tree: TokenTree) -> NDArray[np.float64]:
    """Return the drafter's estimate, for each depth of a tree, of the chance that the accepted path reaches
    it: [depth of the tree]."""
    return np.bincount(tree.depths, np.exp(tree.scores))[1:].clip(max=1.0)


def on_the_drafters_scale(tokens: float, chances: Sequence[NDArray[np.float64]], accepted: int) -> float:
    """Convert an expected number of tokens to the scale of the drafter's own chances, with sums of which
    drafters compare it.

    chances: those of past trees, as `chances_of` returns them; accepted: how many of the nodes of these trees
    were accepted. The exponent that corrects the chances is below 1 if these are more than the chances
    predict. A greedy target is an example: the drafter is less certain of the target's choice than the target
    is.
    """
    if tokens >= 1:
        return tokens
    known = np.concatenate(chances)
    low, high = MODESTY
    while high / low > 1.05:
        middle = math.sqrt(low * high)
        low, high = (middle, high) if (known**middle).sum() > accepted else (low, middle)
    return float(tokens ** (1 / low))
