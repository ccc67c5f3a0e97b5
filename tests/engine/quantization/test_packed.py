"""Packed matrices and the layers that use them against dense ones."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from torch.nn import functional
from transformers import MixtralConfig
from transformers.models.mixtral.modeling_mixtral import MixtralExperts

from engine.formats import FORMATS, BlockFormat
from engine.quantization import (
    Experts,
    Packed,
    PackedEmbedding,
    PackedLinear,
    Workspace,
    half_split,
    packed,
)
from engine.quantization.parts import DTYPES
from engine.quantization.random_matrix import random_packed
from tests.engine.formats.made import random_blocks, reference


@pytest.fixture(autouse=True)
def small_pieces(monkeypatch):
    """Pieces of 64 rows of 256 columns, so that small matrices have several."""
    monkeypatch.setattr(packed, "PIECE", 64 * 256)


@pytest.fixture
def workspace():
    return Workspace(torch.float32, torch.device("cpu"))


def matrix(name, shape, workspace, seed=0):
    """Return a random packed matrix and the same matrix dense."""
    form = FORMATS[name]
    if isinstance(form, BlockFormat):
        blocks = random_blocks(form, shape[0] * shape[1] // form.values, seed)
        data, dense = torch.from_numpy(blocks), torch.from_numpy(reference(form, blocks)).view(shape)
    else:
        dense = torch.randn(shape, generator=torch.Generator().manual_seed(seed))
        data, dense = dense.to(DTYPES[name]).view(torch.uint8), dense.to(DTYPES[name]).float()
    return Packed(form, shape, [data.flatten()], workspace), dense


several = pytest.mark.parametrize("name", ["Q8_0", "Q4_K", "Q6_K", "F32", "F16"])


@several
@pytest.mark.parametrize("rows", [1, 64, 200])
def test_a_product_in_pieces_is_the_product(name, rows, workspace):
    weight, dense = matrix(name, (rows, 256), workspace)
    x = torch.randn(3, 256)
    torch.testing.assert_close(weight.product(x), x @ dense.t())
    assert workspace.nbytes == (0 if name == "F32" else 4 * min(rows, 64) * 256), "F32 is only looked at"


@pytest.mark.parametrize("name", ["FP8_BLOCK", "NVFP4_SCALED", "W4_ZEROS", "GPTQ", "AWQ", "NVFP4_FACTORED"])
def test_tables_that_are_not_aligned_are_copied_once_not_for_each_piece(name, monkeypatch):
    """Files do not align tensors, and a streamed matrix lies in RAM as in its file."""
    whole = random_packed(name, (256, 256), "cpu", torch.float32)
    given = []
    for part in whole.parts:
        memory = np.empty(part.numel() + 1, np.uint8)
        assert memory.ctypes.data % 16 == 0
        memory[1:] = part.numpy()
        given.append(memory[1:])
    streamed = replace(whole, parts=())
    streamed.give(given)
    copies, clone = [], torch.Tensor.clone
    monkeypatch.setattr(torch.Tensor, "clone", lambda part: copies.append(part) or clone(part))
    x = torch.randn(3, 256)
    assert torch.equal(streamed.product(x), whole.product(x))
    assert not copies
    streamed.give(())
    assert not streamed.parts


@several
def test_the_dense_matrix_outlives_its_pieces(name, workspace):
    weight, expected = matrix(name, (200, 256), workspace)
    dense = weight.dense()
    workspace.take(1).zero_()
    assert torch.equal(dense, expected)


@several
def test_rows_are_returned_in_the_requested_order(name, workspace):
    weight, dense = matrix(name, (200, 256), workspace)
    which = torch.tensor([5, 199, 0, 5])
    assert torch.equal(weight.rows(which), dense[which])


@pytest.mark.parametrize("heads", [0, 4])
@pytest.mark.parametrize("biased", [False, True])
def test_packed_linear_is_linear(heads, biased, workspace):
    weight, dense = matrix("Q4_K", (96, 256), workspace)
    bias = torch.randn(96) if biased else None
    x = torch.randn(2, 3, 256)
    expected = functional.linear(x, half_split(dense, heads) if heads else dense, bias)
    torch.testing.assert_close(PackedLinear([weight], bias, heads)(x), expected)


def test_packed_linear_stacks_the_rows_of_two_matrices(workspace):
    (above, first), (below, second) = (matrix("Q8_0", (n, 64), workspace, n) for n in (40, 100))
    x = torch.randn(5, 64)
    expected = functional.linear(x, torch.cat([first, second]))
    torch.testing.assert_close(PackedLinear([above, below])(x), expected)


def test_half_split_puts_rotary_pairs_apart():
    assert half_split(torch.arange(12), 2).tolist() == [0, 2, 4, 1, 3, 5, 6, 8, 10, 7, 9, 11]


@pytest.mark.parametrize("scale", [None, 7.5])
def test_packed_embedding_is_embedding(scale, workspace):
    weight, dense = matrix("Q6_K", (200, 256), workspace)
    tokens = torch.tensor([[3, 199, 0], [3, 3, 64]])
    found = PackedEmbedding(weight, None if scale is None else torch.tensor(scale))(tokens)
    assert torch.equal(found, functional.embedding(tokens, dense) * (scale or 1.0))


def test_packed_experts_are_mixtrals(workspace):
    config = MixtralConfig(hidden_size=32, intermediate_size=48, num_local_experts=5)
    config._experts_implementation = "eager"
    theirs = MixtralExperts(config)
    ours = Experts(("gate_proj", "up_proj", "down_proj"), lambda gate, up: functional.silu(gate) * up)
    for parameter in theirs.parameters():
        torch.nn.init.normal_(parameter, std=0.3)
    for expert in range(4):  # no row is routed to the fifth, so it is never read
        gate, up = theirs.gate_up_proj[expert].data.chunk(2)
        for kind, dense in ("gate_proj", gate), ("up_proj", up), ("down_proj", theirs.down_proj[expert].data):
            data = dense.contiguous().view(torch.uint8).flatten()
            ours.place(kind, expert, Packed(FORMATS["F32"], tuple(dense.shape), [data], workspace))
    x = torch.randn(11, 32)
    chosen = torch.stack([torch.randperm(4)[:2] for _ in x])
    shares = torch.rand(11, 2)
    with torch.no_grad():
        torch.testing.assert_close(ours(x, chosen, shares), theirs(x, chosen, shares))
