"""When drafts go on while the target verifies: where they can, and where measuring shows that it pays."""

from types import SimpleNamespace

import numpy as np
import pytest

from engine.bench.simulation.clock import VirtualClock
from engine.bench.simulation.model import SizedMatrix
from engine.checkpoints import Span
from engine.decoding.ahead import (
    LAST,
    SHARE,
    STALE,
    GrowingAhead,
    Payoff,
    ahead_rule,
    hindrance,
)
from engine.decoding.budget import FixedLimits
from engine.decoding.iteration import Iterated
from engine.drafting import TreeLimits
from engine.drafting.none import NoDrafter
from engine.drafting.pld import PromptLookupDrafter
from engine.drafting.sps import SpsDrafter
from engine.formats import format_named
from engine.model.sequence import Sequence
from engine.streaming import Streamer, WeightLimits
from engine.streaming.chunks import StoredMatrix
from engine.tree import TokenTree
from tests.engine.decoding.paths import VOCABULARY, PathModel
from tests.engine.decoding.test_ahead import CAPACITY, DRAFTS, pair


def rule_for(overlap, drafter, model, is_moving=False):
    return ahead_rule(overlap, drafter, model, FixedLimits(TreeLimits(8, 4, 6)), {}, is_moving)


def streamed(device="cpu", nbytes=1, runs_apart=True):
    return SimpleNamespace(
        device=device,
        runs_apart=runs_apart,
        streamer=SimpleNamespace(pass_nbytes=nbytes, waited_s=0, idle_s=0),
    )


def test_only_drafters_that_can_draft_ahead_do():
    rejecting = SpsDrafter(Sequence(PathModel(), CAPACITY), VOCABULARY)
    growing = pair()[1]
    for draft in DRAFTS:
        assert rule_for("on", pair(draft)[1], streamed()).choose().ahead
    for drafter in (rejecting, NoDrafter(), PromptLookupDrafter()):
        assert rule_for("on", drafter, streamed()) is None
        assert hindrance(drafter, streamed()) == "drafter"
    assert rule_for("off", growing, streamed()) is None
    on_card = streamed("cuda")
    assert rule_for("on", growing, on_card).choose().ahead
    assert rule_for("auto", growing, on_card) is None, "the plan does not say that moving bytes is the bound"


@pytest.mark.parametrize(
    ("target", "why"),
    [
        (streamed("cuda", runs_apart=False), "card"),
        (streamed(nbytes=0), "memory"),
        (PathModel(), "memory"),
    ],
    ids=["recorded", "all resident", "no streamer"],
)
@pytest.mark.parametrize("overlap", ["on", "auto"])
def test_beside_a_target_that_lets_nothing_run_beside_it_a_draft_takes_its_turn(overlap, target, why):
    growing = pair()[1]
    assert hindrance(growing, target) == why
    assert rule_for(overlap, growing, target) is None


@pytest.mark.parametrize(("beside_s", "is_quicker"), [(-0.05, True), (0.05, False)])
def test_auto_tries_both_ways_on_a_card_where_moving_bytes_is_the_bound(beside_s, is_quicker):
    """Nothing tells there for how long the link stands still."""
    rule = rule_for("auto", pair()[1], streamed("cuda"), is_moving=True)
    ahead = [bool(each) for each in TimedLink(*[(0.0, 0.0)] * 40).run(rule, beside_s=beside_s)]
    assert ahead[: 2 * LAST] == [True] * LAST + [False] * LAST
    assert set(ahead[2 * LAST :]) == {is_quicker}


def test_auto_leaves_a_card_alone_that_moves_nothing():
    resident = SimpleNamespace(device="cuda", runs_apart=True, streamer=None)
    assert rule_for("auto", pair()[1], resident, is_moving=True) is None


def test_a_target_on_a_card_may_have_all_its_weights_there():
    assert hindrance(pair()[1], streamed("cuda", nbytes=0)) is None


