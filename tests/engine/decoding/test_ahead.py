"""Drafting ahead: the tokens are those of plain decoding at any timing of the two passes, and nothing is
computed twice."""

from dataclasses import replace
from itertools import cycle
from types import SimpleNamespace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.decoding.ahead import GrowingAhead, Payoff
from engine.decoding.budget import AutoLimits, FixedLimits
from engine.decoding.iteration import Iterated, Prefilled, decode
from engine.decoding.verdict import EndedPass, PassEnded
from engine.decoding.verification import TargetVerifier
from engine.drafting import TreeLimits, draft_rows, specexec
from engine.drafting.merged import MergedDrafter
from engine.drafting.none import NoDrafter
from engine.drafting.pld import PromptLookupDrafter
from engine.drafting.specexec import SpecExecDrafter
from engine.model import shared_rows
from engine.model.interface import Yielding, no_progress
from engine.model.sequence import Sequence
from engine.model.shared_rows import sharing
from engine.sampling import Sampler
from engine.tree import GROWN_AHEAD
from tests.engine.decoding.paths import LAYERS, VOCABULARY, PathModel

CAPACITY = 96
ASKED = LAYERS + 2  # how often a round asks: before each layer, the output head, and the choice of children
PROMPT = [1, 7, 4, 3, 9]
MANY = 10**9


class Stopped(Exception):
    pass


class ScriptedPass(Yielding):
    """A pass that ends when the script says: it holds up a layer of the draft, or it has ended."""

    def __init__(self, inner, layers):
        """layers: number of layers that the draft may run until the pass has ended."""
        self.inner, self.left = inner, layers
        self.beside = self
        self.is_cancelled = False
        self.held_s = 0.0

    @property
    def ready(self):
        return self.left <= 0

    def __call__(self, done, total):
        if self.ready:
            raise PassEnded
        self.left -= 1

    def verdict(self):
        return self.inner.verdict()

    def cancel(self):
        self.is_cancelled = True


class ScriptedVerifier(TargetVerifier):
    """Its passes end after so many layers of the draft; after the last, at once. They write their rows before
    the draft computes, or after that if they are `late`."""

    def __init__(self, target, sampler, script, late=False):
        super().__init__(target, sampler)
        self.script, self.launched, self.kind = list(script), [], ScriptedPass
        self.late = late

    def _launch(self, run, choose, progress):
        if self.late:
            inner = EndedPass(lambda: choose(run(progress)))
        else:
            inner = super()._launch(run, choose, progress)
        self.launched.append(self.kind(inner, self.script.pop(0) if self.script else 0))
        return self.launched[-1]


def answer(verifier, drafter, sampler, limits, most=40, rule=None, progress=no_progress):
    """Return the tokens and the iterations."""
    rule = rule or GrowingAhead(FixedLimits(limits))
    tokens, iterations = [], []
    for event in decode(verifier, drafter, sampler, PROMPT, rule, (), most, progress):
        if isinstance(event, Prefilled):
            tokens.append(event.token)
        elif isinstance(event, Iterated):
            tokens += event.tokens
            iterations.append(event)
            assert len(event.tree) <= event.limits.budget
    return tokens, iterations


PLAIN = {}  # the tokens of plain decoding that were asked for before


def plain(sampler, seed=0, most=40, capacity=CAPACITY):
    asked = repr(sampler), seed, most, capacity
    if asked not in PLAIN:
        verifier = TargetVerifier(Sequence(PathModel(seed), capacity), sampler)
        limits = NoDrafter.defaults
        PLAIN[asked] = answer(verifier, NoDrafter(), sampler, limits, most, FixedLimits(limits))[0]
    return PLAIN[asked]


# With rows of its own, with states, with the rows of its target; and with a lookup drafter beside it.
DRAFTS = ("apart", "merged", "states", "states, merged", "self", "self, merged")


def pair(draft="apart", closeness=0.8, seed=0, capacity=CAPACITY):
    """Return a target's sequence, and a drafter."""
    models = PathModel(seed), PathModel(seed, closeness, has_states=draft.startswith("states"))
    if draft.startswith("self"):
        target, sequence = sharing(*models, capacity)
    else:
        target, sequence = (Sequence(model, capacity) for model in models)
    drafter = SpecExecDrafter(sequence, VOCABULARY, branch=6)
    if draft.endswith("merged"):
        drafter = MergedDrafter("specexec+pld", [drafter, PromptLookupDrafter()])
    return target, drafter


