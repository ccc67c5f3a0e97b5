"""GPTQ unpacks to exactly scale * (quant - zero point), however it was packed."""

from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file

from engine.checkpoints import Groups
from engine.formats import format_named
from engine.quantization import grouped, operations
from engine.quantization.parts import typed_parts
from tests.engine.quantization.grouped_reference import Matrix, stored

DATA = Path(__file__).parent / "data"
BITS = (2, 3, 4, 8)


def unpacked(parts, shape, groups, dtype=torch.float32, name="GPTQ", first=0, count=None):
    count = shape[0] if count is None else count
    out = torch.full((count * shape[1] + 7,), 9.0, dtype=dtype)
    found = operations.unpack(format_named(name), parts, shape, first, count, out, groups)
    assert found.shape == (count, shape[1])
    assert found.data_ptr() == out.data_ptr()
    assert out[count * shape[1] :].eq(9).all()
    return found


@pytest.mark.parametrize("bits", BITS)
@pytest.mark.parametrize("size", [32, 128, 200, 288])  # 200: a short last group; 288: one group
@pytest.mark.parametrize("act_order", [False, True])
@pytest.mark.parametrize("symmetric", [False, True])
@pytest.mark.parametrize("version", [1, 2])
def test_unpacking_returns_the_packed_numbers(bits, size, act_order, symmetric, version):
    matrix = Matrix(bits, size, 96, 288, act_order, symmetric)
    groups = Groups(bits, size, version % 2)
    parts = stored(matrix.gptq(version))
    assert torch.equal(unpacked(parts, (96, 288), groups), matrix.numbers())
    if not act_order:
        assert torch.equal(unpacked(parts[:3], (96, 288), groups), matrix.numbers())


@pytest.mark.parametrize("bits", BITS)
@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_shorter_types_are_rounded_from_float32(bits, dtype):
    matrix = Matrix(bits, 32, 64, 96)
    found = unpacked(stored(matrix.gptq(2)), (64, 96), Groups(bits, 32, 0), dtype)
    assert torch.equal(found, matrix.numbers().to(dtype))


@pytest.mark.parametrize("bits", BITS)
@pytest.mark.parametrize(("first", "count"), [(0, 64), (64, 128), (192, 32), (64, 160), (0, 224)])
@pytest.mark.parametrize("odd", [False, True])
def test_any_rows_at_any_address(bits, first, count, odd):
    matrix = Matrix(bits, 64, 224, 192, act_order=True)
    parts = stored(matrix.gptq(1), odd)
    found = unpacked(parts, (224, 192), Groups(bits, 64, 1), first=first, count=count)
    assert torch.equal(found, matrix.numbers()[first : first + count])


@pytest.mark.parametrize(("name", "counts"), [("GPTQ", (3, 4)), ("AWQ", (3,)), ("Q8_0", (1,))])
def test_a_matrix_has_the_parts_of_its_format_and_only_gptqs_index_may_be_missing(name, counts):
    parts = [torch.zeros(64, dtype=torch.uint8)] * 5
    for count in range(6):
        if count in counts:
            assert len(typed_parts(format_named(name), parts[:count])) == count
        else:
            with pytest.raises(ValueError, match="zip"):
                typed_parts(format_named(name), parts[:count])


def test_wide_matrices_are_unpacked_on_all_cores():
    matrix = Matrix(4, 128, 2112, 256, act_order=True)
    found = unpacked(stored(matrix.gptq(1)), (2112, 256), Groups(4, 128, 1))
    assert torch.equal(found, matrix.numbers())


@pytest.mark.parametrize(
    ("name", "scales"), [("GPTQ", torch.float16), ("GPTQ_BF16", torch.bfloat16), ("GPTQ_F32", torch.float32)]
)
def test_scales_of_every_type(name, scales):
    matrix = Matrix(4, 32, 64, 64, scales=scales)
    parts = stored(matrix.gptq(2), odd=True)
    assert torch.equal(unpacked(parts, (64, 64), Groups(4, 32, 0), name=name), matrix.numbers())


@pytest.mark.parametrize("bits", BITS)
def test_the_path_of_other_devices_gives_the_same_numbers(bits):
    matrix = Matrix(bits, 64, 128, 192, act_order=True)
    groups = Groups(bits, 64, 1)
    found = grouped.numbers(format_named("GPTQ"), stored(matrix.gptq(1)), (128, 192), 64, 64, groups)
    assert torch.equal(found.t(), matrix.numbers()[64:])


@pytest.mark.parametrize("bits", [2, 4, 8])
def test_version_1_zero_points_wrap_word_by_word(bits):
    """GPTQModel subtracts one from all numbers of a word at once: a zero borrows from the next number."""
    matrix = Matrix(bits, 32, 64, 64)
    matrix.zeros[0, :5] = 0
    parts = matrix.gptq(2)
    parts["qzeros"] = parts["qzeros"] - sum(1 << at for at in range(0, 31, bits))
    assert torch.equal(unpacked(stored(parts), (64, 64), Groups(bits, 32, 1)), matrix.numbers())


def test_version_1_zero_points_of_3_bits_wrap_by_themselves():
    matrix = Matrix(3, 32, 64, 64)
    matrix.zeros[0, :5] = 8
    parts = stored(matrix.gptq(1))
    matrix.zeros[0, :5] = 0
    assert torch.equal(unpacked(parts, (64, 64), Groups(3, 32, 1)), matrix.numbers())


@pytest.mark.parametrize("scale", [2.0**-24, 6e-8, 65504.0, -65504.0, 0.0])
def test_extreme_scales(scale):
    matrix = Matrix(8, 32, 64, 64)
    matrix.scales[:] = scale
    parts = stored(matrix.gptq(2))
    assert torch.equal(unpacked(parts, (64, 64), Groups(8, 32, 0)), matrix.numbers())


@pytest.mark.parametrize("bits", BITS)
@pytest.mark.parametrize("group", [0, 2, 3, -1, 1 << 30])
def test_groups_without_a_scale_read_no_other_memory(bits, group):
    matrix = Matrix(bits, 32, 64, 96)
    parts = matrix.gptq(2)
    parts["g_idx"][5] = group
    found = unpacked(stored(parts), (64, 96), Groups(bits, 32, 0))
    others = torch.arange(96) != 5
    assert torch.equal(found[:, others], matrix.numbers()[:, others])


@pytest.mark.parametrize(
    ("bits", "size", "offset"), [(2, 32, 1), (3, 32, 1), (3, 64, 0), (4, 32, 1), (4, 16, 0), (8, 32, 1)]
)
def test_agrees_with_gptqmodels_own_unpacking(bits, size, offset):
    """Packed and unpacked by GPTQModel (see data/make.py)."""
    tensors = load_file(DATA / f"gptq_{bits}_{size}_{offset}.safetensors")
    expected = tensors.pop("expected")  # float16 [columns, rows]
    parts = stored({name: tensors[name] for name in ("qweight", "qzeros", "scales", "g_idx")})
    found = unpacked(parts, tuple(expected.t().shape), Groups(bits, size, offset), torch.float16)
    assert torch.equal(found, expected.t())
