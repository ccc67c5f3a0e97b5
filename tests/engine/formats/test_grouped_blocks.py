"""GPTQ and AWQ matrices written as blocks hold exactly the same numbers."""

import numpy as np
import pytest
import torch

from engine.checkpoints import Groups
from engine.compiled.matrix import tiled
from engine.formats import format_named
from engine.formats.grouped_blocks import targets, transcoded
from engine.quantization import Packed, Workspace
from tests.engine.quantization.grouped_reference import Matrix, stored

COLUMNS = 288
sizes = pytest.mark.parametrize("size", [32, 96, 128, COLUMNS])  # 128: a short last group; 288: one group
symmetries = pytest.mark.parametrize("symmetric", [False, True])


def written(name, parts, shape, groups):
    return transcoded(format_named(name), [part.numpy() for part in parts[:3]], shape, groups)


def assert_same_bits(found, parts, name, shape, groups):
    """Blocks, packed into tiles, hold the numbers of the matrix bit for bit, also the signs of zeros."""
    tiles = tiled(found[0], shape, found[1])
    numbers = np.empty(shape, np.float32)
    tiles.rows(np.arange(shape[0]), numbers)
    workspace = Workspace(torch.float32, torch.device("cpu"))
    expected = Packed(format_named(name), shape, parts, workspace, groups).dense().numpy()
    assert np.array_equal(numbers.view(np.uint32), expected.view(np.uint32))


@pytest.mark.parametrize("bits", [2, 3, 4, 8])
@pytest.mark.parametrize("rows", [32, 96, 224])
@pytest.mark.parametrize("version", [1, 2])
@sizes
@symmetries
def test_gptq_is_written_exactly_where_blocks_have_room(bits, rows, version, size, symmetric):
    shape, groups = (rows, COLUMNS), Groups(bits, size, version % 2)
    parts = stored(Matrix(bits, size, *shape, symmetric=symmetric, seed=rows).gptq(version))[:3]
    found = written("GPTQ", parts, shape, groups)
    if bits == 8 and not symmetric:
        assert found is None
        return
    assert found[0] == {2: "Q4_0", 3: "Q4_0", 4: "Q4_0" if symmetric else "Q5_0", 8: "Q8_0"}[bits]
    assert found[0] in targets(bits)
    assert_same_bits(found, parts, "GPTQ", shape, groups)


@pytest.mark.parametrize("rows", [8, 72, 136])
@sizes
@symmetries
@pytest.mark.parametrize("odd", [False, True])
def test_awq_is_written_exactly(rows, size, symmetric, odd):
    shape, groups = (rows, COLUMNS), Groups(4, size, 0)
    parts = stored(Matrix(4, size, *shape, symmetric=symmetric, seed=rows).awq(), odd)
    found = written("AWQ", parts, shape, groups)
    assert found[0] == ("Q4_0" if symmetric else "Q5_0")
    assert_same_bits(found, parts, "AWQ", shape, groups)


@pytest.mark.parametrize("bits", [2, 3, 4])
@pytest.mark.parametrize("zero", ["least", "most"])
@pytest.mark.parametrize("scale", [2.0**-24, 65504.0, -65504.0, 0.0, -0.0])
def test_extreme_zero_points_and_scales(bits, zero, scale):
    matrix, groups = Matrix(bits, 32, 64, 64), Groups(bits, 32, 0)
    matrix.zeros[:] = 0 if zero == "least" else (1 << bits) - 1
    matrix.scales[:] = scale
    parts = stored(matrix.gptq(2))[:3]
    assert_same_bits(written("GPTQ", parts, (64, 64), groups), parts, "GPTQ", (64, 64), groups)


def test_matrices_are_written_on_all_cores():
    shape, groups = (1120, 512), Groups(4, 128, 1)
    parts = stored(Matrix(4, 128, *shape).gptq(1))[:3]
    assert_same_bits(written("GPTQ", parts, shape, groups), parts, "GPTQ", shape, groups)


@pytest.mark.parametrize("name", ["GPTQ", "AWQ"])
@pytest.mark.parametrize("bits", [2, 3, 4, 8])
def test_quants_and_zero_points_are_the_same_in_numpy_and_torch(name, bits):
    if name == "AWQ" and bits != 4:
        pytest.skip("AWQ has 4 bits")
    form = format_named(name)
    words = np.random.default_rng(bits).integers(-(1 << 31), 1 << 31, (12, 32)).astype(np.int32)
    twin = torch.from_numpy(words)
    for offset in (0, 1):
        found = form.zeros(words, Groups(bits, 32, offset))
        assert np.array_equal(found, form.zeros(twin, Groups(bits, 32, offset)).numpy())
    shape = (256, 12) if form.awq else (32, 12 * 32 // bits)
    found = form.quants(words, shape, 8, 16, bits)
    assert found.shape == (shape[1], 16)
    assert np.array_equal(found, form.quants(twin, shape, 8, 16, bits).numpy())
