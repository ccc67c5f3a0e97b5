"""Rounding to few bits: near to the numbers, and nearer than rounding without a search."""

import gguf
import numpy as np
import pytest

from engine.checkpoints.storage import BLOCKS
from engine.formats import check_valid, unpacked
from engine.formats.encode import encoded

FORMATS = ("Q4_0", "Q2_K")


def weights(blocks=64, seed=0):
    """Numbers like a model's: groups of different sizes, with some outliers."""
    random = np.random.default_rng(seed)
    numbers = random.standard_normal((blocks * 8, 32)) * random.uniform(0.01, 0.1, (blocks * 8, 1))
    numbers[random.random(numbers.shape) < 0.005] *= 8
    return numbers.astype(np.float32).reshape(-1)


def error(numbers, name):
    found = unpacked(name, encoded(name, numbers), len(numbers))
    return float(np.sqrt(((found - numbers) ** 2).mean() / (numbers**2).mean()))


def naive_2_bits(numbers):
    """The error of 2-bit quants over the range of each 16 numbers, with exact scales and minima."""
    groups = numbers.reshape(-1, 16)
    low = np.minimum(groups.min(axis=1, keepdims=True), 0)
    unit = (groups.max(axis=1, keepdims=True) - low) / 3
    found = np.rint((groups - low) / unit) * unit + low
    return float(np.sqrt(((found - groups) ** 2).mean() / (groups**2).mean()))


def test_4_bits_are_nearer_than_ggmls_own_rounding():
    numbers = weights()
    kind = gguf.GGMLQuantizationType.Q4_0
    rounded = gguf.quants.dequantize(gguf.quants.quantize(numbers.reshape(-1, 32), kind), kind).reshape(-1)
    theirs = float(np.sqrt(((rounded - numbers) ** 2).mean() / (numbers**2).mean()))
    assert error(numbers, "Q4_0") < 0.98 * theirs


def test_2_bits_are_nearer_than_rounding_over_the_whole_range():
    assert error(weights(), "Q2_K") < 0.97 * naive_2_bits(weights())


@pytest.mark.parametrize("name", FORMATS)
def test_numbers_on_a_grid_are_kept(name):
    quants = np.tile(np.array([-3, 0, 3, 6], np.float32), 128) if name == "Q2_K" else weights(2)
    if name == "Q4_0":
        quants = np.rint(quants * 100).clip(-8, 7)
        quants[::32] = -8
    numbers = quants * np.float32(0.25)
    found = unpacked(name, encoded(name, numbers), len(numbers))
    np.testing.assert_allclose(found, numbers, rtol=0.02, atol=0.02)


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("value", [0.0, 1e-30, -1e-30, 3.5, -3.5, 1e30, -1e30])
def test_constant_and_extreme_numbers_give_finite_blocks(name, value):
    numbers = np.full(512, value, np.float32)
    data = encoded(name, numbers)
    check_valid(name, [data], "The blocks")
    found = unpacked(name, data, 512)
    if 1e-3 < abs(value) < 1e4 or not value:
        np.testing.assert_allclose(found, numbers, rtol=2e-3)


@pytest.mark.parametrize("name", FORMATS)
def test_pieces_do_not_matter(name):
    numbers = weights(160)  # more blocks than a thread takes at a time
    values, nbytes = BLOCKS[name]
    whole = encoded(name, numbers)
    half = len(numbers) // values // 2
    assert np.array_equal(whole[: half * nbytes], encoded(name, numbers[: half * values]))
    assert np.array_equal(whole[half * nbytes :], encoded(name, numbers[half * values :]))