MANY_MORE = 8 * SHARE  # nodes ahead, of trees of 8


class TimedLink:
    """The link of iterations of a second each: for how long the target waited, and the link stood still."""

    def __init__(self, *iterations):
        self.iterations, self.waited_s, self.idle_s = iterations, 5.0, 7.0

    def run(self, rule, survivors=0, beside_s=0.0):
        """Return by how many nodes each tree may grow ahead, and the tree after them. beside_s: seconds by
        which iterations in which it may are longer than others."""
        ahead = []
        for waited, idle in self.iterations:
            limits = rule.choose()
            ahead.append(limits.ahead)
            self.waited_s += waited
            self.idle_s += idle
            rule.observe(iterated(limits, survivors, 0.6 + beside_s * bool(limits.ahead)))
        return [*ahead, rule.choose().ahead]


def iterated(limits, survivors, target_s, tree=None, **more):
    tree = tree or TokenTree.empty()
    return Iterated(
        limits=limits,
        limited=limits,
        tree=tree,
        accepted=[],
        tokens=[1],
        draft_s=0.3,
        target_s=target_s,
        other_s=0.1,
        rounds=2,
        log_probs=[],
        survivors=survivors,
        **more,
    )


@pytest.mark.parametrize(
    ("iterations", "ahead"),
    [
        (
            [(0.4, 0.2)] * 3,
            [0, MANY_MORE, MANY_MORE, MANY_MORE],
        ),  # the link stands still, and the target waits for it later
        ([(0.4, 0.0)] * 3, [0, 0, 0, 0]),  # the link never stands still
        ([(0.0, 0.2)] * 3, [0, 0, 0, 0]),  # the target never waits
        ([(0.4, 0.2)] + [(0.4, 0.0)] * 3, [0, MANY_MORE, MANY_MORE, 0, 0]),  # the disk has become slower
    ],
)
def test_trees_grow_ahead_where_time_can_be_won(iterations, ahead):
    link = TimedLink(*iterations)
    assert link.run(GrowingAhead(FixedLimits(TreeLimits(8, 4, 6)), Payoff(link))) == ahead


def test_iterations_whose_tree_survived_do_not_tell_what_taking_turns_costs():
    link = TimedLink((0.4, 0.2))
    rule = GrowingAhead(FixedLimits(TreeLimits(8, 4, 6)), Payoff(link))
    assert link.run(rule) == [0, MANY_MORE]
    link.iterations = [(0.4, 0.0)] * 7  # won already: the draft no longer takes its turn
    assert set(link.run(rule, survivors=5)) == {MANY_MORE}


def test_nor_do_they_where_the_next_tree_does_not_grow_ahead():
    link = TimedLink(*[(0.4, 0.2)] * (1 + LAST))
    rule = GrowingAhead(FixedLimits(TreeLimits(8, 4, 6)), Payoff(link))
    assert link.run(rule, beside_s=-0.05)[-1] == 0
    for survivors, then in ((5, 0), (0, MANY_MORE)):
        link.iterations = [(0.4, 0.2)] * (LAST - 1)
        assert link.run(rule, survivors, beside_s=-0.05)[-1] == then


@pytest.mark.parametrize(("beside_s", "is_quicker"), [(-0.05, True), (0.05, False)])
def test_the_quicker_way_is_taken_after_both_were_tried(beside_s, is_quicker):
    """What the draft costs the target may be more than the time that it saves. The other way is tried anew
    from time to time, as texts grow longer and disks warmer."""
    link = TimedLink(*[(0.4, 0.2)] * 200)
    ahead = link.run(GrowingAhead(FixedLimits(TreeLimits(8, 4, 6)), Payoff(link)), beside_s=beside_s)
    assert [bool(each) for each in ahead[:16]] == [False] + [True] * LAST + [False] * (LAST - 1)
    later = [bool(each) for each in ahead[16:]]
    assert 0.8 < later.count(is_quicker) / len(later) < 0.95


