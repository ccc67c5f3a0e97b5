"""A replay gives the same trees and the same passes as a run with the target."""

import pytest

from engine.bench.records import Recorded, Sampling
from engine.bench.replay import ReplayVerifier, can_replay
from engine.decoding.budget import FixedLimits
from engine.decoding.iteration import Iterated, Prefilled, decode
from engine.decoding.verification import TargetVerifier
from engine.drafting import TreeLimits
from engine.drafting.lookahead import LookaheadDrafter
from engine.drafting.merged import MergedDrafter
from engine.drafting.none import NoDrafter
from engine.drafting.pld import PromptLookupDrafter
from engine.drafting.recycling import RecyclingDrafter
from engine.drafting.specexec import SpecExecDrafter
from engine.drafting.specinfer import SpecInferDrafter
from engine.model.interface import no_progress
from engine.model.sequence import Sequence
from engine.sampling import Sampler
from tests.engine.decoding.test_ahead import pair as path_pair
from tests.engine.decoding.test_iteration import CAPACITY, PROMPT, pair
from tests.engine.models import VOCABULARY

TOKENS = 48


def specexec():
    return SpecExecDrafter(Sequence(pair("llama")[2], CAPACITY), VOCABULARY)


def specinfer():
    return SpecInferDrafter(Sequence(pair("llama")[2], CAPACITY), VOCABULARY)


DRAFTERS = {
    "none": NoDrafter,
    "pld": PromptLookupDrafter,
    "specexec": specexec,
    "merged": lambda: MergedDrafter("merged", [specexec(), PromptLookupDrafter()]),
}


def events(verifier, drafter, sampler, budget=24, end_ids=(), tokens=TOKENS):
    rule = FixedLimits(TreeLimits(budget, 8, 12))
    return list(decode(verifier, drafter, sampler, PROMPT, rule, end_ids, tokens, no_progress))


def target(sampler):
    return TargetVerifier(Sequence(pair("llama")[1], CAPACITY), sampler)


def tokens_of(events):
    return [
        events[0].token,
        *(token for each in events if isinstance(each, Iterated) for token in each.tokens),
    ]


def trees(events):
    return [
        (each.tree.tokens.tolist(), each.tree.parents.tolist(), each.accepted, each.tokens)
        for each in events
        if isinstance(each, Iterated)
    ]


@pytest.mark.parametrize(
    ("name", "temperature"),
    [*((name, temperature) for name in DRAFTERS for temperature in (0.0, 0.8)), ("specinfer", 0.0)],
)
def test_a_replay_grows_the_same_trees_and_takes_the_same_passes(name, temperature):
    sampler = Sampler(seed=4, temperature=temperature)
    budget = 0 if name == "none" else 24
    make = specinfer if name == "specinfer" else DRAFTERS[name]
    real = events(target(sampler), make(), sampler, budget)
    replayed = events(ReplayVerifier(PROMPT, tokens_of(real), CAPACITY), make(), sampler, budget)
    assert isinstance(replayed[0], Prefilled)
    assert trees(replayed) == trees(real)
    if name in ("specexec", "merged", "specinfer"):
        assert len(trees(real)) < TOKENS - 8, "no tree was accepted, so this test shows nothing"


def test_a_replay_ends_where_the_answer_ended():
    sampler = Sampler()
    everything = tokens_of(events(target(sampler), NoDrafter(), sampler, 0))
    end_ids = {everything[20]}
    real = events(target(sampler), specexec(), sampler, end_ids=end_ids)
    record = tokens_of(real)
    replayed = events(ReplayVerifier(PROMPT, record, CAPACITY), specexec(), sampler, end_ids=end_ids)
    assert len(record) < TOKENS
    assert tokens_of(replayed) == record
    assert trees(replayed) == trees(real)


@pytest.mark.parametrize("fewer", [1, 2, 17])
def test_a_longer_record_also_gives_shorter_answers(fewer):
    sampler = Sampler()
    record = tokens_of(events(target(sampler), NoDrafter(), sampler, 0))
    real = events(target(sampler), specexec(), sampler, tokens=TOKENS - fewer)
    verifier = ReplayVerifier(PROMPT, record, CAPACITY)
    assert trees(events(verifier, specexec(), sampler, tokens=TOKENS - fewer)) == trees(real)


def test_drafters_that_need_more_of_the_target_cannot_be_replayed():
    assert all(can_replay(make(), greedy=False) for make in DRAFTERS.values())
    assert not can_replay(RecyclingDrafter(VOCABULARY), greedy=True)
    assert not can_replay(MergedDrafter("merged", [specexec(), RecyclingDrafter(VOCABULARY)]), greedy=True)


def test_with_rejection_only_greedy_answers_can_be_replayed():
    assert can_replay(specinfer(), greedy=True)
    assert not can_replay(specinfer(), greedy=False)


def test_drafters_with_rows_outside_the_tree_cannot_be_replayed():
    assert not can_replay(LookaheadDrafter(), greedy=True)
    assert not can_replay(MergedDrafter("merged", [specexec(), LookaheadDrafter()]), greedy=True)


def test_drafters_that_read_the_targets_rows_cannot_be_replayed():
    assert can_replay(path_pair("apart")[1], greedy=True)
    assert not can_replay(path_pair("self")[1], greedy=True)
    assert not can_replay(path_pair("self, merged")[1], greedy=True)


def test_a_record_covers_only_the_recorded_answer():
    recorded = Recorded("m", Sampling(), "p", [1, 2], [3, 4, 5], ended=False)
    assert recorded.covers("m", Sampling(), [1, 2], 3)
    assert not recorded.covers("m", Sampling(), [1, 2], 4)
    assert not recorded.covers("n", Sampling(), [1, 2], 3)
    assert not recorded.covers("m", Sampling(temperature=1.0), [1, 2], 3)
    assert not recorded.covers("m", Sampling(), [1, 2, 3], 3)
    ended = Recorded("m", Sampling(), "p", [1, 2], [3, 4, 5], ended=True)
    assert ended.covers("m", Sampling(), [1, 2], 1000)
