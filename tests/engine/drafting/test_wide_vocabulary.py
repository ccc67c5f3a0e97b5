"""Drafts with a vocabulary far larger than the number of tokens that are looked at: what is proposed, and for
how long the draft works without asking whether it may go on."""

import numpy as np
import pytest

from engine.arrays import on_host
from engine.decoding.verdict import PassEnded
from engine.drafting import TreeLimits, specexec
from engine.drafting.draft_rows import LOGITS_ROWS
from engine.drafting.specexec import BRANCH, DECAY, NUCLEUS_ERROR, SpecExecDrafter
from engine.model.interface import Yielding, no_progress
from engine.model.sequence import Sequence
from engine.sampling import Sampler, TokenHistory, gumbel_noise
from tests.engine.drafting.growing import paths
from tests.engine.model.compiled_models import saved, tiny
from tests.engine.models import ours

WIDE = 4096
ROOM = 256
TEXT = [1, 5, 9, 30, 30, 2]
SETTINGS = [
    dict(temperature=0.8),
    dict(temperature=0.8, top_p=0.9),
    dict(temperature=1.0, repetition_penalty=1.5, logit_bias={7: 4.0}),
    dict(temperature=0.7, top_p=0.8, frequency_penalty=0.5),
    dict(temperature=0.0, repetition_penalty=1.5),
]
SAMPLED, OPEN = SETTINGS[0], TreeLimits(budget=999, beams=64, depth=9)


@pytest.fixture(scope="module")
def module():
    return tiny("qwen2", vocab_size=WIDE)


@pytest.fixture(scope="module", params=["compiled", "torch"])
def model(request, module):
    return saved(module, context=ROOM) if request.param == "compiled" else ours(module)


@pytest.fixture(scope="module")
def compiled(module):
    return saved(module, context=ROOM)


def begun(model, settings, limits):
    drafter = SpecExecDrafter(Sequence(model, ROOM), WIDE)
    drafter.begin(TEXT, Sampler(seed=3, **settings), no_progress)
    drafter.plant(limits)
    return drafter


def log_softmax(values):
    return values - np.log(np.exp(values - values.max()).sum()) - values.max()


@pytest.mark.parametrize("settings", SETTINGS, ids=str)
def test_children_are_those_of_softmaxes_of_the_whole_vocabulary(model, settings):
    drafter, sampler = begun(model, settings, TreeLimits(BRANCH, 1, 1)), Sampler(seed=3, **settings)
    drafter.grow(1, no_progress)
    tree = drafter.snapshot(BRANCH)

    logits = on_host(Sequence(model, ROOM).extend(TEXT)).astype(np.float64)
    penalised = on_host(sampler.penalised(logits[None], TokenHistory(TEXT, [[]])))[0].astype(np.float64)
    chances = log_softmax(penalised)
    best = np.argsort(-chances, kind="stable")[: specexec.CANDIDATES]
    if temperature := sampler.temperature:
        probs = np.exp(log_softmax(penalised / temperature))[best]
        before = np.cumsum(probs) - probs
        noise = gumbel_noise(3, len(TEXT), best)
        passes = -np.logaddexp(0, (before - sampler.top_p) / NUCLEUS_ERROR) if sampler.top_p < 1 else 0.0
        chances = np.full(WIDE, -np.inf)
        chances[best] = log_softmax(log_softmax(penalised)[best] + temperature * noise + passes)
    expected = sorted(np.argsort(-chances, kind="stable")[:BRANCH].tolist())
    found = np.argsort(tree.tokens)
    assert tree.tokens[found].tolist() == expected
    np.testing.assert_allclose(tree.log_probs[found], log_softmax(logits)[expected], atol=2e-4)
    np.testing.assert_allclose(tree.scores[found], chances[expected] + np.log(DECAY), atol=2e-4)


class Watch(Yielding):
    """Counts the logits that a draft computes, and those that it looks at, between two questions whether it
    may go on. `last`: how many pieces of the next round's nodes may have their children; None: all."""

    def __init__(self, monkeypatch, model, last=None):
        self.now, self.steps = [0, 0], []
        self.left = None if last is None else last + 1  # the pass asks, too, before it ends
        head, best_tokens = model.late_head, specexec.best_tokens

        def computed(states):
            self.now[0] += len(states) * WIDE
            return head(states)

        def looked_at(logits, count):
            self.now[1] += logits.size
            return best_tokens(logits, count)

        monkeypatch.setattr(model, "late_head", computed)
        monkeypatch.setattr(specexec, "best_tokens", looked_at)

    def __call__(self, done, total):
        self.steps.append(tuple(self.now))
        self.now = [0, 0]
        if self.left == 0 and done == total:
            raise PassEnded
        if self.left is not None and done == total:
            self.left -= 1


@pytest.mark.parametrize("settings", [{}, *SETTINGS], ids=str)
def test_no_more_logits_than_those_of_a_few_nodes_lie_between_two_questions(compiled, monkeypatch, settings):
    drafter, watch = begun(compiled, settings, OPEN), Watch(monkeypatch, compiled)
    while drafter.sequence.cache.tail <= 3 * LOGITS_ROWS:
        drafter.grow(1, watch)
    watch(0, 0)
    assert sum(computed for computed, _ in watch.steps) == drafter.sequence.cache.tail * WIDE
    assert max(watch.steps) == (LOGITS_ROWS * WIDE, LOGITS_ROWS * WIDE)


@pytest.mark.parametrize("chosen", [0, 1])
def test_a_round_that_ends_before_all_children_are_chosen_leaves_no_rows(compiled, monkeypatch, chosen):
    """chosen: how many pieces of its nodes have their children then. All are begun anew."""
    drafter, whole = begun(compiled, SAMPLED, OPEN), begun(compiled, SAMPLED, OPEN)
    for each in (drafter, whole):
        each.grow(2, no_progress)
    before, tail = paths(drafter.snapshot(999)), drafter.sequence.cache.tail
    with monkeypatch.context() as patch:
        watch = Watch(patch, compiled, chosen)
        with pytest.raises(PassEnded):
            drafter.grow(1, watch)
        assert sum(looked_at for _, looked_at in watch.steps) == chosen * LOGITS_ROWS * WIDE
    assert paths(drafter.snapshot(999)) == before
    assert drafter.sequence.cache.tail == tail
    for each in (drafter, whole):
        each.grow(2, no_progress)
    assert paths(drafter.snapshot(999)) == paths(whole.snapshot(999))
    assert drafter.sequence.cache.tail == whole.sequence.cache.tail > tail
