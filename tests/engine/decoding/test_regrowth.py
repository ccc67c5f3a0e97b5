"""An answer is given again from its recording: each tree is grown as it was, whatever the machine's speed is
now. In 16 bits through torch, where a row's bits depend on its pass, the answer is equal to the last bit."""

from contextlib import contextmanager
from functools import partial
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.bench.slower_disk import slow_down
from engine.checkpoints import open_checkpoint
from engine.decoding.ahead import GrowingAhead
from engine.decoding.budget import AutoLimits, FixedLimits, Replayed
from engine.decoding.iteration import Iterated, Prefilled, decode
from engine.decoding.regrowth import Regrown, grown_tree
from engine.decoding.verification import TargetVerifier
from engine.drafting import TreeLimits
from engine.model.interface import no_progress
from engine.model.loader import load_compiled
from engine.model.sequence import Sequence
from engine.protocol import AnswerRecording, Chat, Message, Options
from engine.sampling import Sampler
from engine.serving.pair import LoadedPair
from engine.serving.session import Session
from engine.streaming import WeightLimits
from engine.torch_model.loader import load_model
from tests.engine.bench.tiny import Letters
from tests.engine.decoding.test_ahead import PROMPT, ScriptedVerifier, drafts, pair, samplers, scripts
from tests.engine.model.compiled_models import tiny
from tests.engine.models import disturbed

CONTEXT = 160
QUESTION = "ABCDEABCDEXYZ"


def events_of(verifier, drafter, sampler, rule, most=40):
    return list(decode(verifier, drafter, sampler, PROMPT, rule, (), most, no_progress))


def recorded(events):
    trees = [grown_tree(each.limits if isinstance(each, Prefilled) else each.grown) for each in events]
    return AnswerRecording(reused_tokens=0, trees=trees)


def whole(events):
    return [each for each in events if isinstance(each, Prefilled | Iterated)]


def same_tree(one, other):
    return all(np.array_equal(getattr(one, name), getattr(other, name)) for name in one.__slots__)


@settings(max_examples=40, deadline=None)
@given(scripts, samplers, st.integers(0, 20), drafts, st.booleans())
def test_trees_that_grew_ahead_are_the_same_trees_when_draft_and_target_take_turns(
    script, sampler, seed, draft, late
):
    target, drafter = pair(draft, 0.9, seed)
    verifier = ScriptedVerifier(target, sampler, script, late)
    rule = GrowingAhead(AutoLimits(TreeLimits(15, 4, 8)))
    first = whole(events_of(verifier, drafter, sampler, rule))
    target, drafter = pair(draft, 0.9, seed)
    rule = Regrown(FixedLimits(TreeLimits(3, 1, 1)), recorded(first))
    again = whole(events_of(TargetVerifier(target, sampler), drafter, sampler, rule))
    assert len(first) == len(again)
    for one, other in zip(first[1:], again[1:], strict=True):
        assert same_tree(one.tree, other.tree)
        assert (one.tokens, one.survivors, one.ahead) == (other.tokens, other.survivors, other.ahead)


def test_after_the_recorded_trees_the_rule_goes_on():
    limits = TreeLimits(3, 1, 2)
    tree = grown_tree(TreeLimits(9, 4, 7, 0.5, 288, rounds=3))
    rule = Regrown(FixedLimits(limits), AnswerRecording(reused_tokens=0, trees=[tree]))
    assert rule.choose() == TreeLimits(9, 4, 7, 0.5, 288, rounds=3)
    assert [rule.choose(), rule.choose()] == [limits] * 2


def test_seconds_of_recorded_trees_teach_the_rule_nothing():
    """What grew ahead grows in turn then, within the seconds of the pass."""
    seen = []
    learning = SimpleNamespace(choose=lambda: TreeLimits(3, 1, 2), observe=seen.append)
    tree = grown_tree(TreeLimits(9, 4, 7, 0.5, 288, rounds=3))
    rule = Regrown(learning, AnswerRecording(reused_tokens=0, trees=[tree]))
    for iteration in ("recorded", "new"):
        rule.choose()
        rule.observe(iteration)
    assert seen == ["new"]


