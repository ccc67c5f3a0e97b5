"""Medusa's trees compared with the plain formulas, on states of a target."""

import itertools

import pytest
import torch

from engine.decoding.verification import TargetVerifier
from engine.drafting import TreeLimits
from engine.drafting.medusa import MedusaDrafter
from engine.drafting.position_guesses import BRANCH, DECAY
from engine.model.interface import no_progress
from engine.model.sequence import Sequence
from engine.sampling import Sampler
from engine.tree import SOURCE_HEADS
from tests.engine.decoding.test_iteration import CAPACITY, PROMPT
from tests.engine.drafting.growing import grown, grown_in_an_answer, paths
from tests.engine.heads import made


@pytest.fixture(params=["medusa", "medusa_2"])
def kind(request):
    return request.param


@pytest.fixture
def drafter(head):
    return MedusaDrafter(head)


def expected_paths(module, kind, context, limits):
    """Return the best `budget` products of the heads' probabilities, from the state at the token before the
    root."""
    with torch.no_grad():
        states = module(torch.tensor([context[:-1]]), output_hidden_states=True).hidden_states[-1]
    lm_head = module.get_output_embeddings().weight.detach()
    logits = made.medusa(made.random_weights(kind), kind, states[0, -1], lm_head)
    best = (logits.log_softmax(-1) + torch.tensor(DECAY).log()).topk(BRANCH)
    heads = [
        list(zip(*each, strict=True))
        for each in zip(best.indices.tolist(), best.values.tolist(), strict=True)
    ]
    found = {
        tuple(token for token, _ in path): sum(score for _, score in path)
        for depth in range(1, limits.depth + 1)
        for path in itertools.product(*heads[:depth])
    }
    return dict(sorted(found.items(), key=lambda item: -item[1])[: limits.budget])


def test_the_tree_is_the_best_of_the_heads_products_after_the_prompt_and_after_each_iteration(
    module, target, kind, drafter
):
    limits = TreeLimits(24, 24, 3)
    for context, tree in grown_in_an_answer(drafter, target, limits, iterations=14):
        assert paths(tree) == pytest.approx(expected_paths(module, kind, context, limits), abs=1e-3)
        assert set(tree.sources.tolist()) == {SOURCE_HEADS}


def test_the_heads_bound_the_depth_of_a_tree_and_run_once_for_it(drafter, target, monkeypatch):
    verifier = TargetVerifier(Sequence(target, CAPACITY), Sampler())
    drafter.observe_prefill(verifier.read(PROMPT, drafter, no_progress).verdict().feedback)
    calls = []
    logits = drafter._heads.logits
    monkeypatch.setattr(drafter._heads, "logits", lambda *given: calls.append(1) or logits(*given))
    tree = grown(drafter, TreeLimits(200, 4, 50))
    assert tree.depths.max() == 3
    assert len(tree) > 30
    assert len(calls) == 1
    assert len(grown(drafter, TreeLimits(200, 4, 2))) <= BRANCH + BRANCH**2
    assert len(grown(drafter, TreeLimits(1, 4, 3))) == 1
    assert len(grown(drafter, TreeLimits(0, 4, 3))) == 0
