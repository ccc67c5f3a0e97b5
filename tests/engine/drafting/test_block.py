"""The trees of heads that guess a block, compared with the plain formulas on states of a target."""

import itertools

import pytest
import torch

from engine.decoding.verification import TargetVerifier
from engine.drafting import TreeLimits
from engine.drafting.block import BlockDrafter
from engine.drafting.position_guesses import BRANCH, DECAY
from engine.model.interface import no_progress
from engine.model.sequence import Sequence
from engine.sampling import Sampler
from engine.tree import SOURCE_HEADS
from tests.engine.decoding.test_iteration import CAPACITY, PROMPT
from tests.engine.drafting.growing import grown, grown_in_an_answer, paths
from tests.engine.heads import made


@pytest.fixture(params=made.BLOCKS)
def kind(request):
    return request.param


@pytest.fixture
def drafter(head):
    return BlockDrafter(head)


def guessed(module, kind, context):
    """Return the head's logits [positions, vocabulary] behind `context`, whose last token is the root."""
    weights, table = made.random_weights(kind), module.get_input_embeddings().weight.detach()
    with torch.no_grad():
        states = module(torch.tensor([context[:-1]]), output_hidden_states=True).hidden_states
    read = made.READ if kind == "dflash" else made.LEVELS
    text = made.fused(weights, kind, [states[1 + layer][0] for layer in read])
    lm_head = module.get_output_embeddings().weight.detach()
    return made.guessed_block(weights, kind, table, torch.tensor(context), text, lm_head)


def expected_paths(logits, limits):
    """Return the best `budget` products of the positions' probabilities."""
    best = (logits.log_softmax(-1) + torch.tensor(DECAY).log()).topk(BRANCH)
    found = {
        path: sum(score)
        for depth in range(1, limits.depth + 1)
        for path, score in zip(
            itertools.product(*best.indices[:depth].tolist()),
            itertools.product(*best.values[:depth].tolist()),
            strict=True,
        )
    }
    return dict(sorted(found.items(), key=lambda item: -item[1])[: limits.budget])


def test_the_tree_is_the_best_of_the_positions_products_after_the_prompt_and_after_each_iteration(
    module, target, kind, drafter
):
    limits = TreeLimits(24, 24, 3)
    for context, tree in grown_in_an_answer(drafter, target, limits, iterations=14):
        assert paths(tree) == pytest.approx(expected_paths(guessed(module, kind, context), limits), abs=1e-3)
        assert set(tree.sources.tolist()) == {SOURCE_HEADS}


def test_the_block_bounds_the_depth_of_a_tree_and_the_head_runs_once_for_it(drafter, target, monkeypatch):
    verifier = TargetVerifier(Sequence(target, CAPACITY), Sampler())
    verdict = verifier.read(PROMPT, drafter, no_progress).verdict()
    drafter.begin([*PROMPT, verdict.bonus], Sampler(), no_progress)
    drafter.observe_prefill(verdict.feedback)
    calls = []
    guess = drafter._head.guess
    sharp = 20  # a factor for random logits, with which paths are worth following
    monkeypatch.setattr(drafter._head, "guess", lambda *given: calls.append(1) or sharp * guess(*given))
    tree = grown(drafter, TreeLimits(200, 4, 50))
    assert tree.depths.max() == made.BLOCK - 1
    assert len(tree) > 30
    assert len(calls) == 1
