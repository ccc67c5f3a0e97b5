"""Every GGUF format against gguf's own unpacking, bit for bit; packed matrices against dense ones."""

import itertools
import subprocess
import sys

import numba
import numpy as np
import pytest
import torch
from gguf import GGMLQuantizationType
from gguf.quants import dequantize, quantize
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.nn import functional
from transformers import MixtralConfig
from transformers.models.mixtral.modeling_mixtral import MixtralExperts

from engine.errors import UnsupportedModel
from engine.quantization import (
    FORMATS,
    Experts,
    Packed,
    PackedEmbedding,
    PackedLinear,
    Workspace,
    format_named,
    half_split,
    jit,
    packed,
    q8_0,
)
from engine.quantization.blocks import BlockFormat

BLOCKS = [each for each in FORMATS.values() if isinstance(each, BlockFormat)]
PLAIN = {"F64": torch.float64, "F32": torch.float32, "F16": torch.float16, "BF16": torch.bfloat16}
DTYPES = [torch.float32, torch.bfloat16, torch.float16]
LARGEST, SMALLEST = 65504.0, 2.0**-24  # finite and positive float16 numbers

every_format = pytest.mark.parametrize("form", BLOCKS, ids=lambda form: form.name)


def with_scales(form, blocks, scales):
    """Return uint8 [blocks, bytes] with the float16 `scales` [blocks, places] written into it."""
    for place, column in zip(form.scales, np.asarray(scales, np.float16).T, strict=True):
        blocks[:, place : place + 2] = column[:, None].copy().view(np.uint8)
    return torch.from_numpy(blocks)


def random_blocks(form, count, seed=0):
    """Return uint8 [count, bytes]: random quants, scales like those of real weights."""
    generator = np.random.default_rng(seed)
    blocks = generator.integers(0, 256, (count, form.nbytes), dtype=np.uint8)
    return with_scales(form, blocks, generator.normal(0, 0.02, (count, len(form.scales))))


def reference(form, blocks):
    """Return float32 [blocks, values], unpacked by gguf."""
    with np.errstate(invalid="ignore"):  # the product of infinity and zero
        return torch.from_numpy(dequantize(blocks.numpy(), GGMLQuantizationType[form.name]))


def unpacked(form, data, shape, dtype=torch.float32, first=0, count=None):
    """Call `unpack` and check that it writes only to its output."""
    count = shape[0] if count is None else count
    out = torch.full((count * shape[1] + 5,), 9.0, dtype=dtype)
    found = form.unpack([data], shape, first, count, out)
    assert found.shape == (count, shape[1])
    assert found.data_ptr() == out.data_ptr()
    assert out[count * shape[1] :].eq(9).all()
    return found


def same(found, expected):
    """Return whether all bits are equal, including signs of zeros; a NaN equals a NaN."""
    torch.testing.assert_close(found, expected, rtol=0, atol=0, equal_nan=True)
    signs = torch.signbit(found) == torch.signbit(expected)
    assert (signs | expected.isnan()).all()


def both_ways_equal_the_reference(form, blocks, dtypes=DTYPES):
    expected = reference(form, blocks)
    same(form.numbers(blocks), expected)
    for dtype in dtypes:
        found = unpacked(form, blocks.flatten(), (1, expected.numel()), dtype)
        same(found, expected.view(1, -1).to(dtype))


@every_format
def test_random_blocks_equal_the_reference(form):
    both_ways_equal_the_reference(form, random_blocks(form, 301))


@every_format
@pytest.mark.parametrize("fill", [0x00, 0xFF, 0x0F, 0xF0])
def test_extreme_blocks_equal_the_reference(form, fill):
    extremes = [0.0, -0.0, LARGEST, -LARGEST, SMALLEST, -SMALLEST, 513 * SMALLEST, -0.37]
    scales = list(itertools.product(extremes, repeat=len(form.scales)))
    blocks = np.full((len(scales), form.nbytes), fill, np.uint8)
    both_ways_equal_the_reference(form, with_scales(form, blocks, scales))


@every_format
@settings(max_examples=25, deadline=None)
@given(data=st.data())
def test_any_bytes_equal_the_reference(form, data):
    drawn = data.draw(st.binary(min_size=form.nbytes, max_size=form.nbytes))
    blocks = torch.from_numpy(np.frombuffer(drawn, np.uint8).reshape(1, -1).copy())
    both_ways_equal_the_reference(form, blocks, DTYPES[:2])


