"""Medusa's trees against what the plain formulas say of the states a target gave by itself."""

import itertools

import pytest
import torch

from engine.drafting import Limits
from engine.drafting.medusa import BRANCH, DECAY, MedusaDrafter
from engine.heads import load_heads, open_heads
from engine.model import no_watch
from engine.sampling import Sampler
from engine.sequence import Sequence
from engine.tree import SOURCE_HEADS
from engine.verification import TargetVerifier
from tests.engine.heads import made
from tests.engine.models import ours, reference
from tests.engine.test_decoding import CAPACITY, PROMPT


@pytest.fixture(scope="module")
def module():
    return reference("qwen2", num_hidden_layers=4)


@pytest.fixture(scope="module")
def target(module):
    return ours(module)


@pytest.fixture(params=["medusa", "medusa_2"])
def kind(request):
    return request.param


@pytest.fixture
def drafter(tmp_path, target, kind):
    folder = made.save(tmp_path, kind, made.random_weights(kind))
    return MedusaDrafter(load_heads(open_heads(folder), target, CAPACITY))


def grown(drafter, limits):
    drafter.plant(limits)
    while drafter.grow(1, no_watch):
        pass
    return drafter.snapshot(limits.budget)


def paths(tree):
    """Every node as the tokens of its path -> its score."""
    return {
        tuple(tree.tokens[tree.path(node)].tolist()): float(tree.scores[node]) for node in range(len(tree))
    }


def expected_paths(module, kind, context, limits):
    """The best `budget` of all products of what the heads say of the state at the token before the root."""
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
    limits, sampler = Limits(24, 24, 3), Sampler(seed=4, temperature=0.9)
    verifier = TargetVerifier(Sequence(target, CAPACITY), sampler)
    verdict = verifier.read(PROMPT, drafter, no_watch)
    context = [*PROMPT, verdict.bonus]
    drafter.begin(context, sampler, no_watch)
    drafter.observe_prefill(verdict.said)
    accepted = 0
    for _ in range(14):
        tree = grown(drafter, limits)
        assert paths(tree) == pytest.approx(expected_paths(module, kind, context, limits), abs=1e-3)
        assert set(tree.sources.tolist()) == {SOURCE_HEADS}
        verdict = verifier.verify(context, tree, drafter, no_watch)
        tokens = [*tree.tokens[verdict.accepted].tolist(), verdict.bonus]
        verifier.commit(verdict.accepted, [context[-1], *tokens[:-1]])
        drafter.advance(tokens, verdict.said)
        context += tokens
        accepted += len(verdict.accepted)
    assert accepted, "no accepted node was ever looked at"


def test_a_tree_is_no_deeper_than_there_are_heads_and_the_heads_run_once_for_it(drafter, target, monkeypatch):
    drafter.observe_prefill(
        TargetVerifier(Sequence(target, CAPACITY), Sampler()).read(PROMPT, drafter, no_watch).said
    )
    calls = []
    best = drafter._heads.best
    monkeypatch.setattr(drafter._heads, "best", lambda *given: calls.append(1) or best(*given))
    tree = grown(drafter, Limits(200, 4, 50))
    assert tree.depths.max() == 3
    assert len(tree) > 30
    assert len(calls) == 1
    assert len(grown(drafter, Limits(200, 4, 2))) <= BRANCH + BRANCH**2
    assert len(grown(drafter, Limits(1, 4, 3))) == 1
    assert len(grown(drafter, Limits(0, 4, 3))) == 0
