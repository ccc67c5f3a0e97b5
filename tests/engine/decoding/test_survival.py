"""Limits where drafting is hidden behind the target's passes, on simulated machines."""

import math
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from engine.decoding.ahead import GrowingAhead
from engine.decoding.budget import PLAIN, AutoLimits
from engine.decoding.gains import BUDGETS
from engine.decoding.survival import Survival
from engine.drafting import TreeLimits
from engine.tree import TokenTree
from tests.engine.decoding.test_budget import MACHINES, Machine, iterated

BEAMS = (4, 8, 16, 32, 64, 128)
# The target reads for two seconds whatever the tree is; one of 63 nodes takes 1.4 s, one of 511 nodes 6 s.
DEAR = (lambda beams: 0.1 + 0.01 * beams, lambda rows: max(2.0, 0.004 * rows), [1, 1.5, 2, 4])
# The same where the target reads for half a second: a tree of any size takes longer than its pass.
DEARER = (DEAR[0], lambda rows: max(0.5, 0.004 * rows), DEAR[2])


def chain(nodes):
    """A tree of so many nodes, whose levels count up to six."""
    ids = np.arange(nodes)
    scores, sources = -ids.astype(np.float32), np.ones(nodes, np.uint8)
    return TokenTree(ids, ids - 1, np.minimum(ids + 1, 6), scores, scores, sources)


class Overlapped(Machine):
    """A machine on which a tree survives the verdict with a chance, up to `most` nodes of it; then only what
    is missing is drafted in turn."""

    def __init__(self, round_s, pass_s, ranks, chance, most=math.inf):
        super().__init__(round_s, pass_s, ranks)
        self.chance, self.most = chance, most
        self._was_ahead = False
        self._survives = np.random.default_rng(1)

    def begin(self):
        """Start an answer, whose first tree is begun anew."""
        self._was_ahead = False

    def iterate(self, rule):
        limits = rule.choose()
        budget, survivors = limits.budget, 0
        if self._survives.random() < self.chance and self._was_ahead:
            survivors = min(budget, self.most)
        self._was_ahead = limits.ahead > 0
        share = 1 - survivors / budget if budget else 0.0
        rounds = math.ceil(share * self.rounds(limits))
        draft_s = rounds * self.round_s(limits.beams) * self._random.uniform(1, 1 + self.noise)
        pass_s = self.pass_s(1 + budget) * self._random.uniform(1, 1 + self.noise)
        ranks = self.accepted(budget)
        done = iterated(limits, chain(budget), ranks, draft_s, pass_s, rounds)
        rule.observe(replace(done, survivors=survivors))
        return budget

    def in_turn_s(self, budget):
        """Return the seconds of an iteration without drafting ahead, with the best number of beams."""
        return min(sum(self.seconds(TreeLimits(budget, beams, 32))) for beams in BEAMS)

    def seconds_per_token(self, budget):
        hidden = self.chance * min(1, self.most / budget) if budget else 0.0
        pass_s = self.pass_s(1 + budget)
        seconds = pass_s + (1 - hidden) * (self.in_turn_s(budget) - pass_s)
        return seconds / self.tokens_per_pass(budget)


def budgets(made, chance, ahead, most=math.inf, count=160):
    """The budgets that are chosen, behind those with which the rule learns."""
    machine = Overlapped(*made, chance, most)
    rule = AutoLimits(TreeLimits(15, 16, 32), predicted=machine.in_turn_s)
    rule = GrowingAhead(rule) if ahead else rule
    return [machine.iterate(rule) for _ in range(count)][60:]


def test_trees_are_larger_where_a_dear_draft_is_hidden():
    in_turn, hidden = (budgets(DEAR, 0.9, ahead) for ahead in (False, True))
    assert np.median(hidden) >= 4 * np.median(in_turn)


@pytest.mark.parametrize("name", MACHINES)
def test_they_are_at_least_as_large_wherever_drafting_is_hidden(name):
    in_turn, hidden = (budgets(MACHINES[name], 0.9, ahead) for ahead in (False, True))
    assert np.median(hidden) >= np.median(in_turn)