drafts = st.sampled_from(DRAFTS)
samplers = st.sampled_from(
    [
        Sampler(),
        Sampler(seed=3, temperature=0.7),
        Sampler(seed=4, temperature=1.0, top_p=0.9, repetition_penalty=1.2),
    ]
)
every_limit = st.builds(
    TreeLimits,
    budget=st.integers(1, 24),
    beams=st.integers(1, 6),
    depth=st.integers(1, 8),
    worth=st.sampled_from([0.0, 0.1, 0.5]),
    worth_ahead=st.sampled_from([0.0, 0.0, 0.5]),
)
scripts = st.lists(st.one_of(st.integers(0, 40), st.just(MANY)), max_size=40)


@settings(max_examples=60, deadline=None)
@given(
    scripts,
    samplers,
    every_limit,
    st.sampled_from([0.5, 0.8, 1.0]),
    st.integers(0, 20),
    drafts,
    st.booleans(),
)
def test_at_any_timing_the_tokens_are_those_of_plain_decoding(
    script, sampler, limits, closeness, seed, draft, late
):
    target, drafter = pair(draft, closeness, seed)
    found, _ = answer(ScriptedVerifier(target, sampler, script, late), drafter, sampler, limits)
    assert found == plain(sampler, seed)


@settings(max_examples=20, deadline=None)
@given(scripts, st.integers(0, 20), drafts)
def test_limits_that_change_leave_the_tokens_alone(script, seed, draft):
    sampler = Sampler(seed=5, temperature=0.8)
    target, drafter = pair(draft, 0.9, seed)
    rule = GrowingAhead(AutoLimits(TreeLimits(15, 4, 8)))
    verifier = ScriptedVerifier(target, sampler, script)
    assert answer(verifier, drafter, sampler, None, rule=rule)[0] == plain(sampler, seed)


@pytest.mark.parametrize("draft", ["apart", "states", "self"])
@pytest.mark.parametrize("sampler", [Sampler(), Sampler(seed=3, temperature=0.7)], ids=["greedy", "sampled"])
def test_most_trees_survive_and_no_row_of_theirs_is_computed_twice(sampler, draft):
    """A draft that equals its target, and passes during which it grows as far as it may."""
    target, drafter = pair(draft, 1.0)
    tokens, iterations = answer(
        ScriptedVerifier(target, sampler, [MANY] * 100), drafter, sampler, TreeLimits(4, 4, 3)
    )
    assert tokens == plain(sampler)
    survived = [each.survivors > 0 for each in iterations[1:]]
    for each in iterations:
        grown_ahead = (each.tree.sources & GROWN_AHEAD > 0).sum()
        assert grown_ahead == min(each.survivors, len(each.tree)) or (each.rounds and grown_ahead)
    assert sum(survived) > 0.8 * len(survived)
    assert all(each.ahead > 0 for each in iterations[:-3])
    if all(survived):
        computed = drafter.sequence.model.computed
        assert len(set(computed)) == len(computed)


class EverySecond:
    """A rule by which every second tree may grow ahead, and the others have limits of their own."""

    def __init__(self, limits, others):
        self.limits = cycle([replace(limits, ahead=32), others])

    def choose(self):
        return next(self.limits)

    def observe(self, iteration):
        pass


@pytest.mark.parametrize("others", [TreeLimits(4, 4, 3), TreeLimits(0, 4, 3)], ids=["in turn", "no tree"])
@pytest.mark.parametrize("draft", ["apart", "states"])
def test_a_tree_lives_on_even_if_the_next_one_does_not_grow_ahead(draft, others):
    """States cannot go back by one token: begun anew, it would need the text since a savepoint again."""
    target, drafter = pair(draft, 1.0)
    verifier = ScriptedVerifier(target, Sampler(), [MANY] * 100)
    rule = EverySecond(TreeLimits(4, 4, 3), others)
    tokens, iterations = answer(verifier, drafter, Sampler(), None, rule=rule)
    assert tokens == plain(Sampler())
    behind_growth = [each for each in iterations if bool(each.limits.ahead) != bool(others.budget)]
    assert sum(each.survivors > 0 for each in behind_growth) > 2
    computed = drafter.sequence.model.computed
    assert len(set(computed)) == len(computed)


