"""What the last trees of an answer teach the rule of budgets: they are cut to what is left of the answer, or
of the context, so they bring less than the rule asked for."""

from dataclasses import replace

import numpy as np
import pytest

from engine.decoding.budget import AutoLimits, Overridden
from engine.decoding.gains import told_budget
from engine.decoding.iteration import Iterated, decode
from engine.decoding.verdict import EndedPass, Verdict
from engine.drafting import Drafter, Feedback, Needs, TreeLimits
from engine.model.interface import no_progress
from engine.sampling import Sampler
from engine.tree import TokenTree
from tests.engine.decoding.test_budget import MACHINES, Machine, iterated

CHANCE = 0.93  # of each node to be accepted, if its parent is
LIMITS = {"budget": 63, "depth": 64}
NOTHING = np.empty(0, np.int64)
NO_FEEDBACK = Feedback(NOTHING, NOTHING, np.empty(0, np.float32), {}, NOTHING)


class ChainDrafter(Drafter):
    """Grows the longest chain within the limits, in one round."""

    name, needs, defaults = "chain", Needs(), TreeLimits(63, 16, 64)

    def plant(self, limits):
        self._nodes = np.arange(min(limits.budget, limits.depth))

    def grow(self, rounds, progress):
        return False

    def snapshot(self, budget):
        scores = -(1.0 + self._nodes).astype(np.float32)
        sources = np.ones(len(self._nodes), np.uint8)
        return TokenTree(self._nodes, self._nodes - 1, self._nodes + 1, scores, scores, sources)


class ChanceVerifier:
    """Accepts each node of a chain with a constant chance."""

    def __init__(self, capacity=10**9):
        self.capacity = capacity
        self.random = np.random.default_rng(0)

    def read(self, prompt, drafter, progress):
        return EndedPass(lambda: Verdict([], 0, NO_FEEDBACK, []))

    def launch(self, context, proposal, progress):
        accepted = min(len(proposal.tree), int(self.random.geometric(1 - CHANCE)) - 1)
        return EndedPass(lambda: Verdict(list(range(accepted)), 0, NO_FEEDBACK, []))

    def commit(self, nodes, tokens):
        pass


def answer(verifier, rule, tokens):
    events = decode(verifier, ChainDrafter(), Sampler(), [1], rule, (), tokens, no_progress)
    return [event for event in events if isinstance(event, Iterated)]


def expected_tokens(budget):
    return (1 - CHANCE ** (budget + 1)) / (1 - CHANCE)


def test_the_gain_of_trees_is_learned_alike_from_short_answers_and_long_ones():
    rule, verifier = AutoLimits(TreeLimits(63, 16, 64)), ChanceVerifier()
    learned = []
    for _ in range(200):
        rule.begin()
        answer(verifier, Overridden(rule, LIMITS), 70)
        learned.append([rule.gains.tokens(budget) for budget in (15, 63)])
    found = np.mean(learned[50:], axis=0)  # trees of the last answers tell, so a single figure varies
    assert found == pytest.approx([expected_tokens(15), expected_tokens(63)], rel=0.08)


def test_the_end_of_the_context_teaches_as_little_as_that_of_the_answer():
    rule = AutoLimits(TreeLimits(63, 16, 64))
    learned = []
    for seed in range(100):
        verifier = ChanceVerifier(capacity=100)
        verifier.random = np.random.default_rng(seed)
        rule.begin()
        answer(verifier, Overridden(rule, LIMITS), 10**6)
        learned.append(rule.gains.tokens(63))
    assert np.mean(learned[30:]) == pytest.approx(expected_tokens(63), rel=0.08)


def test_an_iteration_says_what_the_rest_of_the_answer_had_room_for():
    iterations = answer(ChanceVerifier(), Overridden(AutoLimits(TreeLimits(63, 16, 64)), LIMITS), 40)
    left = 40 - 1
    for iteration in iterations:
        assert (iteration.limits.budget, iteration.limits.depth) == (63, 64)
        assert iteration.limited.depth == len(iteration.tree) == left - 1
        left -= len(iteration.tokens)
    assert left == 0


def branched(scores, depths):
    """A tree of which only scores and depths are asked for."""
    scores, nothing = np.array(scores, np.float32), np.zeros(len(scores), np.int64)
    return TokenTree(nothing, nothing - 1, np.array(depths), scores, scores, nothing.astype(np.uint8))


@pytest.mark.parametrize(
    ("limited", "told"),
    [
        (TreeLimits(7, 4, 9), 7),  # nothing was cut
        (TreeLimits(5, 4, 9), 5),  # the context was full
        (TreeLimits(7, 4, 4), 7),  # no node lies so deep that another could be missing below it
        (TreeLimits(7, 4, 3), 4),  # the fourth best node is the best of depth 3: its children are missing
        (TreeLimits(7, 4, 0), 0),  # one token was left, and no tree
    ],
)
def test_a_cut_tree_tells_of_budgets_within_its_whole_part(limited, told):
    chosen = TreeLimits(7, 4, 9)
    tree = (
        branched([-1, -5, -2, -4, -3, -6, -7], [1, 1, 2, 3, 2, 2, 3]) if limited.depth else branched([], [])
    )
    iteration = iterated(chosen, tree, [], 0.1, 0.1, 1, limited)
    assert told_budget(iteration) == told


def test_a_pass_of_one_row_at_the_end_is_not_taken_for_one_of_a_tree():
    """Its time would make every tree look as cheap as plain decoding."""

    def budgets(ends):
        rule, machine, found = (
            AutoLimits(TreeLimits(15, 16, 32)),
            Machine(*MACHINES["an expensive draft"]),
            [],
        )
        for _ in range(60):
            found.append(machine.iterate(rule).budget)
            if ends:
                limits = rule.choose()
                limited = replace(limits, depth=0)
                rule.observe(iterated(limits, TokenTree.empty(), [], 0.0, machine.pass_s(1), 0, limited))
        return found[20:]

    assert np.median(budgets(ends=True)) == np.median(budgets(ends=False))