@pytest.mark.parametrize("name", ["Q4_0", "Q4_1", "Q5_0", "Q5_1", "Q8_0"])
def test_numbers_packed_by_gguf_are_restored(name):
    weights = np.random.default_rng(0).normal(size=(7, 96)).astype(np.float32)
    data = torch.from_numpy(quantize(weights, GGMLQuantizationType[name])).flatten()
    error = unpacked(FORMATS[name], data, (7, 96)) - torch.from_numpy(weights)
    assert error.abs().max() < 0.4


@every_format
@pytest.mark.parametrize("dtype", DTYPES)
def test_parallel_unpacking_leaves_no_gap(form, dtype):
    in_row, rows = 3, 2 * 2048 // 3 + 12  # two threads' pieces and a remainder
    blocks = random_blocks(form, in_row * rows)
    found = unpacked(form, blocks.flatten(), (rows, in_row * form.values), dtype)
    same(found, reference(form, blocks).view(rows, -1).to(dtype))


@every_format
@pytest.mark.parametrize("offset", [0, 1, 3])
@pytest.mark.parametrize("rows", [(1, 0, 1), (7, 0, 7), (7, 2, 3), (7, 6, 1)])  # all, first, count
@pytest.mark.parametrize("in_row", [1, 3])
def test_any_rows_at_any_address(form, offset, rows, in_row):
    rows, first, count = rows
    blocks = random_blocks(form, rows * in_row)
    data = torch.cat([torch.full((offset,), 255, dtype=torch.uint8), blocks.flatten()])[offset:]
    expected = reference(form, blocks)
    found = unpacked(form, data, (rows, in_row * form.values), first=first, count=count)
    same(found, expected.view(rows, -1)[first : first + count])
    same(form.numbers(data.view(-1, form.nbytes)), expected)


@every_format
@pytest.mark.parametrize("bits", [0x7C00, 0xFC00, 0x7C01, 0xFE00, 0x7FFF])
def test_scales_that_are_not_finite_are_invalid(form, bits):
    blocks = random_blocks(form, 5)
    assert form.valid([blocks.flatten()])
    for place in form.scales:
        damaged = blocks.clone()
        damaged[4, place : place + 2] = torch.tensor([bits & 255, bits >> 8])
        assert not form.valid([damaged.flatten()])


@every_format
def test_large_scales_and_any_quants_are_valid(form):
    blocks = np.full((3, form.nbytes), 0xFF, np.uint8)
    scales = np.full((3, len(form.scales)), -LARGEST)
    assert form.valid([with_scales(form, blocks, scales).flatten()])


@every_format
@pytest.mark.parametrize("dtype", DTYPES)
def test_a_nan_stays_a_nan(form, dtype):
    blocks = random_blocks(form, 4)
    for place in form.scales:  # the NaN whose mantissa bits are not in bfloat16
        blocks[2, place : place + 2] = torch.tensor([0x01, 0x7C])
    found = unpacked(form, blocks.flatten(), (4, form.values), dtype)
    assert torch.equal(found.isnan().all(dim=1), torch.tensor([False, False, True, False]))
    assert found[[0, 1, 3]].isfinite().all()


@pytest.mark.parametrize("name", PLAIN)
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("offset", [0, 1, 8])
def test_plain_numbers_are_returned_unchanged_or_rounded(name, dtype, offset):
    weight = torch.randn(9, 5, dtype=torch.float64).to(PLAIN[name])
    data = torch.cat([torch.zeros(offset, dtype=torch.uint8), weight.view(torch.uint8).flatten()])[offset:]
    found = FORMATS[name].unpack([data], (9, 5), 2, 6, torch.empty(40, dtype=dtype))
    assert torch.equal(found, weight[2:8].to(dtype))
    if PLAIN[name] == dtype and offset != 1:
        assert found.data_ptr() == data.data_ptr() + 2 * 5 * dtype.itemsize  # nothing was copied


@pytest.mark.parametrize("name", PLAIN)
@pytest.mark.parametrize("value", [float("inf"), float("-inf"), float("nan")])
def test_plain_numbers_that_are_not_finite_are_invalid(name, value):
    weight = torch.randn(4, 3).to(PLAIN[name])
    assert FORMATS[name].valid([weight.view(torch.uint8).flatten()])
    weight[3, 2] = value
    assert not FORMATS[name].valid([weight.view(torch.uint8).flatten()])


