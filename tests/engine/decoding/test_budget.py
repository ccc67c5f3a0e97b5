"""AutoLimits on simulated machines, whose cost curves and acceptance determine the best limits."""

from types import SimpleNamespace

import numpy as np
import pytest

from engine.decoding.ahead import GrowingAhead
from engine.decoding.budget import PLAIN, AutoLimits, FixedLimits
from engine.decoding.gains import BUDGETS, Gains
from engine.decoding.iteration import Iterated
from engine.drafting import TreeLimits
from engine.tree import TokenTree

START = TreeLimits(64, 16, 32)


def iterated(limits, tree, accepted, draft_s, target_s, rounds, limited=None):
    """An iteration in the middle of an answer, unless `limited` says what it had room for."""
    return Iterated(
        limits=limits,
        limited=limited or limits,
        tree=tree,
        accepted=accepted,
        tokens=[0] * (len(accepted) + 1),
        draft_s=draft_s,
        target_s=target_s,
        other_s=0.0,
        rounds=rounds,
        log_probs=[],
    )


class Machine:
    """A simulated machine. round_s(beams), pass_s(rows): seconds. ranks: factors by which the rank of the
    next accepted node may exceed that of the one before."""

    def __init__(self, round_s, pass_s, ranks, noise=0.05, seed=0):
        self.round_s, self.pass_s, self.ranks, self.noise = round_s, pass_s, ranks, noise
        self._random = np.random.default_rng(seed)

    def rounds(self, limits):
        return limits.budget and max(6, -(-limits.budget // limits.beams))

    def seconds(self, limits):
        return self.rounds(limits) * self.round_s(limits.beams), self.pass_s(1 + limits.budget)

    def accepted(self, budget):
        """Return the ranks of accepted nodes: each is the previous one times a random factor, up to the
        tree's size."""
        found, rank = [], 0.0
        while True:
            rank = (rank + 1) * self.ranks[self._random.integers(len(self.ranks))]
            if rank >= budget:
                return found
            found.append(int(rank))

    def tokens_per_pass(self, budget, tries=1500):
        """Return the mean over so many tries: of the nodes that `accepted` finds, and the bonus token."""
        ranks, tokens = np.zeros(tries), np.ones(tries)
        while (ranks < budget).any():  # ranks only grow
            ranks = (ranks + 1) * self._random.choice(self.ranks, tries)
            tokens += ranks < budget
        return tokens.mean()

    def iterate(self, rule):
        limits = rule.choose()
        draft_s, pass_s = (s * self._random.uniform(1, 1 + self.noise) for s in self.seconds(limits))
        budget = limits.budget
        nodes = np.arange(budget)
        tree = TokenTree(
            nodes, nodes - 1, np.minimum(nodes + 1, 6), *(-nodes.astype(np.float32),) * 2,
            np.ones(budget, np.uint8),
        )  # fmt: skip
        ranks = self.accepted(budget)
        rounds = self.rounds(limits)
        rule.observe(iterated(limits, tree, ranks, draft_s, pass_s, rounds))
        return limits

    def best(self, beams=None):
        """Return (seconds per token, budget) of the best limits."""

        def cost(budget):
            choices = [beams] if beams else [4, 8, 16, 32, 64, 128]
            seconds = min(sum(self.seconds(TreeLimits(budget, b, 32))) for b in choices)
            return seconds / self.tokens_per_pass(budget)

        return min((cost(budget), budget) for budget in (PLAIN, *BUDGETS))

    def cost(self, limits):
        return sum(self.seconds(limits)) / self.tokens_per_pass(limits.budget)


MACHINES = {
    "bound by the link": (lambda b: 0.01 + 1e-4 * b, lambda r: max(1.0, 0.001 * r), [1, 1.2, 2, 4]),
    "bound by computation": (lambda b: 0.02 + 0.002 * b, lambda r: 0.1 + 0.02 * r, [1, 1.2, 2, 4]),
    "an expensive draft": (lambda b: 0.2 + 0.001 * b, lambda r: 0.5 + 0.001 * r, [1, 1.5, 3]),
    "a bad draft": (lambda b: 0.01 + 1e-4 * b, lambda r: 0.2 + 0.004 * r, [3, 8, 40]),
    "a fast target": (lambda b: 1e-4, lambda r: 0.002 + 0.0006 * r, [1, 3, 30]),
    "drafting that never pays": (lambda b: 0.001, lambda r: 0.003 + 0.002 * r, [2, 30, 300]),
}


@pytest.mark.parametrize("name", MACHINES)
def test_limits_approach_the_best_within_a_few_iterations(name):
    machine = Machine(*MACHINES[name])
    rule = AutoLimits(START)
    limits = [machine.iterate(rule) for _ in range(60)]
    best, budget = machine.best()
    late = np.mean([machine.cost(each) for each in limits[20:]])
    print(name, best, budget, late, [each.budget for each in limits])
    assert late < 1.15 * best, f"best is {budget}, used {[each.budget for each in limits[20:]]}"


class Chain:
    """A draft whose guesses are right with a constant chance, one guess per round; a pass takes `pass_s` for
    any tree."""

    def __init__(self, chance, round_s, pass_s, modesty):
        """modesty: the exponent that turns the drafter's estimate of its chance into the true chance."""
        self.chance, self.round_s, self.pass_s = chance, round_s, pass_s
        self.estimate = chance ** (1 / modesty)
        self._random = np.random.default_rng(0)

    def iterate(self, rule):
        limits = rule.choose()
        depth = 1
        while depth < min(limits.depth, limits.budget) and self.estimate**depth >= limits.worth:
            depth += 1
        accepted = min(depth, int(self._random.geometric(1 - self.chance)) - 1)
        nodes = np.arange(depth)
        scores = ((nodes + 1) * np.log(self.estimate)).astype(np.float32)
        tree = TokenTree(nodes, nodes - 1, nodes + 1, scores, scores, np.ones(depth, np.uint8))
        rule.observe(iterated(limits, tree, list(range(accepted)), depth * self.round_s, self.pass_s, depth))
        return depth

    def cost(self, depth):
        """Return seconds per token."""
        return (depth * self.round_s + self.pass_s) / sum(self.chance**level for level in range(depth + 1))


@pytest.mark.parametrize("modesty", [1.0, 0.5, 1.5])
@pytest.mark.parametrize(
    ("chance", "round_s", "pass_s"),
    [(0.6, 0.01, 0.03), (0.8, 0.01, 0.03), (0.6, 0.01, 1.0), (0.9, 0.001, 1.0)],
)
def test_a_tree_grows_as_deep_as_is_profitable(chance, round_s, pass_s, modesty):
    chain, rule = Chain(chance, round_s, pass_s, modesty), AutoLimits(START)
    late = [chain.cost(chain.iterate(rule)) for _ in range(120)][60:]
    best = min(map(chain.cost, range(1, 33)))
    assert np.mean(late) < 1.08 * best


def test_limits_follow_a_change_of_the_machine():
    rule = AutoLimits(START)
    for name in ("bound by the link", "bound by computation", "bound by the link"):
        machine = Machine(*MACHINES[name], seed=1)
        limits = [machine.iterate(rule) for _ in range(70)]
        best, budget = machine.best()
        late = np.mean([machine.cost(each) for each in limits[40:]])
        print(name, best, budget, late, [each.budget for each in limits])
        assert late < 1.2 * best


def test_without_a_gain_there_is_no_tree_and_its_return_is_noticed():
    rule = AutoLimits(START)
    useless = Machine(*MACHINES["drafting that never pays"])
    budgets = [useless.iterate(rule).budget for _ in range(120)][40:]
    assert budgets.count(PLAIN) > 0.8 * len(budgets)
    assert set(budgets) == {PLAIN, BUDGETS[0]}, "now and then a small tree"
    useful = Machine(lambda b: 0.001, lambda r: 0.02 + 1e-4 * r, [1, 1.2, 2])
    budgets = [useful.iterate(rule).budget for _ in range(60)]
    assert min(budgets[30:]) > BUDGETS[0]


def fired(rows, experts=128, chosen=8, same=0.6):
    """The experts that a pass of so many rows uses in a layer, if each row takes over a share of the choices
    of the row before."""
    return experts * (1 - (1 - chosen / experts) ** (1 + (rows - 1) * (1 - same)))


@pytest.mark.parametrize("ranks", [[1, 1.2, 2, 4], [1, 3, 30], [3, 8, 40], [2, 30, 300]], ids=str)
@pytest.mark.parametrize("expert_s", [0.0005, 0.005, 0.05], ids=["in RAM", "fast disk", "slow disk"])
def test_a_mixture_gets_small_trees_where_rows_are_dear_and_none_where_none_pays(ranks, expert_s):
    def pass_s(rows):
        return 0.03 + 0.0005 * rows + expert_s * fired(rows)

    machine = Machine(lambda beams: 0.005, pass_s, ranks)
    rule = AutoLimits(START, predicted=lambda budget: pass_s(1 + budget))
    late = [machine.iterate(rule).budget for _ in range(90)][30:]
    seconds = sum(sum(machine.seconds(TreeLimits(budget, 16, 32))) for budget in late)
    tokens = sum(machine.tokens_per_pass(budget) for budget in late)
    plain, (_, best) = machine.cost(TreeLimits(PLAIN, 16, 32)), machine.best()
    assert seconds / tokens < 1.05 * plain  # now and then, a small tree is tried
    assert np.median(late) <= 2 * best + 7
    if expert_s > 0.0005:
        assert max(late) <= 7


def gpt_oss(rows):
    """Seconds of a pass whose rows share 30 % of their 4 of 32 experts with the row before."""
    return 0.012 + 0.0003 * rows + 0.0075 * fired(rows, 32, 4, 0.3) / 4


def olmoe(rows):
    """The same of 8 of 64 experts, with rows that share nothing."""
    return 0.01 + 0.0003 * rows + 0.024 * fired(rows, 64, 8, 0.0) / 8


def lost(machine, limits):
    """The time that iterations took beyond that of plain decoding of as many tokens, in its iterations."""
    plain_s = machine.pass_s(1)
    tokens = {each.budget: machine.tokens_per_pass(each.budget) for each in limits}
    return sum(sum(machine.seconds(each)) / plain_s - tokens[each.budget] for each in limits)


@pytest.mark.parametrize("start", [3, 15])
@pytest.mark.parametrize(("pass_s", "most"), [(gpt_oss, 0.015), (olmoe, 0.02)])
def test_trees_cost_a_mixture_next_to_nothing_where_nothing_can_be_guessed(pass_s, most, start):
    machine = Machine(lambda beams: 0.0002, pass_s, [1e9])
    rule = AutoLimits(TreeLimits(start, 16, 32), predicted=lambda budget: pass_s(1 + budget))
    limits = [machine.iterate(rule) for _ in range(500)]
    trials = [place for place, each in enumerate(limits) if each.budget]
    assert lost(machine, limits) < most * 500
    rests = np.diff([place for place in trials if place > 4])
    assert (rests[1:] > 1.7 * rests[:-1]).all(), "each trial is rarer than the one before"
    assert trials[-1] > 100, "but there is another one"


def test_short_answers_begin_with_one_small_tree_after_one_without():
    machine = Machine(lambda beams: 0.0002, gpt_oss, [1e9])
    rule = AutoLimits(TreeLimits(15, 16, 32), predicted=lambda budget: gpt_oss(1 + budget))
    limits = []
    for _ in range(5):
        rule.begin()
        limits += [machine.iterate(rule) for _ in range(100)]
        assert limits[-100].budget, "this text may be another"
    assert [each.budget for each in limits[-100:-98]] == [BUDGETS[0], PLAIN]
    assert lost(machine, limits) < 0.025 * 500


@pytest.mark.parametrize("ranks", [[1e9], [2, 30, 300]], ids=["nothing accepted", "little accepted"])
@pytest.mark.parametrize(
    "predicted", [lambda budget: 1.0, lambda budget: 1 + 0.01 * budget], ids=["no", "wrong"]
)
def test_plain_decoding_is_tried_where_a_prediction_flatters_trees(ranks, predicted):
    machine = Machine(lambda beams: 0.0002, gpt_oss, ranks)
    rule = AutoLimits(TreeLimits(7, 16, 32), predicted=predicted)
    budgets = [machine.iterate(rule).budget for _ in range(100)]
    assert budgets[20:].count(PLAIN) > 0.85 * 80


def test_no_tree_tells_of_passes_without_one():
    gains, largest = Gains(), BUDGETS[-1]
    gains.learn(SimpleNamespace(tree=SimpleNamespace(scores=-np.arange(largest)), accepted=[0]), largest)
    assert [gains.trees(budget) for budget in (1, largest, PLAIN)] == [1, 1, 0]


def test_where_trees_pay_plain_decoding_is_tried_once_at_most():
    for ranks in ([1, 1.2, 2], [1, 1.2, 2, 4]):
        machine = Machine(lambda beams: 0.0002, gpt_oss, ranks)
        rule = AutoLimits(TreeLimits(15, 16, 32), predicted=lambda budget: gpt_oss(1 + budget))
        budgets = [machine.iterate(rule).budget for _ in range(200)]
        assert budgets.count(PLAIN) <= 1


@pytest.mark.parametrize("accepted", [1, 7])
def test_a_round_in_turn_must_promise_its_cost_on_the_scale_of_the_drafters_chances(accepted):
    """If far more nodes are accepted than their chances say, a small sum of chances is worth a round."""
    depths = np.arange(1, 8)
    tree = SimpleNamespace(depths=depths, scores=depths * np.log(0.5))
    tokens = list(range(accepted + 1))
    times = {"draft_s": 0.4, "target_s": 1.2, "other_s": 0.0}
    rule = GrowingAhead(FixedLimits(TreeLimits(64, 16, 8)))
    work = {"rounds": 4, "expanded": 64}
    rule.observe(SimpleNamespace(tokens=tokens, accepted=tokens[1:], tree=tree, **work, **times))
    cost = 0.1 * len(tokens) / 1.6
    worth = rule.choose().worth
    assert worth < cost**3 if accepted == 7 else worth == pytest.approx(cost, rel=0.2)