@pytest.mark.parametrize(
    ("chance", "most"),
    [(1.0, math.inf), (1.0, 40), (0.9, math.inf), (0.6, math.inf), (0.9, 40), (0.2, math.inf)],
)
@pytest.mark.parametrize("made", [DEAR, MACHINES["an expensive draft"]])
def test_how_large_follows_from_how_often_and_how_much_of_a_tree_survives(made, chance, most):
    machine = Overlapped(*made, chance, most)
    costs = {budget: machine.seconds_per_token(budget) for budget in (PLAIN, *BUDGETS)}
    late = [costs[budget] for budget in budgets(made, chance, True, most)]
    assert np.mean(late) < 1.15 * min(costs.values())


@pytest.mark.parametrize(
    ("made", "most"),
    [(DEARER, math.inf), (MACHINES["bound by computation"], 40)],
    ids=["link", "computation"],
)
def test_no_iteration_takes_less_than_its_pass_although_every_tree_survives(made, most):
    """Growing a tree is then taken to last longer than the whole iteration does in turn."""
    machine = Overlapped(*made, 1.0, most)
    late = budgets(made, 1.0, True, most, count=240)[100:]
    costs = {budget: machine.seconds_per_token(budget) for budget in (PLAIN, *BUDGETS)}
    assert np.mean([costs[budget] for budget in late]) < 1.15 * min(costs.values())


def test_what_growing_costs_is_remembered_however_many_trees_survive():
    assert PLAIN not in budgets(MACHINES["a bad draft"], 1.0, True)


def in_answers(length, is_cut=False, count=240):
    """The budgets where answers have so many iterations, behind those with which the rule learns; is_cut:
    whether a tree follows in each that is cut to a single node, which was not there from the start."""
    machine = Overlapped(*DEAR, 1.0)
    limits = AutoLimits(TreeLimits(15, 16, 32), predicted=machine.in_turn_s)
    rule, found = GrowingAhead(limits), []
    for _ in range(count // length):
        limits.begin()
        machine.begin()
        found += [machine.iterate(rule) for _ in range(length)]
        if is_cut:
            chosen = rule.choose()
            tree, limited = chain(1), replace(chosen, depth=1)
            rule.observe(iterated(chosen, tree, [], 0.1, machine.pass_s(2), 1, limited))
    return found[60:]


@pytest.mark.parametrize("is_cut", [False, True])
def test_answers_do_not_teach_with_their_ends_that_trees_do_not_survive(is_cut):
    assert np.median(in_answers(3, is_cut)) >= np.median(in_answers(60))


def test_limits_are_those_of_taking_turns_where_no_tree_survives():
    assert budgets(DEAR, 0.0, True) == budgets(DEAR, 0.0, False)


def seen(budget, survivors, ahead=64, size=None):
    tree = [None] * (budget if size is None else size)
    return SimpleNamespace(limits=TreeLimits(budget, 4, 8, ahead=ahead), tree=tree, survivors=survivors)


def test_the_share_that_is_hidden():
    survival = Survival()
    survival.observe(seen(15, 0), True)  # the first tree cannot have survived
    assert survival.share(15) == 0
    survival.observe(seen(15, 15), True)
    assert survival.share(15) == survival.share(31) == 1, "a larger one is taken to survive, too"
    survival.observe(seen(15, 0), True)
    assert survival.share(31) == 0.5
    survival.observe(seen(31, 20, size=20), True)  # not all nodes were worth their rounds
    survival.observe(seen(31, 10, size=20), True)
    assert survival.share(31) == pytest.approx(0.75 * (1 + 0.5) / 2)
    assert survival.share(15) == pytest.approx(0.75 * (1 + 1 + 10 / 15) / 3)
    survival.observe(seen(31, 20, ahead=0, size=20), True)
    assert survival.share(15) == 0, "now they take turns"


def test_answers_begin_and_end_with_trees_that_tell_nothing():
    survival = Survival()
    for _ in range(3):
        survival.begin()
        assert survival.share(15) == 0, "there is nothing yet of the first tree"
        survival.observe(seen(15, 0), True)
        survival.observe(seen(15, 12), True)
        survival.observe(seen(63, 1, size=4), False)
        assert survival.share(15) == pytest.approx(12 / 15)
