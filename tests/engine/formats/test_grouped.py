"""Which bytes are valid in GPTQ and AWQ."""

import pytest
import torch

from engine.formats import format_named
from tests.engine.quantization.grouped_reference import Matrix, stored

SCALES = {"": torch.float16, "_BF16": torch.bfloat16, "_F32": torch.float32}


def is_valid(name, matrix, odd=False, **changed):
    parts = matrix.awq() if name.startswith("AWQ") else matrix.gptq(2)
    return format_named(name).valid([part.numpy() for part in stored(parts | changed, odd)])


@pytest.mark.parametrize("method", ["GPTQ", "AWQ"])
@pytest.mark.parametrize("suffix", SCALES)
@pytest.mark.parametrize("odd", [False, True])
@pytest.mark.parametrize("value", [float("nan"), float("inf"), -float("inf")])
def test_scales_that_are_not_finite_are_invalid(method, suffix, odd, value):
    matrix = Matrix(4, 32, 64, 64, scales=SCALES[suffix])
    assert is_valid(method + suffix, matrix, odd)
    matrix.scales[1, 7] = value
    assert not is_valid(method + suffix, matrix, odd)


@pytest.mark.parametrize("suffix", ["_BF16", "_F32"])
@pytest.mark.parametrize("sign", [1, -1])
def test_scales_that_overflow_with_large_quants_are_invalid(suffix, sign):
    matrix = Matrix(4, 32, 64, 64, scales=SCALES[suffix])
    matrix.scales[0, 0] = sign * 1e36
    assert is_valid("GPTQ" + suffix, matrix)
    matrix.scales[0, 0] = sign * 3e38
    assert not is_valid("GPTQ" + suffix, matrix)


@pytest.mark.parametrize("scale", [2.0**-24, 65504.0, -65504.0, 0.0])
def test_extreme_scales_are_valid(scale):
    matrix = Matrix(8, 32, 64, 64)
    matrix.scales[:] = scale
    assert is_valid("GPTQ", matrix)


@pytest.mark.parametrize("bits", [2, 3, 4, 8])
@pytest.mark.parametrize(
    ("group", "valid"), [(0, True), (2, True), (3, False), (-1, False), (1 << 30, False)]
)
def test_groups_without_a_scale_are_invalid(bits, group, valid):
    matrix = Matrix(bits, 32, 64, 96)
    index = matrix.gptq(2)["g_idx"]
    index[5] = group
    assert is_valid("GPTQ", matrix, g_idx=index) is valid
