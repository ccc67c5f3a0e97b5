"""Exactness with heads of every kind: the answer equals that of plain decoding, whatever they guess and
whatever is reused of an earlier text; reuse leads to the same trees as a fresh start."""

from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
import torch

from engine.decoding.iteration import Grown, Iterated, decode
from engine.decoding.verification import TargetVerifier
from engine.drafting import DrafterParts, head_context, make_drafter
from engine.drafting.none import NoDrafter
from engine.heads import open_heads
from engine.model.interface import no_progress
from engine.model.sequence import Sequence
from engine.sampling import Sampler
from engine.torch_model.heads import load_heads
from tests.engine.decoding.test_iteration import CAPACITY, PROMPT, RULE, assert_same, run
from tests.engine.heads import made
from tests.engine.models import disturbed, ours, reference

SAMPLERS = {"greedy": Sampler(), "sampled": Sampler(seed=5, temperature=0.8, top_p=0.9)}
TURNS = {
    "first": PROMPT,
    "the same again": PROMPT,
    "edited": [*PROMPT[:5], 30, *PROMPT[6:], 12, 40],
    "shorter": PROMPT[:6],
    "longer": [*PROMPT[:6], 25, 7, 7, 31],
    "another": [1, 44, 3],
}

pytestmark = pytest.mark.parametrize("kind", made.KINDS)


@cache
def models():
    module = reference("qwen2", num_hidden_layers=4)
    return ours(module), ours(disturbed(module, 0.05))


@cache
def heads(kind, context=CAPACITY):
    with TemporaryDirectory() as folder:
        saved = made.save(Path(folder), kind, made.random_weights(kind))
        return load_heads(open_heads(saved), models()[0], context)


def drafter(kind, context=CAPACITY, beside=""):
    """Return a new drafter. beside: the drafter that it is merged with."""
    model, draft = models()
    parts = DrafterParts(model.vocabulary, Sequence(draft, context), heads(kind, context))
    return make_drafter("+".join(filter(None, [parts.heads.method, beside])), parts)


@cache
def plain_run(prompt, sampler, most=12, capacity=CAPACITY):
    """Return the run of plain decoding, the same for heads of every kind. prompt: a tuple of token ids."""
    model = models()[0]
    target = Sequence(model, capacity)
    return run(model, NoDrafter(), [*prompt], SAMPLERS[sampler], max_new_tokens=most, target=target)


@pytest.mark.parametrize("sampler", SAMPLERS)
def test_answers_turn_after_turn_equal_plain_decoding(kind, sampler):
    model, capacity = models()[0], CAPACITY + 2 * 200
    saved = 0
    for budget in (1, 200):
        target, one = Sequence(model, capacity), drafter(kind, capacity)
        prompt = PROMPT
        for turn in range(2):
            plain = plain_run((*prompt,), sampler)
            found = run(model, one, prompt, SAMPLERS[sampler], budget, max_new_tokens=12, target=target)
            assert_same(found.tokens, plain.tokens, model, SAMPLERS[sampler], prompt)
            saved += plain.passes - found.passes
            prompt = [*prompt, *plain.tokens, 7, 8, turn + 3]
            if turn == 0:  # an edit in the middle
                prompt[15] = 44
    assert saved, "no guess was ever accepted"


@pytest.mark.parametrize("sampler", SAMPLERS)
@pytest.mark.parametrize("budget", [1, 64])
def test_a_full_context_ends_the_answer_as_plain_decoding_does(kind, sampler, budget):
    model, capacity = models()[0], 28
    plain = plain_run((*PROMPT,), sampler, 999, capacity).tokens
    one = drafter(kind, capacity)
    for _ in range(2):  # the second time with a full cache
        target = Sequence(model, capacity)
        found = run(model, one, PROMPT, SAMPLERS[sampler], budget, max_new_tokens=999, target=target).tokens
        assert len(PROMPT) + len(found) == capacity
        assert_same(found, plain, model, SAMPLERS[sampler], PROMPT)


