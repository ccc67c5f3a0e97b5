"""Tensors of every GGUF format against gguf's own unpacking, bit for bit, by kernels and in plain torch."""

import itertools

import numpy as np
import pytest
import torch
from gguf import GGMLQuantizationType
from gguf.quants import quantize
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.formats import FORMATS
from engine.formats.blocks import kernel_of
from engine.quantization import operations
from engine.quantization.blocks import numbers_of as blocks_in_torch
from engine.quantization.parts import DTYPES
from tests.engine.formats.made import BLOCKS, random_blocks, reference, with_scales

RESULTS = [torch.float32, torch.bfloat16, torch.float16]
LARGEST, SMALLEST = 65504.0, 2.0**-24  # finite and positive float16 numbers

every_format = pytest.mark.parametrize("form", BLOCKS, ids=lambda form: form.name)


def blocks_of(form, count):
    return torch.from_numpy(random_blocks(form, count))


def numbers_of(form, blocks):
    return torch.from_numpy(reference(form, blocks.numpy()))


def unpacked(form, data, shape, dtype=torch.float32, first=0, count=None):
    """Call `unpack` and check that it writes only to its output."""
    count = shape[0] if count is None else count
    out = torch.full((count * shape[1] + 5,), 9.0, dtype=dtype)
    found = operations.unpack(form, [data], shape, first, count, out)
    assert found.shape == (count, shape[1])
    assert found.data_ptr() == out.data_ptr()
    assert out[count * shape[1] :].eq(9).all()
    return found


def same(found, expected):
    """Return whether all bits are equal, including signs of zeros; a NaN equals a NaN."""
    torch.testing.assert_close(found, expected, rtol=0, atol=0, equal_nan=True)
    signs = torch.signbit(found) == torch.signbit(expected)
    assert (signs | expected.isnan()).all()


def both_ways_equal_the_reference(form, blocks, dtypes=RESULTS):
    expected = numbers_of(form, blocks)
    same(blocks_in_torch(form, blocks), expected)
    for dtype in dtypes:
        found = unpacked(form, blocks.flatten(), (1, expected.numel()), dtype)
        same(found, expected.view(1, -1).to(dtype))


@every_format
def test_random_blocks_equal_the_reference(form):
    both_ways_equal_the_reference(form, blocks_of(form, 301))


@every_format
@pytest.mark.parametrize("fill", [0x00, 0xFF, 0x0F, 0xF0])
def test_extreme_blocks_equal_the_reference(form, fill):
    extremes = [0.0, -0.0, LARGEST, -LARGEST, SMALLEST, -SMALLEST, 513 * SMALLEST, -0.37]
    scales = list(itertools.product(extremes, repeat=len(form.scales)))
    blocks = np.full((len(scales), form.nbytes), fill, np.uint8)
    both_ways_equal_the_reference(form, torch.from_numpy(with_scales(form, blocks, scales)))


@every_format
@settings(max_examples=25, deadline=None)
@given(data=st.data())
def test_any_bytes_equal_the_reference(form, data):
    drawn = data.draw(st.binary(min_size=form.nbytes, max_size=form.nbytes))
    blocks = torch.from_numpy(np.frombuffer(drawn, np.uint8).reshape(1, -1).copy())
    both_ways_equal_the_reference(form, blocks, RESULTS[:2])


@pytest.mark.parametrize("name", ["Q4_0", "Q4_1", "Q5_0", "Q5_1", "Q8_0"])
def test_numbers_packed_by_gguf_are_restored(name):
    weights = np.random.default_rng(0).normal(size=(7, 96)).astype(np.float32)
    data = torch.from_numpy(quantize(weights, GGMLQuantizationType[name])).flatten()
    error = unpacked(FORMATS[name], data, (7, 96)) - torch.from_numpy(weights)
    assert error.abs().max() < 0.4


@every_format
@pytest.mark.parametrize("dtype", RESULTS)
def test_parallel_unpacking_leaves_no_gap(form, dtype):
    in_row, rows = 3, 2 * 2048 // 3 + 12  # two threads' pieces and a remainder
    blocks = blocks_of(form, in_row * rows)
    found = unpacked(form, blocks.flatten(), (rows, in_row * form.values), dtype)
    same(found, numbers_of(form, blocks).view(rows, -1).to(dtype))


@every_format
@pytest.mark.parametrize("offset", [0, 1, 3])
@pytest.mark.parametrize("rows", [(1, 0, 1), (7, 0, 7), (7, 2, 3), (7, 6, 1)])  # all, first, count
@pytest.mark.parametrize("in_row", [1, 3])
def test_any_rows_at_any_address(form, offset, rows, in_row):
    rows, first, count = rows
    blocks = blocks_of(form, rows * in_row)
    data = torch.cat([torch.full((offset,), 255, dtype=torch.uint8), blocks.flatten()])[offset:]
    expected = numbers_of(form, blocks)
    found = unpacked(form, data, (rows, in_row * form.values), first=first, count=count)
    same(found, expected.view(rows, -1)[first : first + count])
    same(blocks_in_torch(form, data.view(-1, form.nbytes)), expected)


@pytest.mark.parametrize("form", [form for form in BLOCKS if form.scale == "F16"], ids=lambda form: form.name)
@pytest.mark.parametrize("dtype", RESULTS)
def test_a_nan_stays_a_nan(form, dtype):
    blocks = blocks_of(form, 4)
    for place in form.scales:  # the NaN whose mantissa bits are not in bfloat16
        blocks[2, place : place + 2] = torch.tensor([0x01, 0x7C])
    found = unpacked(form, blocks.flatten(), (4, form.values), dtype)
    assert torch.equal(found.isnan().all(dim=1), torch.tensor([False, False, True, False]))
    assert found[[0, 1, 3]].isfinite().all()


@pytest.mark.parametrize("name", DTYPES)
@pytest.mark.parametrize("dtype", RESULTS)
@pytest.mark.parametrize("offset", [0, 1, 8])
def test_plain_numbers_are_returned_unchanged_or_rounded(name, dtype, offset):
    weight = torch.randn(9, 5, dtype=torch.float64).to(DTYPES[name])
    data = torch.cat([torch.zeros(offset, dtype=torch.uint8), weight.view(torch.uint8).flatten()])[offset:]
    found = operations.unpack(FORMATS[name], [data], (9, 5), 2, 6, torch.empty(40, dtype=dtype))
    assert torch.equal(found, weight[2:8].to(dtype))
    if DTYPES[name] == dtype and offset != 1:
        assert found.data_ptr() == data.data_ptr() + 2 * 5 * dtype.itemsize  # nothing was copied


@pytest.mark.parametrize("dtype", RESULTS)
def test_after_preparation_the_first_call_is_fast(dtype):
    kernel_of.cache_clear()
    form = FORMATS["Q8_0"]
    operations.prepare_kernel("Q8_0", dtype)
    assert len(form.kernel.signatures) == 1
    unpacked(form, blocks_of(form, 2).flatten(), (1, 64), dtype)
    assert len(form.kernel.signatures) == 1


@every_format
def test_unpacking_again_copies_nothing_from_the_host(form, monkeypatch):
    """What runs once is then recorded as a CUDA graph, where such copies are forbidden."""
    blocks = blocks_of(form, 3)
    first = blocks_in_torch(form, blocks)

    def refuse(*arguments, **others):
        raise RuntimeError("operation not permitted when stream is capturing")

    for name in ("tensor", "as_tensor", "from_numpy"):
        monkeypatch.setattr(torch, name, refuse)
    same(blocks_in_torch(form, blocks), first)