@pytest.mark.parametrize("script", [[], [MANY] * 100], ids=["in turn", "ahead"])
def test_a_draft_with_states_keeps_no_more_records_than_plans_count(script, monkeypatch):
    monkeypatch.setattr(draft_rows, "DROPPED_RECORDS", 2)
    monkeypatch.setattr(draft_rows, "AHEAD_RECORDS_NBYTES", 9)
    target, drafter = pair("states", 0.9)
    cache, kept = drafter.sequence.cache, []
    extend_tail = cache.extend_tail

    def noted(rows):
        extend_tail(rows)
        kept.append(cache.tail)

    monkeypatch.setattr(cache, "extend_tail", noted)
    limits = TreeLimits(8, 8, 6)
    rule = GrowingAhead(FixedLimits(limits)) if script else FixedLimits(limits)
    verifier = ScriptedVerifier(target, Sampler(), script)
    assert answer(verifier, drafter, Sampler(), None, rule=rule)[0] == plain(Sampler())
    assert max(kept) == limits.budget + 2 + (9 if script else 0)


def test_more_trees_survive_if_growth_is_coupled_to_the_targets_noise(monkeypatch):
    """Which token the target will choose is then known before the verdict, as far as the draft is right."""
    monkeypatch.setattr(specexec, "AHEAD_BEAMS", 2)  # time for the likeliest nodes only
    survived = {True: 0, False: 0}
    for coupled in survived:
        for seed in range(6):
            sampler = Sampler(seed=seed, temperature=1.0)
            target, _ = pair()
            draft = Sequence(PathModel(0, 0.9), CAPACITY)
            drafter = SpecExecDrafter(draft, VOCABULARY, branch=6, coupled=coupled)
            verifier = ScriptedVerifier(target, sampler, [2 * ASKED] * 100)
            _, iterations = answer(verifier, drafter, sampler, TreeLimits(3, 2, 3))
            survived[coupled] += sum(each.survivors > 0 for each in iterations) / len(iterations)
    assert survived[True] > 1.5 * survived[False] > 0


def test_the_first_tree_grows_while_the_prompt_is_read():
    target, drafter = pair(closeness=1.0)
    verifier = ScriptedVerifier(target, Sampler(), [MANY])
    tokens, iterations = answer(verifier, drafter, Sampler(), TreeLimits(4, 4, 3))
    assert tokens == plain(Sampler())
    assert iterations[0].survivors > 0
    first = len(PROMPT)
    assert drafter.sequence.model.computed.count(tuple(PROMPT[:first])) == 1


def test_a_draft_with_the_rows_of_its_target_begins_once_the_target_has_read_the_prompt():
    target, drafter = pair("self", 1.0)
    verifier = ScriptedVerifier(target, Sampler(), [MANY] * 2)
    tokens, iterations = answer(verifier, drafter, Sampler(), TreeLimits(4, 4, 3))
    assert tokens == plain(Sampler())
    assert (iterations[0].survivors, iterations[0].ahead > 0) == (0, True)
    assert min(map(len, drafter.sequence.model.computed)) > len(PROMPT)


def test_a_draft_beside_its_target_grows_no_further_than_there_is_room(monkeypatch):
    monkeypatch.setattr(shared_rows, "OWN_ROWS", 9)
    target, drafter = pair("self", 1.0)
    verifier = ScriptedVerifier(target, Sampler(), [MANY] * 100)
    in_turn = TreeLimits(2, 1, 1)  # takes one row
    tokens, iterations = answer(verifier, drafter, Sampler(), in_turn)
    assert tokens == plain(Sampler())
    assert any(each.survivors for each in iterations)


def test_a_draft_that_has_not_read_the_prompt_in_time_reads_it_in_turn():
    class Late(ScriptedPass):
        @property
        def ready(self):
            return self.begun and super().ready

        begun = False

        def __call__(self, done, total):
            self.begun = True
            super().__call__(done, total)

    target, drafter = pair(closeness=1.0)
    verifier = ScriptedVerifier(target, Sampler(), [])
    verifier.kind = Late
    tokens, iterations = answer(verifier, drafter, Sampler(), TreeLimits(4, 4, 3))
    assert tokens == plain(Sampler())
    assert not any(each.survivors for each in iterations)


def test_where_it_does_not_pay_nothing_runs_beside_the_target():
    def computed(rule, script):
        target, drafter = pair()
        verifier = ScriptedVerifier(target, Sampler(), script)
        tokens, iterations = answer(verifier, drafter, Sampler(), None, rule=rule)
        assert tokens == plain(Sampler())
        assert not any(each.ahead or each.ahead_s or each.survivors for each in iterations)
        return drafter.sequence.model.computed

    limits = FixedLimits(TreeLimits(8, 4, 6))
    link = SimpleNamespace(waited_s=0.0, idle_s=0.0)
    assert computed(GrowingAhead(limits, Payoff(link)), [MANY] * 100) == computed(limits, [])


