"""Loaded heads compute the same as the reference implementations."""

import numpy as np
import pytest
import torch

from engine.heads import open_heads
from engine.heads.interface import guesses
from engine.model.rows import Rows
from engine.torch_model.heads import load_heads
from tests.engine.heads import made
from tests.engine.models import VOCABULARY, ours, reference

TEXT = [1, 5, 9, 30, 2, 44, 17, 8, 60, 3, 3, 21]


def table_and_head(target):
    module = target.module
    return module.get_input_embeddings().weight.detach(), module.get_output_embeddings().weight.detach()


def assert_in_pieces(head, states, guess):
    """Check a head against `guess`, which returns the states that it guesses behind tokens, [tokens, width]:
    in pieces over its cache, and in rows of a tree, which are like the plain text of their path. Return those
    of two branches. states: of TEXT."""
    kept = head.new_cache()
    found = [head.forward(Rows.text(TEXT[:7], 0), states[:7], kept)]
    kept.keep(range(7))
    found.append(head.forward(Rows.text(TEXT[7:10], 7), states[7:10], kept))
    torch.testing.assert_close(torch.cat(found), guess(TEXT, states)[:10], rtol=1e-4, atol=1e-5)

    # Two branches after the tail's first row.
    visible = np.array([[1, 0, 0, 1, 0], [1, 0, 0, 0, 1]], np.bool_)
    branches = Rows(np.array([6, 7]), np.array([8, 8]), visible)
    of_branches = head.forward(branches, states[10:], kept)
    for row, token in enumerate((6, 7)):
        path = [*range(8), 10 + row]
        plain = guess([*TEXT[:8], token], states[path])
        torch.testing.assert_close(of_branches[row], plain[-1], rtol=1e-4, atol=1e-5)
    return of_branches


@pytest.mark.parametrize("pickled", [False, True], ids=["safetensors", "torch.save"])
@pytest.mark.parametrize("kind", ["medusa", "medusa_2"])
def test_medusa_heads_equal_the_reference(tmp_path, target, kind, pickled):
    weights = made.random_weights(kind)
    heads = load_heads(open_heads(made.save(tmp_path, kind, weights, pickled)), target, 64)
    state = torch.randn(made.WIDTH)
    tokens, log_probs = guesses(heads.logits(state), 5)
    expected = made.medusa(weights, kind, state, table_and_head(target)[1]).log_softmax(-1).topk(5)
    assert tokens.tolist() == expected.indices.tolist()
    torch.testing.assert_close(torch.from_numpy(log_probs), expected.values)


@pytest.mark.parametrize("pickled", [False, True], ids=["safetensors", "torch.save"])
@pytest.mark.parametrize("kind", ["eagle", "eagle_bias", "eagle3"])
def test_an_eagle_head_equals_the_reference(tmp_path, target, kind, pickled):
    """Also in pieces over its cache, and rows of a tree like the plain text of their path."""
    weights = made.random_weights(kind)
    head = load_heads(open_heads(made.save(tmp_path, kind, weights, pickled)), target, 64)
    table, lm_head = table_and_head(target)
    hidden = {layer: torch.randn(len(TEXT), made.WIDTH) for layer in head.hidden_layers}
    states = head.fuse(hidden)
    torch.testing.assert_close(states, made.fused(weights, kind, [hidden[n] for n in head.hidden_layers]))

    layer = made.layer_of(kind)
    found = assert_in_pieces(head, states, lambda tokens, read: layer(weights, table[tokens], read))

    tokens, log_probs = head.best(found, 6)
    best = made.logits(weights, kind, found, lm_head).log_softmax(-1).topk(6)
    assert tokens.tolist() == best.indices.tolist()
    torch.testing.assert_close(torch.from_numpy(log_probs), best.values, rtol=1e-4, atol=1e-5)
    assert tokens.max() < VOCABULARY


