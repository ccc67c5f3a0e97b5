"""What growing ahead costs the target: it is learned, and growth ends where it is more than is saved. Time is
that of a scripted clock."""

from statistics import mean, median
from types import SimpleNamespace

import pytest

from engine.decoding import iteration
from engine.decoding.ahead import STALE, GrowingAhead, Payoff
from engine.decoding.budget import FixedLimits
from engine.decoding.slowdown import ENOUGH, LAST, Slowdown
from engine.drafting import TreeLimits, specexec
from engine.sampling import Sampler
from tests.engine.decoding.paths import LAYERS
from tests.engine.decoding.test_ahead import ASKED, ScriptedPass, ScriptedVerifier, answer, pair, plain
from tests.engine.decoding.test_payoff import chain, iterated

PASS_S = 1.0  # of the target, without a draft beside it
ROUND_S = 0.1  # of the draft, in turn
ROUNDS = 30  # that a pass has time for
TICK_S = 1e-9  # that pass between two looks at the clock
BESIDE_S = 0.9 * PASS_S / ROUNDS  # of a round beside it


def observed(slowdown, target_s, rounds, size=8, cut_s=0.0):
    """Observe a pass with so many whole rounds of 0.05 s, and a part of one that was cut off."""
    slowdown.observe(
        iterated(
            TreeLimits(size, 4, 6), 0, target_s, chain(0.5, size),
            ahead_s=0.05 * rounds + cut_s, rounds_ahead=rounds, rounds_ahead_s=0.05 * rounds,
        )
    )  # fmt: skip


def test_a_round_costs_what_it_adds_to_a_pass_over_a_tree_of_the_same_size():
    slowdown = Slowdown(STALE)
    observed(slowdown, 0.5, 0)
    observed(slowdown, 2.5, 0, size=64)
    for _ in range(ENOUGH):
        assert slowdown.round_s == 0, "not known yet"
        observed(slowdown, 0.9, 4)
    assert slowdown.round_s == pytest.approx(0.1)
    observed(slowdown, 9.9, 4)  # an outlier
    assert slowdown.round_s == pytest.approx(0.1)
    for _ in range(STALE):
        observed(slowdown, 0.5, 0)
    assert slowdown.round_s == 0
    for _ in range(ENOUGH):
        observed(slowdown, 0.7, 4)
    assert slowdown.round_s == pytest.approx(0.05)


def test_passes_without_rounds_are_forgotten_too():
    """Passes become longer with the text, which is not what rounds cost."""
    slowdown = Slowdown(STALE)
    observed(slowdown, 0.5, 0)
    for _ in range(STALE):
        observed(slowdown, 0.9, 4)
    assert slowdown.round_s == 0
    observed(slowdown, 0.8, 0)
    assert slowdown.round_s == pytest.approx(0.025)


def test_a_round_that_is_cut_off_slows_a_pass_as_far_as_it_came():
    slowdown = Slowdown(STALE)
    observed(slowdown, 0.5, 0)
    for _ in range(ENOUGH):
        observed(slowdown, 0.5 + 1.9 * 0.1, 1, cut_s=0.9 * 0.05)
    assert slowdown.round_s == pytest.approx(0.1)


def test_where_every_round_is_cut_off_it_costs_at_least_what_its_longest_part_does():
    slowdown = Slowdown(STALE)
    observed(slowdown, 0.5, 0)
    for cut_s in (0.02, 0.04):
        observed(slowdown, 0.5 + 2 * cut_s, 0, cut_s=cut_s)
    assert slowdown.round_s == pytest.approx(2 * 0.04)


def test_passes_that_cut_off_their_first_round_do_not_tell_how_long_others_take():
    """They are the shortest: in longer ones, there would have been time for the round."""
    slowdown = Slowdown(STALE)
    for _ in range(ENOUGH):
        observed(slowdown, 0.9, 4)
        observed(slowdown, 0.3, 0, cut_s=0.001)
    assert slowdown.round_s == 0
    observed(slowdown, 0.5, 0)
    assert slowdown.round_s == pytest.approx(0.1)


def test_rounds_beside_which_passes_are_shorter_cost_nothing():
    slowdown = Slowdown(STALE)
    observed(slowdown, 0.5, 0)
    for _ in range(ENOUGH):
        observed(slowdown, 0.4, 4)
    assert slowdown.round_s == 0


