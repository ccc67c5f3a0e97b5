"""What growing ahead costs the target: it is learned, and growth ends where it is more than is saved. Time is
that of a scripted clock."""

from statistics import mean, median
from types import SimpleNamespace

import pytest

from engine.decoding import iteration
from engine.decoding.ahead import GrowingAhead, Payoff
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


def observed(slowdown, target_s, rounds, size=8):
    slowdown.observe(iterated(TreeLimits(size, 4, 6), 0, target_s, chain(0.5, size), rounds))


def test_a_round_costs_what_it_adds_to_a_pass_over_a_tree_of_the_same_size():
    slowdown = Slowdown()
    observed(slowdown, 0.5, 0)
    observed(slowdown, 2.5, 0, size=64)
    for _ in range(ENOUGH):
        assert slowdown.round_s == 0, "not known yet"
        observed(slowdown, 0.9, 4)
    assert slowdown.round_s == pytest.approx(0.1)
    observed(slowdown, 9.9, 4)  # an outlier
    assert slowdown.round_s == pytest.approx(0.1)
    slowdown.forget()
    assert slowdown.round_s == 0
    for _ in range(ENOUGH):
        observed(slowdown, 0.7, 4)
    assert slowdown.round_s == pytest.approx(0.05)


def test_rounds_beside_which_passes_are_shorter_cost_nothing():
    slowdown = Slowdown()
    observed(slowdown, 0.5, 0)
    for _ in range(ENOUGH):
        observed(slowdown, 0.4, 4)
    assert slowdown.round_s == 0


class ScriptedClock:
    """The time of a draft and a target, whose passes take longer by `slowed_s` for each round beside them."""

    def __init__(self, slowed_s):
        self.now, self.slowed_s = 0.0, slowed_s
        self.beside = None  # layers of the draft beside the pass that runs; None: there is none
        self.link = SimpleNamespace(waited_s=0.0, idle_s=0.0)

    def perf_counter(self):
        return self.now

    def on_layer(self, done, total):
        if self.beside is None:
            self.now += ROUND_S / LAYERS
        else:
            self.beside += 1

    def end(self):
        if self.beside is not None:
            self.now += PASS_S + self.slowed_s * self.beside / LAYERS
            self.link.waited_s += 0.5
            self.link.idle_s += 0.5
        self.beside = None


class TimedPass(ScriptedPass):
    clock: ScriptedClock

    def verdict(self):
        self.clock.end()
        return super().verdict()


def rounds_ahead(monkeypatch, slowed_s):
    """Return the number of rounds beside each tree's pass that may have had some, of three short answers."""
    clock, found = ScriptedClock(slowed_s), []
    monkeypatch.setattr(iteration.time, "perf_counter", clock.perf_counter)
    monkeypatch.setattr(specexec, "AHEAD_BEAMS", 2)
    monkeypatch.setattr(TimedPass, "clock", clock, raising=False)
    payoff = Payoff(clock.link)
    for seed in range(3):
        target, drafter = pair("apart", 0.7, seed)
        drafter.sequence.model.on_layer = clock.on_layer
        verifier = ScriptedVerifier(target, Sampler(), [ROUNDS * ASKED] * 100)
        verifier.kind = TimedPass
        launch = verifier.launch

        def launched(*arguments, launch=launch):
            clock.beside = 0
            return launch(*arguments)

        verifier.launch = launched
        rule = GrowingAhead(FixedLimits(TreeLimits(6, 2, 3)), payoff)
        tokens, iterations = answer(verifier, drafter, Sampler(), None, rule=rule)
        assert tokens == plain(Sampler(), seed)
        found += [each.rounds_ahead for each in iterations[:-3] if each.limits.ahead]
    return found


def test_growth_ends_where_it_costs_the_target_more_than_later_rounds_are_saved(monkeypatch):
    """What a round ahead may cost at most falls with its nodes' chances, and these from round to round."""
    free, cheap, dear = (rounds_ahead(monkeypatch, ROUND_S * share) for share in (0, 0.03, 0.3))
    assert min(free) > ROUNDS - 3
    assert cheap[:ENOUGH] == dear[:ENOUGH] == [ROUNDS] * ENOUGH, "what they cost was not known yet"
    assert 0.2 * ROUNDS < mean(cheap[ENOUGH:]) < 0.6 * ROUNDS
    assert median(dear[ENOUGH:]) == 0
    assert dear[LAST:].count(ROUNDS) == ENOUGH, "as many are tried again as it takes to know"
