"""The shipped EAGLE-3 head as a compiled program guesses what it guesses through torch."""

from functools import cache

import numpy as np
import pytest
import torch

from engine import catalog
from engine.checkpoints import open_checkpoint
from engine.heads import load_compiled_heads, open_heads
from engine.heads.compiled_eagle import CompiledEagleHead
from engine.model.interface import no_progress
from engine.model.loader import load_compiled
from engine.model.rows import Rows
from engine.model.sequence import Sequence
from engine.torch_model.eagle import TorchEagleHead
from engine.torch_model.heads import load_heads
from engine.torch_model.loader import load_model
from tests.engine.conftest import model_file

CONTEXT = 256
TEXT = [1, 504, 2988, 288, 451, 1962, 5721, 281, 260, 7564, 7180, 282, 1420, 284, 2380, 30, 378, 6376]


@cache
def heads():
    """The head beside a compiled target, and beside the same target in float32; the target's states."""
    checkpoint = open_checkpoint(model_file("smollm2"))
    file = open_heads(catalog.heads_for("smollm2"))
    compiled = load_compiled(checkpoint, no_progress, CONTEXT)
    exact = load_model(checkpoint, torch.float32, "cpu", no_progress, CONTEXT)
    fast, slow = load_compiled_heads(file, compiled, CONTEXT), load_heads(file, exact, CONTEXT)
    assert isinstance(fast, CompiledEagleHead)
    assert isinstance(slow, TorchEagleHead)
    states = Sequence(exact, CONTEXT).read(TEXT, slow.hidden_layers).hidden
    hidden = {layer: each.numpy() for layer, each in states.items()}
    return fast, slow, hidden


def close(found, expected):
    return torch.nn.functional.cosine_similarity(torch.from_numpy(found), expected, dim=-1).min() > 0.998


def test_both_report_the_same_head():
    fast, slow, _ = heads()
    assert (fast.layers, fast.hidden_layers, fast.parameters) == (
        slow.layers,
        slow.hidden_layers,
        slow.parameters,
    )
    assert fast.nbytes < slow.nbytes / 2


def test_guesses_and_best_tokens_agree():
    fast, slow, hidden = heads()
    rows = Rows.text(TEXT[1:], 0)
    found, guessed = [], []
    for head in (fast, slow):
        states = head.fuse(hidden)
        cache_of_head = head.new_cache()
        guessed.append(head.forward(rows, states[:-1], cache_of_head))
        found.append(head.best(guessed[-1], 10))
    assert close(*guessed)
    (tokens, log_probs), (expected, expected_log_probs) = found
    assert (tokens[:, 0] == expected[:, 0]).mean() > 0.9
    same = [len({*a} & {*b}) for a, b in zip(tokens.tolist(), expected.tolist(), strict=True)]
    assert sum(same) > 8.5 * len(same)
    assert np.abs(log_probs[:, 0] - expected_log_probs[:, 0]).mean() < 0.1


def test_a_node_of_a_tree_equals_the_text_of_its_path():
    fast, _, hidden = heads()
    states = fast.fuse(hidden)
    text = fast.new_cache()
    expected = fast.forward(Rows.text(TEXT[1:13], 0), states[:12], text)

    cache_of_head = fast.new_cache()
    fast.forward(Rows.text(TEXT[1:10], 0), states[:9], cache_of_head)
    cache_of_head.keep(range(9))
    # Two children of the committed text, one of them with a child of its own, in two rounds.
    first = Rows(np.array([TEXT[10], 7]), np.array([9, 9]), np.eye(2, dtype=np.bool_))
    one = fast.forward(first, states[[9, 9]], cache_of_head)
    visible = np.array([[True, False, True]])
    second = Rows(np.array([TEXT[11]]), np.array([10]), visible)
    two = fast.forward(second, states[10:11], cache_of_head)
    assert np.array_equal(one[0], expected[9])
    assert np.array_equal(two[0], expected[10])


def test_a_long_text_is_fused_and_guessed_in_pieces():
    fast, _, hidden = heads()
    states = np.tile(fast.fuse(hidden), (12, 1))[:200]
    tokens = (TEXT * 12)[:200]
    whole = fast.forward(Rows.text(tokens, 0), states, fast.new_cache())
    again = fast.new_cache()
    parts = []
    for start in range(0, 200, 37):
        stop = min(start + 37, 200)
        parts.append(fast.forward(Rows.text(tokens[start:stop], start), states[start:stop], again))
        again.keep(range(stop - start))
    assert np.array_equal(np.concatenate(parts), whole)
    assert np.array_equal(
        fast.fuse({layer: np.tile(each, (12, 1)) for layer, each in hidden.items()})[:200], states
    )


@pytest.mark.parametrize("rows", [1, 5, 128])
def test_best_tokens_do_not_depend_on_the_number_of_rows(rows):
    fast, _, hidden = heads()
    states = np.tile(fast.fuse(hidden), (8, 1))[:rows]
    tokens, log_probs = fast.best(states, 10)
    alone = fast.best(states[:1], 10)
    assert np.array_equal(tokens[:1], alone[0])
    assert np.array_equal(log_probs[:1], alone[1])