@pytest.mark.parametrize("own", [False, True], ids=["the target's embedding", "its own embedding"])
def test_a_p_eagle_head_equals_the_reference(tmp_path, target, own):
    """Also in pieces over its cache."""
    weights = made.random_weights("p-eagle")
    table, lm_head = table_and_head(target)
    if own:
        table = weights["embed_tokens.weight"] = torch.randn(table.shape)
    head = load_heads(open_heads(made.save(tmp_path, "p-eagle", weights)), target, 64)
    hidden = {layer: torch.randn(len(TEXT) - 1, made.WIDTH) for layer in head.hidden_layers}
    states = head.fuse(hidden)
    cache = head.new_cache()
    for start, root in ((0, 7), (7, 8), (8, 11)):
        found = head.guess(TEXT[start + 1 : root + 1], states[start:root], cache)
        assert (cache.length, cache.tail) == (root, 0)
        tokens, log_probs = head.best(found, 6)
        text = torch.tensor(TEXT[: root + 1])
        expected = made.guessed_block(weights, "p-eagle", table, text, states[:root], lm_head)
        best = expected.log_softmax(-1).topk(6)
        assert tokens.tolist() == best.indices.tolist()
        torch.testing.assert_close(torch.from_numpy(log_probs), best.values, rtol=1e-4, atol=1e-4)


WINDOWS = dict(layer_types=["sliding_attention", "full_attention"], use_sliding_window=True, sliding_window=4)


@pytest.mark.parametrize(
    ("changes", "causal"),
    [
        ({}, [False, False]),
        (WINDOWS, [True, False]),
        (WINDOWS | {"is_causal": False}, [False, False]),
        ({"is_causal": True}, [True, True]),
    ],
    ids=["everything", "windows", "windows, both ways", "causal"],
)
def test_a_dflash_head_equals_the_reference(tmp_path, target, changes, causal):
    """Also in pieces over its cache."""
    weights = made.random_weights("dflash")
    head = load_heads(open_heads(made.save(tmp_path, "dflash", weights, **changes)), target, 64)
    table, lm_head = table_and_head(target)
    hidden = {layer: torch.randn(len(TEXT) - 1, made.WIDTH) for layer in head.hidden_layers}
    states = head.fuse(hidden)
    torch.testing.assert_close(states, made.fused(weights, "dflash", [hidden[n] for n in made.READ]))
    cache = head.new_cache()
    for start, root in ((0, 7), (7, 8), (8, 11)):
        found = head.guess(TEXT[start + 1 : root + 1], states[start:root], cache)
        assert (cache.length, cache.tail) == (root, 0)
        ahead = torch.arange(root + made.BLOCK) - torch.arange(root, root + made.BLOCK)[:, None]
        seen = torch.stack([ahead <= 0 if each else ahead > -99 for each in causal])
        if "sliding_window" in changes:
            seen[0] &= ahead.abs() < 4
        block = made.block(table, torch.tensor(TEXT[root]))
        expected = made.dflash(weights, block, states[:root], seen)[1:] @ lm_head.T
        torch.testing.assert_close(found, expected, rtol=1e-4, atol=1e-4)
    tokens, log_probs = head.best(found, 6)
    best = expected.log_softmax(-1).topk(6)
    assert tokens.tolist() == best.indices.tolist()
    torch.testing.assert_close(torch.from_numpy(log_probs), best.values, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("kind", made.KINDS)
def test_tokens_in_the_padding_of_a_head_are_never_guessed(tmp_path, kind):
    padded = ours(reference("llama", num_hidden_layers=4))
    padded.vocabulary = known = VOCABULARY - 20
    heads = load_heads(open_heads(made.save(tmp_path, kind, made.random_weights(kind))), padded, 64)
    if heads.method == "medusa":
        tokens, log_probs = guesses(heads.logits(torch.randn(made.WIDTH)), VOCABULARY)
    elif kind in made.BLOCKS:
        states = torch.randn(4, made.WIDTH)
        tokens, log_probs = heads.best(heads.guess(TEXT[:4], states, heads.new_cache()), VOCABULARY)
    else:
        tokens, log_probs = heads.best(torch.randn(4, made.WIDTH), VOCABULARY)
    guessed = tokens[np.isfinite(log_probs)]
    assert 0 < guessed.max() < known
    assert len({*guessed.tolist()}) > known // 3
