"""AWQ unpacks to exactly scale * (quant - zero point)."""

from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file

from engine.checkpoints import Groups
from engine.formats import format_named
from engine.quantization import grouped
from tests.engine.quantization.grouped_reference import Matrix, stored
from tests.engine.quantization.test_gptq import unpacked

DATA = Path(__file__).parent / "data"


@pytest.mark.parametrize("size", [32, 64, 192])
@pytest.mark.parametrize("symmetric", [False, True])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16])
def test_unpacking_returns_the_packed_numbers(size, symmetric, dtype):
    matrix = Matrix(4, size, 104, 192, symmetric=symmetric)
    found = unpacked(stored(matrix.awq()), (104, 192), Groups(4, size, 0), dtype, "AWQ")
    assert torch.equal(found, matrix.numbers().to(dtype))


@pytest.mark.parametrize(("first", "count"), [(0, 64), (64, 128), (192, 8), (64, 136)])
@pytest.mark.parametrize("odd", [False, True])
def test_any_rows_at_any_address(first, count, odd):
    matrix = Matrix(4, 64, 200, 128)
    found = unpacked(
        stored(matrix.awq(), odd), (200, 128), Groups(4, 64, 0), name="AWQ", first=first, count=count
    )
    assert torch.equal(found, matrix.numbers()[first : first + count])


@pytest.mark.parametrize(
    ("name", "scales"), [("AWQ", torch.float16), ("AWQ_BF16", torch.bfloat16), ("AWQ_F32", torch.float32)]
)
def test_scales_of_every_type(name, scales):
    matrix = Matrix(4, 32, 64, 64, scales=scales)
    assert torch.equal(
        unpacked(stored(matrix.awq()), (64, 64), Groups(4, 32, 0), name=name), matrix.numbers()
    )


def test_the_path_of_other_devices_gives_the_same_numbers():
    matrix = Matrix(4, 64, 128, 192)
    found = grouped.numbers(format_named("AWQ"), stored(matrix.awq()), (128, 192), 64, 64, Groups(4, 64, 0))
    assert torch.equal(found.t(), matrix.numbers()[64:])


def test_agrees_with_gptqmodels_own_unpacking():
    """Packed and unpacked by GPTQModel (see data/make.py)."""
    tensors = load_file(DATA / "awq_32.safetensors")
    expected = tensors.pop("expected")  # float16 [columns, rows]
    parts = stored({name: tensors[name] for name in ("qweight", "qzeros", "scales")})
    found = unpacked(parts, tuple(expected.t().shape), Groups(4, 32, 0), torch.float16, "AWQ")
    assert torch.equal(found, expected.t())
