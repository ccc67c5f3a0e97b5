"""Heads beside a target that multiplies in float16, as on cards before Ampere, do so too: their matrices and
rows take two bytes a number, and numbers between products stay float32."""

import math

import pytest
import torch

from engine.checkpoints import open_checkpoint
from engine.heads import open_heads
from engine.heads.compiled_eagle import TABLES
from engine.heads.interface import BlockHead, EagleHead
from engine.model.interface import no_progress
from engine.model.rows import Rows
from engine.torch_model.heads import load_heads
from engine.torch_model.loader import load_model
from tests.engine.heads import made
from tests.engine.models import VOCABULARY, reference

CONTEXT = 64
TEXT = [1, 7, 3, 40, 22, 9, 9, 31, 5]
LARGE = 1e6  # far beyond what float16 has
EMBEDDING = "p-eagle, its own embedding"


@pytest.fixture(scope="module")
def targets(tmp_path_factory):
    """One target that multiplies in float16, and in float32."""
    folder = tmp_path_factory.mktemp("target")
    reference("llama", num_hidden_layers=4).save_pretrained(folder)
    return [
        load_model(open_checkpoint(folder), dtype, "cpu", no_progress, CONTEXT)
        for dtype in (torch.float16, torch.float32)
    ]


def heads_of(name, folder):
    kind = name.partition(",")[0]
    weights = made.random_weights(kind)
    if name == EMBEDDING:
        weights["embed_tokens.weight"] = torch.randn(VOCABULARY, made.WIDTH)
    return open_heads(made.save(folder, kind, weights))


def numbers(heads, size):
    """Return logits that the heads guess from states of a size, and the dtype of the rows that they keep."""
    torch.manual_seed(3)
    states = size * torch.randn(len(TEXT) - 1, made.WIDTH)
    hidden = dict.fromkeys(heads.hidden_layers, states)
    if isinstance(heads, EagleHead):
        cache = heads.new_cache()
        guessed = heads.forward(Rows.text(TEXT[1:], 0), heads.fuse(hidden), cache)
        return guessed, cache.dtype
    if isinstance(heads, BlockHead):
        cache = heads.new_cache()
        return heads.guess(TEXT[1:], heads.fuse(hidden), cache), cache.dtype
    return heads.logits(states[-1:]), None


@pytest.mark.parametrize("name", [*made.KINDS, EMBEDDING])
def test_guesses_are_close_to_those_in_float32(name, targets, tmp_path):
    file = heads_of(name, tmp_path)
    halves, exact = (load_heads(file, target, CONTEXT) for target in targets)
    for size in (1.0, LARGE) if name in made.THREE else (1.0,):  # a norm brings large states back to size
        (found, kept), (expected, _) = (numbers(heads, size) for heads in (halves, exact))
        assert found.dtype == torch.float32
        assert kept in (None, torch.float16)
        largest = expected.abs().max()
        torch.testing.assert_close(found / largest, expected / largest, rtol=0.0, atol=0.004)
    assert halves.parameters == exact.parameters


@pytest.mark.parametrize("name", [*made.KINDS, EMBEDDING])
def test_matrices_and_rows_take_two_bytes_a_number(name, targets, tmp_path):
    file = heads_of(name, tmp_path)
    halves, exact = (load_heads(file, target, CONTEXT) for target in targets)
    shapes = [each.shape for name, each in file.tensors.items() if name not in TABLES]
    others = sum(math.prod(shape) for shape in shapes if len(shape) != 2)  # such as norms, in float32
    assert 2 * halves.nbytes == exact.nbytes + 4 * others
