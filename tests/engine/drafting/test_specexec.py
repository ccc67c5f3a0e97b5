import numpy as np
import pytest
import torch

from engine.drafting import TreeLimits
from engine.drafting.specexec import SpecExecDrafter
from engine.model.interface import no_progress
from engine.model.sequence import Sequence
from engine.sampling import Sampler, TokenHistory
from tests.engine.drafting.test_best_first import BestFirst
from tests.engine.models import VOCABULARY, counted, ours, reference

CONTEXT = [1, 5, 9, 30, 30, 2]
NOTHING = np.empty(0)


def test_tree_equals_growth_with_the_draft_run_on_plain_text():
    """Every node equals that of a draft without cache, masks or batches."""
    module = reference("llama")
    drafter = SpecExecDrafter(Sequence(ours(module), 128), VOCABULARY)
    drafter.begin(CONTEXT, Sampler(), no_progress)
    drafter.plant(TreeLimits(budget=40, beams=5, depth=6))
    while drafter.grow(1, no_progress):
        pass
    found = drafter.snapshot(40)

    grower = BestFirst(40, 6, 0.95, 1)
    while nodes := grower.frontier(5):
        best_of = []
        for node in nodes:
            path = []
            while node >= 0:
                path.insert(0, grower.tokens[node])
                node = grower.parents[node]
            with torch.inference_mode():
                logits = module(torch.tensor([CONTEXT + path])).logits[0, -1]
            best_of.append(logits.log_softmax(-1).topk(16))
        grower.expand(
            nodes,
            torch.stack([best.indices for best in best_of]).numpy(),
            torch.stack([best.values for best in best_of]).numpy(),
        )
    expected = grower.snapshot(40)
    assert found.tokens.tolist() == expected.tokens.tolist()
    assert found.parents.tolist() == expected.parents.tolist()


def test_accepted_nodes_are_never_recomputed():
    model = ours(reference("llama"))
    rows = counted(model)
    drafter = SpecExecDrafter(Sequence(model, 128), VOCABULARY)
    drafter.begin(CONTEXT, Sampler(), no_progress)
    assert rows == [len(CONTEXT) - 1]
    drafter.plant(TreeLimits(budget=30, beams=4, depth=6))
    while drafter.grow(1, no_progress):
        pass
    tree = drafter.snapshot(30)
    path = tree.path(int(tree.depths.argmax()))
    accepted = tree.tokens[path].tolist()
    before = len(drafter.sequence.ids)
    drafter.advance([*accepted, 3], NOTHING)
    gathered = len(drafter.sequence.ids) - before
    assert gathered >= len(accepted) - 1, "only the deepest node of the path may not have been expanded"
    rows.clear()
    drafter.plant(TreeLimits(budget=30, beams=4, depth=6))
    drafter.grow(1, no_progress)
    assert rows == [len(accepted) - gathered + 1], "the unexpanded leaf, and the new root"
    fresh = Sequence(model, 128)
    fresh.extend([*CONTEXT, *accepted, 3])
    assert drafter.sequence.ids == fresh.ids
    for layer in range(model.layers):
        torch.testing.assert_close(
            drafter.sequence.cache.rows(layer), fresh.cache.rows(layer), rtol=1e-4, atol=1e-5
        )


def test_a_new_turn_reads_only_new_tokens():
    model = ours(reference("llama"))
    drafter = SpecExecDrafter(Sequence(model, 128), VOCABULARY)
    drafter.begin(CONTEXT, Sampler(), no_progress)
    rows = counted(model)
    drafter.begin([*CONTEXT[:4], 7, 8, 9], Sampler(), no_progress)
    assert rows == [2], "two new tokens; the root is run with the tree"


def test_a_draft_with_a_padded_vocabulary_never_proposes_the_padding():
    draft = ours(reference("llama", vocab_size=VOCABULARY + 9))
    drafter = SpecExecDrafter(Sequence(draft, 128), VOCABULARY)
    drafter.begin(CONTEXT, Sampler(), no_progress)
    drafter.plant(TreeLimits(budget=60, beams=8, depth=6))
    while drafter.grow(1, no_progress):
        pass
    assert drafter.snapshot(60).tokens.max() < VOCABULARY


@pytest.mark.parametrize(
    "settings",
    [
        dict(temperature=1.0),
        dict(temperature=0.7, top_p=0.9),
        dict(temperature=1.2, top_k=8),
        dict(temperature=1.0, min_p=0.05),
        dict(temperature=1.0, repetition_penalty=1.5, logit_bias={7: 4.0}),
        dict(temperature=0.0, repetition_penalty=1.5, frequency_penalty=0.5),
    ],
    ids=str,
)
def test_growth_predicts_the_targets_samples(settings):
    """If the draft is the target itself, nearly every next choice is the best child, which requires the
    noise, the penalties and the filters."""
    model = ours(reference("llama"))
    hits = {True: 0, False: 0}
    for coupled in hits:
        drafter = SpecExecDrafter(Sequence(model, 128), VOCABULARY, coupled=coupled)
        for seed in range(40):
            sampler = Sampler(seed=seed, **settings)
            context = [*CONTEXT, 7, seed % VOCABULARY]
            drafter.begin(context, sampler, no_progress)
            drafter.plant(TreeLimits(budget=1, beams=1, depth=1))
            drafter.grow(1, no_progress)
            logits = Sequence(model, 128).extend(context)[None]
            choice = sampler.choose(logits, torch.tensor([len(context)]), TokenHistory(context, [[]]))
            hits[coupled] += drafter.snapshot(1).tokens.tolist() == choice.tolist()
    assert hits[True] >= 38
    assert hits[False] <= 30