class ScriptedClock:
    """The time of a draft and a target, whose passes take longer by `slowed_s` for each round beside them."""

    def __init__(self, slowed_s):
        self.now, self.slowed_s, self.launched = 0.0, slowed_s, 0.0
        self.beside = None  # layers of the draft beside the pass that runs; None: there is none
        self.link = SimpleNamespace(waited_s=0.0, idle_s=0.0)

    def perf_counter(self):
        self.now += TICK_S
        return self.now

    def on_layer(self, done, total):
        if self.beside is None:
            self.now += ROUND_S / LAYERS
        else:
            self.beside += 1
            self.now += BESIDE_S / LAYERS

    def launch(self):
        self.beside, self.launched = 0, self.now

    def end(self):
        if self.beside is not None:
            self.now = self.launched + PASS_S + self.slowed_s * self.beside / LAYERS
            self.link.waited_s += 0.5
            self.link.idle_s += 0.5
        self.beside = None


class TimedPass(ScriptedPass):
    clock: ScriptedClock

    def verdict(self):
        self.clock.end()
        return super().verdict()


def answers(monkeypatch, slowed_s, rounds=ROUNDS):
    """Return the iterations of three short answers, without the last ones of each, and what they have shown.
    rounds: for how many each pass has time."""
    clock, found = ScriptedClock(slowed_s), []
    monkeypatch.setattr(iteration.time, "perf_counter", clock.perf_counter)
    monkeypatch.setattr(specexec, "AHEAD_BEAMS", 2)
    monkeypatch.setattr(TimedPass, "clock", clock, raising=False)
    payoff = Payoff(clock.link)
    for seed in range(3):
        target, drafter = pair("apart", 0.7, seed)
        drafter.sequence.model.on_layer = clock.on_layer
        verifier = ScriptedVerifier(target, Sampler(), [int(rounds * ASKED)] * 100)
        verifier.kind = TimedPass
        launch = verifier.launch

        def launched(*arguments, launch=launch):
            clock.launch()
            return launch(*arguments)

        verifier.launch = launched
        rule = GrowingAhead(FixedLimits(TreeLimits(6, 2, 3)), payoff)
        tokens, iterations = answer(verifier, drafter, Sampler(), None, rule=rule)
        assert tokens == plain(Sampler(), seed)
        found += iterations[:-3]
    return found, payoff


def rounds_ahead(monkeypatch, slowed_s):
    """Return the number of rounds beside each tree's pass that may have had some."""
    iterations, _ = answers(monkeypatch, slowed_s)
    return [each.rounds_ahead for each in iterations if each.limits.ahead]


def test_growth_ends_where_it_costs_the_target_more_than_later_rounds_are_saved(monkeypatch):
    """What a round ahead may cost at most falls with its nodes' chances, and these from round to round."""
    free, cheap, dear = (rounds_ahead(monkeypatch, ROUND_S * share) for share in (0, 0.03, 0.3))
    assert min(free) > ROUNDS - 3
    assert cheap[:ENOUGH] == dear[:ENOUGH] == [ROUNDS] * ENOUGH, "what they cost was not known yet"
    assert 0.2 * ROUNDS < mean(cheap[ENOUGH:]) < 0.6 * ROUNDS
    assert median(dear[ENOUGH:]) == 0
    assert dear[LAST:].count(ROUNDS) == ENOUGH, "as many are tried again as it takes to know"


@pytest.mark.parametrize("rounds", [0.9, 1.9, 5])
def test_what_a_round_costs_is_known_where_passes_cut_it_off(monkeypatch, rounds):
    """1.9 rounds take as long as two: behind its layers, a round of this draft takes no time."""
    slowed_s = 0.01 * ROUND_S
    iterations, payoff = answers(monkeypatch, slowed_s, rounds)
    assert {each.rounds_ahead for each in iterations if each.limits.ahead} <= set(range(int(rounds) + 1))
    assert payoff.slowed_s == pytest.approx(slowed_s)


def test_a_pass_beside_which_no_round_was_worth_its_time_counts_as_one_without_a_draft(monkeypatch):
    iterations, _ = answers(monkeypatch, 0.3 * ROUND_S)
    ended = [each for each in iterations if each.limits.ahead and not each.rounds_ahead]
    assert ended
    assert not any(each.ahead_s for each in ended)


def test_nodes_that_are_expanded_in_turn_are_counted(monkeypatch):
    """The first round of a new tree expands its root alone, and the last one may expand less than it may."""
    slowed_s = 0.01 * ROUND_S
    iterations, payoff = answers(monkeypatch, slowed_s, 5)
    for each in iterations:
        most = each.rounds * each.limits.beams
        assert each.expanded <= (most if each.survivors else most - each.limits.beams + 1)
        assert each.expanded >= each.rounds
    rule = GrowingAhead(FixedLimits(TreeLimits(6, 2, 3)), payoff)
    for each in iterations[-LAST:]:
        rule.observe(each)
    nodes, seconds = (
        sum(getattr(each, name) for each in iterations[-LAST:]) for name in ("expanded", "draft_s")
    )
    assert payoff.pays
    assert rule.choose().worth_ahead == pytest.approx(payoff.slowed_s * nodes / seconds)