@pytest.mark.parametrize("sampler", SAMPLERS)
@pytest.mark.parametrize("beside", ["specexec", "pld"])
def test_merged_with_others_the_answer_equals_plain_decoding(kind, beside, sampler):
    model = models()[0]
    target, one = Sequence(model, CAPACITY), drafter(kind, beside=beside)
    for prompt in (PROMPT, TURNS["edited"]):
        plain = plain_run((*prompt,), sampler)
        found = run(model, one, prompt, SAMPLERS[sampler], 24, max_new_tokens=12, target=target)
        assert_same(found.tokens, plain.tokens, model, SAMPLERS[sampler], prompt)


def trees(target, one, prompt):
    """Return the trees of all iterations of an answer."""
    sampler = SAMPLERS["sampled"]
    stream = decode(TargetVerifier(target, sampler), one, sampler, prompt, RULE, (), 6, no_progress)
    return [event.tree for event in stream if isinstance(event, Iterated)]


@cache
def fresh_trees(kind, turn):
    return trees(Sequence(models()[0], CAPACITY), drafter(kind), TURNS[turn])


def end_while_growing(target, one, prompt, iterations):
    stream = decode(TargetVerifier(target, Sampler()), one, Sampler(), prompt, RULE, (), 24, no_progress)
    for event in stream:
        iterations -= isinstance(event, Iterated)
        if iterations <= 0 and isinstance(event, Grown):
            break
    stream.close()


@pytest.mark.parametrize("between", ["plain", "ended", "rewound"])
def test_reuse_of_earlier_texts_leads_to_the_trees_of_a_fresh_start(kind, between):
    model = models()[0]
    target, one = Sequence(model, CAPACITY), drafter(kind)
    for turn, prompt in TURNS.items():
        if between == "plain":  # the same target answers without heads
            run(model, NoDrafter(), [*prompt[:-1], 9], Sampler(), max_new_tokens=5, target=target)
        elif between == "ended":
            end_while_growing(target, one, [*prompt[:-1], 9], iterations=3)
        elif between == "rewound":
            one.rewind(4)
        found = trees(target, one, prompt)
        fresh = fresh_trees(kind, turn)
        assert len(found) == len(fresh)
        for tree, expected in zip(found, fresh, strict=True):
            assert tree.tokens.tolist() == expected.tokens.tolist()
            assert tree.parents.tolist() == expected.parents.tolist()
            torch.testing.assert_close(
                *map(torch.from_numpy, (tree.scores, expected.scores)), rtol=0, atol=1e-3
            )


def test_a_prompt_read_in_pieces_leads_to_the_same_trees(kind, monkeypatch):
    if kind.startswith("medusa"):
        pytest.skip("these read the last state alone")
    expected, head, read = fresh_trees(kind, "longer"), heads(kind, CAPACITY), []
    name = "guess" if kind in made.BLOCKS else "forward"
    run_of_head = getattr(head, name)

    def counted(tokens, states, cache):
        read.append(len(states))
        return run_of_head(tokens, states, cache)

    monkeypatch.setattr(head, name, counted)
    monkeypatch.setattr(head_context, "HEAD_ROWS", 3)
    found = trees(Sequence(models()[0], CAPACITY), drafter(kind), TURNS["longer"])
    assert read[:3] == [3, 3, 3]
    for tree, whole in zip(found, expected, strict=True):
        assert tree.tokens.tolist() == whole.tokens.tolist()
        assert tree.parents.tolist() == whole.parents.tolist()


def test_heads_need_at_most_one_state_again(kind):
    """The state of the token before the first new one: its row was computed for another text."""
    model = models()[0]
    target, one = Sequence(model, CAPACITY), drafter(kind)
    tokens = run(model, one, PROMPT, Sampler(), 16, max_new_tokens=20, target=target).tokens
    context = [*PROMPT, *tokens]
    assert one.covers([*context, 7, 8]) >= len(context) - 2
    assert one.covers(PROMPT) >= len(PROMPT) - 1
    assert one.covers([*PROMPT[:5], 60]) >= 4
