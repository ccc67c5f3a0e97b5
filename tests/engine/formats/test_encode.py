"""Rounding to few bits: near to the numbers, and nearer than rounding without a search."""

import gguf
import numpy as np
import pytest

from engine.checkpoints.storage import BLOCKS
from engine.formats import check_valid, unpacked
from engine.formats.encode import encoded

FORMATS = ("Q4_0", "Q3_K", "Q2_K")


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


def test_3_bits_are_nearer_than_rounding_by_the_largest_of_each_group():
    groups = weights().reshape(-1, 16)
    largest = np.take_along_axis(groups, np.abs(groups).argmax(axis=1)[:, None], axis=1)
    naive = np.rint(groups / (largest / -4)).clip(-4, 3) * (largest / -4)
    theirs = float(np.sqrt(((naive - groups) ** 2).mean() / (groups**2).mean()))
    assert error(weights(), "Q3_K") < 0.97 * theirs


@pytest.mark.parametrize("name", FORMATS)
def test_small_numbers_are_as_near_as_large_ones(name):
    """Scales of such blocks are subnormal as float16."""
    numbers = np.random.default_rng(1).standard_normal(256 * 64).astype(np.float32)
    assert error(numbers * np.float32(0.002), name) < 1.1 * error(numbers, name)
    assert not unpacked(name, encoded(name, numbers * np.float32(1e-12)), len(numbers)).any()


def test_more_bits_are_nearer():
    numbers = np.random.default_rng(1).standard_normal(256 * 64).astype(np.float32)
    fewest, middle, most = (error(numbers, name) for name in ("Q2_K", "Q3_K", "Q4_0"))
    assert 1.3 * most < middle < 0.75 * fewest


@pytest.mark.parametrize("name", FORMATS)
def test_ggml_reads_the_same_numbers(name):
    numbers = weights()
    blocks = encoded(name, numbers)
    theirs = gguf.quants.dequantize(blocks.reshape(-1, BLOCKS[name][1]), gguf.GGMLQuantizationType[name])
    assert np.array_equal(unpacked(name, blocks, len(numbers)), theirs.reshape(-1))


@pytest.mark.parametrize("name", FORMATS)
def test_numbers_on_a_grid_are_kept(name):
    quants = np.tile(np.array([-3, 0, 3, 6], np.float32), 128)
    if name != "Q2_K":
        least, group = {"Q4_0": (-8, 32), "Q3_K": (-4, 16)}[name]
        quants = np.rint(weights(2) * 100).clip(least, -least - 1)
        quants[::group] = least
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
