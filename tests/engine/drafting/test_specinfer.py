import itertools

import numpy as np
import pytest
import torch

from engine.decoding.verification import TargetVerifier
from engine.drafting import TreeLimits
from engine.drafting.specinfer import ACCEPTED, SpecInferDrafter, expansion
from engine.drafting.sps import SpsDrafter
from engine.model.interface import no_progress
from engine.model.sequence import Sequence
from engine.sampling import Sampler, TokenHistory
from engine.tree import ROOT
from tests.engine.decoding.test_iteration import PROMPT, assert_same, drafters, pair, run
from tests.engine.decoding.test_rejection import assert_distributed
from tests.engine.models import VOCABULARY, counted, disturbed, ours, reference

CONTEXT = [1, 5, 9, 30, 30, 2]
NOTHING = np.empty(0)
BOTH = pytest.mark.parametrize("method", [SpecInferDrafter, SpsDrafter])


def nodes_in(layers):
    return sum(itertools.accumulate(layers, lambda nodes, draws: nodes * draws))


@pytest.mark.parametrize("beams", [1, 8, 64])
@pytest.mark.parametrize("budget", [0, 1, 5, 16, 64, 256, 1024])
def test_an_expansion_stays_within_the_limits_and_uses_the_budget(budget, beams):
    for depth in (0, 1, 8, 32):
        layers = expansion(budget, beams, depth)
        widths = list(itertools.accumulate(layers, lambda nodes, draws: nodes * draws))
        assert nodes_in(layers) <= budget
        assert len(layers) <= depth
        assert all(width <= beams for width in widths[:-1])
        assert list(layers) == sorted(layers, reverse=True)
    assert nodes_in(expansion(budget, 64, 32)) >= 0.9 * min(budget, 1024)


def test_an_expansion_is_the_best_possible():
    """Compared with every expansion of up to six layers."""

    def accepted(layers):
        total, chance = 0.0, 1.0
        for draws in layers:
            chance *= ACCEPTED[draws]
            total += chance
        return total

    for budget in (3, 9, 20, 40):
        shapes = (
            layers
            for depth in range(7)
            for layers in itertools.product(ACCEPTED, repeat=depth)
            if nodes_in(layers) <= budget and list(layers) == sorted(layers, reverse=True)
        )
        best = max(accepted(layers) for layers in shapes)
        assert accepted(expansion(budget, 64, 6)) == pytest.approx(best)


def grown(drafter, limits, sampler, context=CONTEXT):
    drafter.begin(context, sampler, no_progress)
    drafter.plant(limits)
    while drafter.grow(1, no_progress):
        pass
    return drafter.snapshot(limits.budget)


@BOTH
@pytest.mark.parametrize("temperature", [0.0, 0.9])
def test_draws_match_the_draft_run_on_plain_text(method, temperature):
    """The distribution of every node's children, with penalties along the path."""
    module = reference("llama")
    sampler = Sampler(seed=3, temperature=temperature, top_k=7, repetition_penalty=1.3)
    drafter = method(Sequence(ours(module), 128), VOCABULARY)
    tree = grown(drafter, TreeLimits(60, 16, 6), sampler)
    assert len(tree) >= 6
    for node in [ROOT, *range(len(tree))]:
        drawn = drafter.drawn().get(node)
        children = [child for child in range(len(tree)) if tree.parents[child] == node]
        assert sorted(set(drawn.children) if drawn else []) == children
        if drawn is None:
            continue
        path = CONTEXT + tree.tokens[tree.path(node)].tolist()
        with torch.inference_mode():
            logits = module(torch.tensor([path])).logits[0, -1:]
        expected = sampler.probabilities(logits, TokenHistory(path, [[]]))[0]
        torch.testing.assert_close(drawn.probs.double(), expected, rtol=1e-3, atol=1e-5)
        if temperature == 0:
            best = sampler.penalised(logits, TokenHistory(path, [[]]))[0].topk(len(children)).indices
            assert tree.tokens[drawn.children].tolist() == best.tolist()
        else:
            assert all(drawn.probs[tree.tokens[child]] > 0 for child in children)


def test_equal_draws_share_a_node_that_is_tried_again():
    drafter = SpecInferDrafter(Sequence(ours(reference("llama")), 128), VOCABULARY)
    grown(drafter, TreeLimits(200, 64, 4), Sampler(seed=1, temperature=0.05))
    drawn = drafter.drawn()[ROOT]
    assert len(drawn.children) == drafter.expansion(TreeLimits(200, 64, 4))[0]
    assert len(set(drawn.children)) < len(drawn.children)