def test_a_recording_says_what_was_reused_where_the_drafter_read_more_anew(monkeypatch):
    sampler = Sampler(seed=3, temperature=0.7)
    target, drafter = pair()
    target.read(PROMPT[:-1], (), no_progress)
    assert target.align(PROMPT[:-1]) > 2
    monkeypatch.setattr(drafter, "covers", lambda prompt: 2)
    first, *_ = events_of(TargetVerifier(target, sampler), drafter, sampler, FixedLimits(TreeLimits(4, 4, 6)))
    assert first.reused == 2


def test_recorded_budgets_are_those_of_the_first_trees():
    sampler = Sampler(seed=3, temperature=0.7)
    target, drafter = pair()
    rule = Replayed(FixedLimits(TreeLimits(4, 4, 6)), [9, 0, 2])
    _, *iterations = whole(events_of(TargetVerifier(target, sampler), drafter, sampler, rule))
    assert [each.limits.budget for each in iterations[:5]] == [9, 0, 2, 4, 4]
    assert [len(each.tree) for each in iterations[:5]] == [9, 0, 2, 4, 4]


# -- in 16 bits, through torch -------------------------------------------------------------------------------

LITTLE = 300 << 10  # bytes: two slots and few resident matrices
PASS_S = 0.08  # seconds in which a pass reads the streamed weights


@pytest.fixture(scope="module")
def files(request, tmp_path_factory):
    module, folder = tiny(getattr(request, "param", "llama")), tmp_path_factory.mktemp("pair")
    for name, each in (("target", module), ("draft", disturbed(module, 0.05))):
        each.to(torch.bfloat16).save_pretrained(folder / name)
    return [open_checkpoint(folder / name) for name in ("target", "draft")]


@contextmanager
def session(files, pass_s):
    """A session whose target reads its weights in every pass, in so many seconds."""
    load = partial(load_model, dtype=torch.bfloat16, device="cpu", progress=no_progress, context=CONTEXT)
    target, draft = load(files[0], limits=WeightLimits(LITTLE)), load(files[1])
    slow_down(target.streamer, target.streamer.pass_nbytes / pass_s / 1e9)
    try:
        yield Session(LoadedPair(Sequence(target, CONTEXT), Sequence(draft, CONTEXT), Letters()))
    finally:
        target.close()


def ask(session, drafter="specexec", **options):
    options = Options(drafter=drafter, log_probs=1, max_new_tokens=32, stop_loops=False, **options)
    chat = Chat(id=0, messages=[Message("user", QUESTION)], options=options)
    return session.answer(chat, lambda event: None, lambda: False)


def numbers(answer):
    return [(each.log_prob, each.top) for each in answer.log_probs]


@pytest.mark.parametrize(
    ("files", "temperature"),
    [("llama", 0.0), ("llama", 0.7), ("qwen3_5_text", 0.7)],
    indirect=["files"],
)
def test_an_answer_in_16_bits_whose_trees_grew_ahead_is_given_again_to_the_last_bit(files, temperature):
    """On a faster disk, where fewer nodes would grow ahead; and behind another answer."""
    asked = dict(temperature=temperature, seed=5)
    with session(files, PASS_S) as slow:
        found = ask(slow, overlap="on", **asked)
        assert sum(tree.rounds for tree in found.recording.trees) > 0
        assert ask(slow, overlap="on", temperature=1.0, seed=8).token_ids != found.token_ids
        again = ask(slow, recording=found.recording, **asked)
    with session(files, PASS_S / 20) as fast:
        elsewhere = ask(fast, recording=found.recording, **asked)
        plain = ask(fast, drafter="none", **asked)
    for other in (again, elsewhere):
        assert (other.token_ids, other.drafted) == (found.token_ids, found.drafted)
        assert numbers(other) == numbers(found)
        assert other.recording == found.recording
    assert numbers(plain) != numbers(found), "bits depend on the number of rows"


def test_compiled_passes_need_no_recording(files):
    target = load_compiled(files[0], no_progress, CONTEXT)
    draft = load_compiled(files[1], no_progress, CONTEXT)
    pair = LoadedPair(Sequence(target, CONTEXT), Sequence(draft, CONTEXT), Letters())
    found = ask(Session(pair), seed=5)
    assert found.recording is None
    assert ask(Session(pair), seed=5, budgets=found.budgets).token_ids == found.token_ids