def test_every_pass_of_the_draft_beside_the_target_gives_way_at_each_layer():
    """Also those that read the prompt, in pieces."""
    target, drafter = pair(closeness=1.0)
    draft = drafter.sequence.model
    draft.prompt_rows = 2
    forward, given = draft.forward, []

    def noted(*arguments, progress=no_progress, **named):
        given.append(progress)
        return forward(*arguments, progress=progress, **named)

    draft.forward = noted
    verifier = ScriptedVerifier(target, Sampler(), [MANY])
    answer(verifier, drafter, Sampler(), TreeLimits(4, 4, 3), most=1 + 1)
    assert len(given) > len(PROMPT) // 2
    assert all(isinstance(progress, Yielding) for progress in given)


@pytest.mark.parametrize("draft", DRAFTS)
@pytest.mark.parametrize("asked", [1, LAYERS, ASKED - 1, ASKED, 2 * ASKED - 1, 2 * ASKED + 1])
def test_the_verdict_waits_for_no_layer_of_the_draft(asked, draft, monkeypatch):
    """What a round of the draft has begun when the target's pass ends is dropped, and begun anew in turn."""
    monkeypatch.setattr(draft_rows, "LOGITS_ROWS", MANY)
    target, drafter = pair(draft)
    model = (drafter.drafters[0] if draft.endswith("merged") else drafter).sequence.model
    beside, ran = [], []  # the layers since the launch, and their number at the verdict

    class Watched(ScriptedPass):
        def verdict(self):
            ran.append(len(beside))
            return super().verdict()

    model.on_layer = lambda done, total: beside.append(done)
    verifier = ScriptedVerifier(target, Sampler(), [0] + [asked] * 100)
    verifier.kind = Watched
    launch = verifier.launch

    def watched(*arguments):
        beside.clear()
        return launch(*arguments)

    verifier.launch = watched
    tokens, iterations = answer(verifier, drafter, Sampler(), TreeLimits(4, 4, 3))
    assert tokens == plain(Sampler())
    whole, more = divmod(asked, ASKED)
    assert max(ran[1:]) == whole * LAYERS + min(more, LAYERS)
    assert max(each.rounds_ahead for each in iterations) == whole


@pytest.mark.parametrize("draft", ["apart", "states", "self"])
def test_a_tree_that_survives_saves_the_rounds_that_grew_it(draft, monkeypatch):
    monkeypatch.setattr(GrowingAhead, "_worth", lambda rule: 0.0)  # all trees are grown whole

    def rounds(script):
        target, drafter = pair(draft, 1.0)
        verifier = ScriptedVerifier(target, Sampler(), script)
        _, iterations = answer(verifier, drafter, Sampler(), TreeLimits(4, 4, 3))
        return sum(each.rounds for each in iterations) / len(iterations)

    assert rounds([MANY] * 100) < 0.5 * rounds([])


@settings(max_examples=20, deadline=None)
@given(scripts, samplers, st.integers(12, 40), drafts)
def test_the_end_of_the_context_ends_the_answer_without_an_error(script, sampler, capacity, draft):
    target, drafter = pair(draft, capacity=capacity)
    verifier = ScriptedVerifier(target, sampler, script)
    found, _ = answer(verifier, drafter, sampler, TreeLimits(16, 8, 8), most=MANY)
    assert found == plain(sampler, most=MANY, capacity=capacity)
    assert len(PROMPT) + len(found) == capacity


@settings(max_examples=30, deadline=None)
@given(scripts, st.integers(0, 400), st.sampled_from(["apart", "states", "self"]), st.booleans())
def test_a_draft_that_is_stopped_anywhere_leaves_both_sequences_usable(script, layers, draft, late):
    target, drafter = pair(draft)
    left = layers

    def stop(done, total):
        nonlocal left
        left -= 1
        if left < 0:
            raise Stopped

    drafter.sequence.model.on_layer = stop
    verifier = ScriptedVerifier(target, Sampler(), script, late)
    try:
        answer(verifier, drafter, Sampler(), TreeLimits(8, 4, 6))
    except Stopped:
        assert all(each.is_cancelled for each in verifier.launched)
    drafter.sequence.model.on_layer = no_progress
    verifier = ScriptedVerifier(target, Sampler(), script, late)
    assert answer(verifier, drafter, Sampler(), TreeLimits(8, 4, 6))[0] == plain(Sampler())
