"""Matrices whose quants and scales are stored apart, in tiles: the numbers of the files, and products."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from engine.compiled.instructions import LANES
from engine.compiled.layout import LAYOUTS, TILES, layout_of
from engine.compiled.matrix import StreamedMatrix, can_tile, locate, new_place, tiled
from engine.compiled.pool import ComputePool
from engine.formats import FORMATS, NibbleFormat, ScaledFormat
from engine.formats.joined import APART
from engine.quantization.random_matrix import random_packed
from tests.engine.compiled.made import activations, error, multiply, same_bits

NAMES = [name for name in FORMATS if layout_of(name) and name not in LAYOUTS and name != APART]
# Formats whose factor is multiplied by after all else, not as torch does it: the last bits differ.
LATE = ("NVFP4_APART", "NVFP4_SCALED")
every_format = pytest.mark.parametrize("name", NAMES)


def made(name, shape, groups=None):
    """A random matrix as stored, with scales of both signs, and its numbers by torch. groups: of the columns
    of a row, for formats with groups of any size."""
    packed = random_packed(name, shape, "cpu", torch.float32)
    parts = [part.numpy().copy() for part in packed.parts]
    if isinstance(packed.format, NibbleFormat) and packed.format.scales == "E4M3":
        parts[1] |= np.random.default_rng(0).integers(0, 2, len(parts[1]), np.uint8) << 7
    if groups:
        parts[1] = parts[1][: shape[0] * groups * 2]
        parts[2:] = [part[: -(-shape[0] // 8) * groups * 4] for part in parts[2:]]
    changed = replace(packed, parts=[torch.from_numpy(part) for part in parts])
    assert changed.format.valid(parts)
    return parts, changed.dense().numpy()


def in_tiles(name, shape, parts):
    return tiled(layout_of(name), shape, *parts, stored=name)


def read(tiles):
    out = np.full(tiles.shape, np.nan, np.float32)
    tiles.rows(np.arange(len(out)), out)
    return out


def assert_numbers(name, found, numbers):
    if name in LATE:
        np.testing.assert_allclose(found, numbers, rtol=2**-22, atol=0)
    else:
        assert np.array_equal(found, numbers)


@every_format
@pytest.mark.parametrize("shape", [(1, 64), (2 * LANES + 5, 192), (150, 320)])
def test_tiles_hold_the_numbers_of_the_file(name, shape):
    parts, numbers = made(name, shape)
    assert_numbers(name, read(in_tiles(name, shape, parts)), numbers)


@pytest.mark.parametrize("name", [name for name in NAMES if name.startswith("W4")])
@pytest.mark.parametrize("groups", [1, 3])
def test_groups_may_have_any_multiple_of_a_block(name, groups):
    shape = LANES + 9, 192
    parts, numbers = made(name, shape, groups)
    assert np.array_equal(read(in_tiles(name, shape, parts)), numbers)


def test_every_byte_of_fp8_is_the_number_that_torch_makes_of_it():
    every = np.arange(256, dtype=np.uint8)
    every[every & 127 == 127] = 0
    expected = torch.from_numpy(every).view(torch.float8_e4m3fn).float().numpy()[None]
    tiles = in_tiles("FP8_MATRIX", (1, 256), [every, np.ones(1, np.float32).view(np.uint8)])
    assert same_bits(read(tiles), expected)
    for first in range(0, 256, 32):
        x = np.eye(256, dtype=np.float32)[first : first + 32]
        assert np.array_equal(multiply([tiles], x, ComputePool(1))[:, 0], expected[0, first : first + 32])


@every_format
def test_products_are_close_and_a_row_does_not_depend_on_its_neighbours(name):
    shape = 3 * LANES + 5, 576
    parts, numbers = made(name, shape)
    tiles, x = in_tiles(name, shape, parts), activations(11, shape[1])
    found = multiply([tiles], x, ComputePool(2))
    most = 1e-5 if isinstance(FORMATS[name], ScaledFormat) else 1e-2
    assert error(found, x, numbers) < most
    for row in (0, 7, 10):
        assert same_bits(multiply([tiles], x[row : row + 1], ComputePool(1)), found[row : row + 1])


@every_format
def test_streamed_parts_give_the_same_bits(name):
    shape = 2 * LANES + 3, 320
    parts, _ = made(name, shape)
    place = new_place()
    locate(place, parts, shape[0])
    there = StreamedMatrix(layout_of(name), shape, 0, place, name)
    x = activations(5, shape[1])
    expected = multiply([in_tiles(name, shape, parts)], x, ComputePool(1))
    assert same_bits(multiply([there], x, ComputePool(2)), expected)


def test_a_row_in_fp8_needs_whole_blocks_of_32_only():
    assert can_tile("FP8", (LANES, 96))
    assert not can_tile("FP8", (LANES, 100))
    assert TILES["FP8"].tile_nbytes(128) < TILES["FP8"].tile_nbytes(160)