@BOTH
def test_accepted_nodes_are_never_recomputed(method):
    model = ours(reference("llama"))
    rows = counted(model)
    drafter = method(Sequence(model, 128), VOCABULARY)
    tree = grown(drafter, TreeLimits(40, 16, 6), Sampler(seed=1, temperature=0.8))
    accepted = tree.tokens[tree.path(len(tree) - 1)].tolist()
    drafter.advance([*accepted, 3], NOTHING)
    drafter.plant(TreeLimits(40, 16, 6))
    rows.clear()
    drafter.grow(1, no_progress)
    assert rows == [2], "the deepest node, which was not expanded, and the new root"
    fresh = Sequence(model, 128)
    fresh.extend([*CONTEXT, *accepted, 3])
    assert drafter.sequence.ids == fresh.ids
    for layer in range(model.layers):
        torch.testing.assert_close(
            drafter.sequence.cache.rows(layer), fresh.cache.rows(layer), rtol=1e-4, atol=1e-5
        )


def test_a_position_drafted_again_gets_new_draws():
    """Otherwise limits that depend on the last tree would select among the draws."""
    drafter = SpsDrafter(Sequence(ours(reference("llama")), 128), VOCABULARY)
    sampler = Sampler(seed=1, temperature=5.0)
    tree = grown(drafter, TreeLimits(6, 1, 6), sampler)
    again = grown(drafter, TreeLimits(5, 1, 5), sampler, [*CONTEXT, int(tree.tokens[0])])
    assert tree.tokens[1:].tolist() != again.tokens.tolist()


@BOTH
def test_a_draft_with_a_padded_vocabulary_never_proposes_the_padding(method):
    draft = ours(reference("llama", vocab_size=VOCABULARY + 9))
    for temperature in (0.0, 3.0):
        drafter = method(Sequence(draft, 128), VOCABULARY)
        tree = grown(drafter, TreeLimits(60, 64, 6), Sampler(temperature=temperature))
        assert tree.tokens.max() < VOCABULARY


@BOTH
def test_greedy_output_equals_plain_decoding_up_to_the_end_of_the_context_and_after_an_edit(method):
    _, target, draft = pair("qwen2_window")
    drafter, sequence = method(Sequence(draft, 90), VOCABULARY), Sequence(target, 90)
    sampler = Sampler(repetition_penalty=1.1)
    for prompt in (PROMPT, [*PROMPT[:5], 44, 7], [*PROMPT, 3]):
        plain = run(target, drafters("qwen2_window")["specexec"](), prompt, sampler, max_new_tokens=1000)
        found = run(
            target, drafter, prompt, sampler, budget=32, depth=8, max_new_tokens=1000, target=sequence
        )
        assert len(prompt) + len(found.tokens) == 90
        assert_same(found.tokens, plain.tokens[: len(found.tokens)], target, sampler, prompt)
        assert found.passes < len(found.tokens) - 1


@BOTH
def test_sampled_texts_have_the_distribution_of_plain_decoding(method):
    """The first two tokens after the one from the prefill, over many seeds of a tiny pair."""
    module = reference("llama")
    target, draft = Sequence(ours(module), 40), Sequence(ours(disturbed(module, 0.3)), 40)
    settings = dict(temperature=2.0, top_k=3, presence_penalty=0.5)
    prompt, first = PROMPT[:4], 7
    expected = torch.zeros(VOCABULARY, VOCABULARY, dtype=torch.float64)
    processors = Sampler(**settings)

    def probabilities(path):
        with torch.inference_mode():
            logits = module(torch.tensor([path])).logits[0, -1:]
        return processors.probabilities(logits, TokenHistory(path, [[]]))[0]

    context = [*prompt, first]
    one = probabilities(context)
    for token in one.nonzero()[:, 0].tolist():
        expected[token] = one[token] * probabilities([*context, token])

    seeds, counts = 250, torch.zeros(VOCABULARY, VOCABULARY)
    target.extend(prompt)
    drafter = method(draft, VOCABULARY)
    for seed in range(seeds):
        sampler = Sampler(seed=seed, **settings)
        verifier = TargetVerifier(target, sampler)
        path = list(context)
        drafter.begin(path, sampler, no_progress)
        while len(path) < len(context) + 2:
            limits = TreeLimits(8, 8, 2)
            drafter.plant(limits)
            while drafter.grow(1, no_progress):
                pass
            tree = drafter.snapshot(limits.budget)
            verdict = verifier.launch(path, drafter.proposal(tree), no_progress).verdict()
            tokens = [*tree.tokens[verdict.accepted].tolist(), verdict.bonus]
            verifier.commit(verdict.accepted, [path[-1], *tokens[:-1]])
            drafter.advance(tokens, verdict.feedback)
            path += tokens
        target.rewind(len(prompt))
        counts[tuple(path[len(context) : len(context) + 2])] += 1
    assert_distributed(counts, expected * seeds)
