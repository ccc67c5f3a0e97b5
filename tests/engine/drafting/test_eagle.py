"""EAGLE's trees compared with growth by the plain formulas, on text and states of a target."""

import numpy as np
import pytest
import torch

from engine.drafting import TreeLimits
from engine.drafting.best_first import BestFirst
from engine.drafting.eagle import BRANCH, DECAY, EagleDrafter
from engine.heads import open_heads
from engine.model.sequence import Sequence
from engine.sampling import Sampler
from engine.torch_model.heads import load_heads
from engine.tree import ROOT, SOURCE_HEADS
from tests.engine.decoding.test_iteration import PROMPT, run
from tests.engine.drafting.growing import grown_in_an_answer
from tests.engine.heads import made

KINDS = ("eagle", "eagle_bias", "eagle3")


@pytest.fixture(params=KINDS)
def kind(request):
    return request.param


def expected_tree(module, kind, context, limits):
    """Grow a tree with states of transformers' own model for the context, and the head's guesses after it."""
    weights = made.random_weights(kind)
    table = module.get_input_embeddings().weight.detach()
    lm_head = module.get_output_embeddings().weight.detach()
    with torch.no_grad():
        states = module(torch.tensor([context[:-1]]), output_hidden_states=True).hidden_states
    read = [states[1 + level][0] for level in made.LEVELS] if kind == "eagle3" else [states[-1][0]]
    fused = made.fused(weights, kind, read)
    grower = BestFirst(limits.budget, limits.depth, DECAY, SOURCE_HEADS)

    def best(node):
        path = []
        while node != ROOT:
            path.insert(0, grower.tokens[node])
            node = grower.parents[node]
        text, known = context, fused
        for token in [*path, None]:
            guessed = made.layer_of(kind)(weights, table[text[1:]], known)[-1:]
            if token is not None:
                text, known = [*text, token], torch.cat([known, guessed])
        return made.logits(weights, kind, guessed, lm_head)[0].log_softmax(-1).topk(BRANCH)

    while nodes := grower.frontier(limits.beams):
        found = [best(node) for node in nodes]
        grower.expand(
            nodes,
            torch.stack([each.indices for each in found]).numpy(),
            torch.stack([each.values for each in found]).numpy(),
        )
    return grower.snapshot(limits.budget)


def same_tree(found, expected):
    assert found.tokens.tolist() == expected.tokens.tolist()
    assert found.parents.tolist() == expected.parents.tolist()
    torch.testing.assert_close(
        torch.from_numpy(found.scores), torch.from_numpy(expected.scores), rtol=1e-3, atol=1e-3
    )


def test_the_tree_follows_the_formulas_after_the_prompt_and_after_each_iteration(module, target, kind, head):
    """Guessed states are replaced by true ones, and nothing is shifted."""
    limits = TreeLimits(12, 4, 4)
    for context, tree in grown_in_an_answer(EagleDrafter(head), target, limits, iterations=12):
        same_tree(tree, expected_tree(module, kind, context, limits))


def test_near_the_end_of_the_context_only_nodes_that_fit_the_cache_are_expanded(
    tmp_path, target, monkeypatch
):
    """Expanded nodes keep their rows even when better ones push them out of the tree."""
    capacity = 40
    weights = made.random_weights("eagle")
    head = load_heads(open_heads(made.save(tmp_path, "eagle", weights)), target, capacity)
    log_probs = np.log(np.array([0.5, 0.45, *[0.005] * 8], np.float32))
    monkeypatch.setattr(
        head,
        "best",
        lambda states, count, allowed: (
            np.tile(np.arange(10), (len(states), 1)),
            np.tile(log_probs, (len(states), 1)),
        ),
    )
    found = run(
        target,
        EagleDrafter(head),
        PROMPT,
        Sampler(),
        64,
        beams=64,
        max_new_tokens=500,
        target=Sequence(target, capacity),
    )
    assert len(PROMPT) + len(found.tokens) == capacity