@pytest.mark.parametrize("dtype", DTYPES)
def test_after_preparation_the_first_call_is_fast(dtype):
    form = q8_0.FORMAT
    fresh = BlockFormat(form.name, form.scales, jit.kernel(form.kernel.py_func), form.numbers)
    fresh.prepare(dtype)
    assert len(fresh.kernel.signatures) == 1
    unpacked(fresh, random_blocks(form, 2).flatten(), (1, 64), dtype)
    assert len(fresh.kernel.signatures) == 1


def test_an_unknown_format_is_refused_with_the_supported_ones():
    with pytest.raises(UnsupportedModel, match="NEW_FORMAT") as caught:
        format_named("NEW_FORMAT")
    assert all(name in caught.value.hint for name in FORMATS)
    assert format_named("Q4_K").name == "Q4_K"


# Packed matrices. Pieces of 64 rows of 256 columns, so that small matrices have several.


@pytest.fixture(autouse=True)
def small_pieces(monkeypatch):
    monkeypatch.setattr(packed, "PIECE", 64 * 256)


@pytest.fixture
def workspace():
    return Workspace(torch.float32, torch.device("cpu"))


def matrix(name, shape, workspace, seed=0):
    """Return a random packed matrix and the same matrix dense."""
    form = FORMATS[name]
    if isinstance(form, BlockFormat):
        blocks = random_blocks(form, shape[0] * shape[1] // form.values, seed)
        dense = reference(form, blocks).view(shape)
    else:
        dense = torch.randn(shape, generator=torch.Generator().manual_seed(seed))
        blocks = dense.to(PLAIN[name]).view(torch.uint8)
        dense = dense.to(PLAIN[name]).float()
    return Packed(form, shape, [blocks.flatten()], workspace), dense


several = pytest.mark.parametrize("name", ["Q8_0", "Q4_K", "Q6_K", "F32", "F16"])


@several
@pytest.mark.parametrize("rows", [1, 64, 200])
def test_a_product_in_pieces_is_the_product(name, rows, workspace):
    weight, dense = matrix(name, (rows, 256), workspace)
    x = torch.randn(3, 256)
    torch.testing.assert_close(weight.product(x), x @ dense.t())
    assert workspace.nbytes == 4 * min(rows, 64) * 256


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
    theirs, ours = MixtralExperts(config), Experts(functional.silu)
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


# The compiler's cache.


def double(data, out):
    out[0] = 2 * data[0]


def compiled(folder, monkeypatch):
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(folder))
    monkeypatch.setattr(jit, "_CACHED", True)
    return jit.kernel(double)


def cache_hits(kernel):
    """Run `kernel` and return how many compiled loops were read from the cache."""
    out = np.zeros(1, np.float32)
    kernel(np.array([21], np.uint8), out)
    assert out[0] == 42
    return sum(kernel.stats.cache_hits.values())


@pytest.mark.parametrize("suffix", ["nbi", "nbc"])
@pytest.mark.parametrize("damage", ["empty", "cut", "garbage"])
def test_a_damaged_cache_is_rebuilt(suffix, damage, tmp_path, monkeypatch):
    assert cache_hits(compiled(tmp_path, monkeypatch)) == 0
    assert cache_hits(compiled(tmp_path, monkeypatch)) == 1
    (file,) = tmp_path.rglob(f"*.{suffix}")
    content = file.read_bytes()
    file.write_bytes({"empty": b"", "cut": content[: len(content) // 2], "garbage": b"\x93" * 100}[damage])
    assert cache_hits(compiled(tmp_path, monkeypatch)) == 0
    assert cache_hits(compiled(tmp_path, monkeypatch)) == 1


def test_a_cache_that_becomes_unwritable_causes_no_error(tmp_path, monkeypatch):
    kernel = compiled(tmp_path, monkeypatch)
    (folder,) = tmp_path.iterdir()
    folder.rmdir()
    folder.write_bytes(b"")  # a file in place of the folder: not even root can write into it
    assert cache_hits(kernel) == 0


def test_without_a_cache_folder_kernels_are_compiled_in_each_process(tmp_path):
    program = """
import sys
from pathlib import Path
import numpy as np, platformdirs
platformdirs.user_cache_path = lambda *args, **kwargs: Path(sys.argv[1])
from engine.quantization import jit, q8_0
out = np.zeros(32, np.float32)
q8_0.unpack(np.array([0, 0x3C] + [7] * 32, np.uint8), out)
print(out[0], jit._CACHED)
"""
    no_folder = tmp_path / "file"
    no_folder.write_bytes(b"")
    command = [sys.executable, "-c", program, str(no_folder)]
    assert subprocess.run(command, capture_output=True, text=True, check=True).stdout.split() == [
        "7.0",
        "False",
    ]