def chain(chance, nodes):
    """Return a chain whose nodes promise `chance` tokens each."""
    places, log_chances = np.arange(nodes), np.full(nodes, np.log(chance), np.float32)
    return TokenTree(places, places - 1, places + 1, log_chances, log_chances, np.ones(nodes, np.uint8))


def test_what_counts_is_seconds_per_token_and_not_per_iteration():
    """Small or poor trees take less time, and give fewer tokens."""
    for ahead_s, nodes_ahead, pays in ((0.4, 2, False), (0.8, 16, True)):
        link = SimpleNamespace(waited_s=0.0, idle_s=0.0)
        payoff = Payoff(link)
        rule = GrowingAhead(FixedLimits(TreeLimits(8, 4, 6)), payoff)
        for _ in range(2 * LAST + 1):
            limits = rule.choose()
            link.waited_s += 0.4
            link.idle_s += 0.2
            tree = chain(0.5, nodes_ahead if limits.ahead else 8)
            payoff.observe(iterated(limits, 0, ahead_s if limits.ahead else 0.6, tree))
        assert payoff.pays == pays


class StreamedMixtures:
    """A disk, and a target whose layers have mixtures, in virtual time: each pass chooses other experts."""

    READ_S, COMPUTE_S, DRAFT_S = 0.02, 0.01, 0.3
    LAYERS, EXPERTS, CHOSEN, NBYTES = 4, 16, 3, 4096

    def __init__(self, clock, folder):
        self.clock, self.random = clock, np.random.default_rng(1)
        path, f32 = folder / "weights", format_named("F32")
        self.experts = [
            [SizedMatrix("", (1, self.NBYTES // 4), f32, self.NBYTES) for _ in range(self.EXPERTS)]
            for _ in range(self.LAYERS)
        ]
        stored = [
            StoredMatrix(matrix, (Span(path, 0, self.NBYTES, (self.NBYTES,), "U8"),), (layer, number))
            for layer, experts in enumerate(self.experts)
            for number, matrix in enumerate(experts)
        ]
        limits = WeightLimits(12 * self.NBYTES)
        self.streamer = Streamer(stored, limits, {path: self}, None, clock)
        self.streamer.start(lambda done, total: None)

    def read(self, into, offset, needed):
        self.clock.sleep(self.READ_S)

    def close(self):
        pass

    def run(self):
        for experts in self.experts:
            chosen = [experts[at] for at in self.random.permutation(self.EXPERTS)[: self.CHOSEN]]
            self.streamer.choose(chosen, [chosen])
            for matrix in chosen:
                self.streamer.fetch(matrix)
            self.clock.sleep(self.COMPUTE_S)

    def iterate(self, rule):
        """Draft and verify in turn; return whether the tree might have grown ahead."""
        limits = rule.choose()
        self.clock.sleep(self.DRAFT_S)
        began = self.clock.now()
        self.run()
        rule.observe(iterated(limits, 0, self.clock.now() - began))
        return limits.ahead > 0


def test_auto_tries_both_ways_beside_streamed_mixtures(tmp_path, monkeypatch):
    """While the draft grows a tree, nobody knows what experts the pass will wait for."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    clock = VirtualClock()

    def work():
        target = StreamedMixtures(clock, tmp_path)
        model = SimpleNamespace(device="cpu", runs_apart=True, streamer=target.streamer)
        rule = rule_for("auto", pair()[1], model)
        ways = [target.iterate(rule) for _ in range(2 * LAST)]
        target.streamer.close()
        return ways

    assert clock.run(work) == [False] + [True] * LAST + [False] * (LAST - 1)


def test_a_way_that_has_become_quicker_is_found():
    link = TimedLink(*[(0.4, 0.2)] * (STALE + 2 * LAST))
    rule = GrowingAhead(FixedLimits(TreeLimits(8, 4, 6)), Payoff(link))
    assert not link.run(rule, beside_s=0.05)[-1]
    assert link.run(rule, beside_s=-0.05)[-1]
