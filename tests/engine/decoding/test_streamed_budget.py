"""AutoLimits on a simulated machine that streams the experts of a mixture: passes take longer the more of
their experts are missing in a cache, which fills while it works. Now and then one takes five times as long,
and the first of each size records a graph."""

import numpy as np
import pytest

from engine.decoding.budget import PLAIN, AutoLimits, FixedLimits
from engine.decoding.cost import WorkDone
from engine.decoding.gains import BUDGETS
from engine.drafting import TreeLimits
from tests.engine.decoding.test_budget import Machine, fired

LAYERS = 48
ROUND_S = 0.0002  # of a drafter without a model
COLD = 1500  # misses after which a share of 1 / e of the rest is still missing


class Streamed(Machine):
    """Attributes: `spent_s`, seconds without noise, spikes and recording; `tokens`, of the answer."""

    def __init__(self, ranks, miss_s, warm, same=0.6, seed=0):
        """miss_s: seconds of a miss. warm: the share of the experts missing once the cache has filled. same:
        the share of its choices that a row takes over from the row before."""
        super().__init__(lambda beams: ROUND_S, computing_s, ranks, seed=seed)
        self.miss_s, self.warm, self.same = miss_s, warm, same
        self.spent_s, self.tokens, self.brought = 0.0, 0, 0
        self.recorded = set()

    def work(self):
        return WorkDone(self.brought, len(self.recorded))

    def rounds(self, limits):
        return min(limits.budget, 6)

    def seconds(self, limits):
        missing = self.warm + (1 - self.warm) * np.exp(-self.brought / COLD)
        rows = 1 + limits.budget
        misses = int(self._random.poisson(LAYERS * fired(rows, same=self.same) * missing))
        self.brought += misses
        draft_s, pass_s = self.rounds(limits) * ROUND_S, computing_s(rows) + misses * self.miss_s
        self.spent_s += draft_s + pass_s
        if rows not in self.recorded:
            self.recorded.add(rows)
            pass_s += 2.0
        return draft_s, pass_s * (5 if self._random.random() < 0.01 else 1)

    def accepted(self, budget):
        found = [
            rank - 1 for rank in super().accepted(budget + 1)
        ]  # the likeliest node, too, may be the next
        self.tokens += 1 + len(found)
        return found

    def answer(self, rule, tokens=400):
        """Return the seconds of so many tokens, and the budgets."""
        start_s, end, budgets = self.spent_s, self.tokens + tokens, []
        while self.tokens < end:
            budgets.append(self.iterate(rule).budget)
        return (self.spent_s - start_s) * tokens / (self.tokens - end + tokens), budgets


def computing_s(rows):
    return 0.03 + 0.0005 * rows


def automatic(machine, start=15):
    return AutoLimits(
        TreeLimits(start, 16, 32), predicted=lambda budget: computing_s(1 + budget), work=machine.work
    )


CACHES = {
    "fast disk, warm": (0.0005, 0.05),
    "fast disk, half of it missing": (0.0005, 0.5),
    "slow disk, warm": (0.005, 0.05),
    "slow disk, half of it missing": (0.005, 0.5),
}


@pytest.mark.parametrize("cache", CACHES)
@pytest.mark.parametrize("start", [1, 3, 7])
def test_where_nothing_can_be_guessed_trees_cost_next_to_nothing(cache, start):
    machine, alone = (Streamed([1e9], *CACHES[cache]) for _ in range(2))
    seconds, budgets = machine.answer(automatic(machine, start))
    plain_s, _ = alone.answer(FixedLimits(TreeLimits(PLAIN, 16, 32)))
    assert seconds < 1.02 * plain_s, budgets


@pytest.mark.parametrize("cache", CACHES)
def test_where_something_can_be_guessed_trees_are_nearly_the_best(cache):
    """Beside the best fixed budget, which is 0 for the last of these texts and up to 15 for the first."""
    shares = {}
    for ranks in ([1, 1.2, 2], [1, 1.2, 2, 4], [1, 3, 30], [3, 8, 40]):
        machine = Streamed(ranks, *CACHES[cache])
        seconds, budgets = machine.answer(automatic(machine), 800)
        fixed = {
            budget: Streamed(ranks, *CACHES[cache]).answer(FixedLimits(TreeLimits(budget, 16, 32)), 800)[0]
            for budget in (PLAIN, *BUDGETS[:6])
        }
        best = min(fixed, key=fixed.get)
        shares[str(ranks), best] = fixed[best] / seconds
        assert fixed[best] / seconds > 0.9, (fixed, seconds, budgets)
        assert seconds < 1.02 * fixed[PLAIN], (fixed, seconds, budgets)
    assert np.mean(list(shares.values())) > 0.95, shares


def test_trees_grow_where_the_cache_is_warm_and_where_rows_share_experts():
    sizes = {}
    for warm, same in [(0.5, 0.6), (0.02, 0.6), (0.5, 0.97)]:
        machine = Streamed([1, 1.2, 2], 0.001, warm, same)
        rule = automatic(machine)
        machine.answer(rule, 300)
        sizes[warm, same] = np.median(machine.answer(rule, 300)[1])
    assert 1 <= sizes[0.5, 0.6] <= 7, sizes
    assert sizes[0.02, 0.6] > 2 * sizes[0.5, 0.6], sizes
    assert sizes[0.5, 0.97] > 2 * sizes[0.5, 0.6], sizes


def test_trees_follow_when_the_text_changes_and_its_rows_share_experts():
    machine = Streamed([1, 1.2, 2], 0.001, 0.5)
    rule = automatic(machine)
    machine.answer(rule, 300)
    machine.same = 0.97
    sharing = machine.answer(rule, 300)[1]
    machine.same = 0.6
    again = machine.answer(rule, 300)[1]
    assert np.median(sharing[20:]) >= 15, sharing
    assert np.median(again[20:]) <= 7, again
