"""Matrices in tiles hold exactly the numbers of the files that they were packed from."""

import numpy as np
import pytest
import torch

from engine.checkpoints.storage import BLOCKS
from engine.compiled.instructions import LANES
from engine.compiled.layout import ALIGNMENT, LAYOUTS
from engine.compiled.matrix import aligned, can_tile, tiled
from engine.formats import FORMATS
from tests.engine.compiled.made import PLAIN, matrix, stored, unit, unpacked
from tests.engine.formats.made import with_scales

every_layout = pytest.mark.parametrize("layout", LAYOUTS)


def read(tiles, which):
    out = np.full((len(which), tiles.shape[1]), np.nan, np.float32)
    tiles.rows(np.asarray(which, np.int64), out)
    return out


@every_layout
@pytest.mark.parametrize("units", [1, 3])
@pytest.mark.parametrize("rows", [1, LANES, 3 * LANES, 2 * LANES - 3, 2 * LANES + 1])
def test_rows_are_read_back_exactly(layout, rows, units):
    shape = rows, units * unit(layout)
    tiles, numbers = matrix(layout, shape)
    assert np.array_equal(read(tiles, range(rows)), numbers)
    assert tiles.tiles == -(-rows // LANES)


@every_layout
def test_rows_are_read_in_any_order_and_more_than_once(layout):
    tiles, numbers = matrix(layout, (5 * LANES + 2, unit(layout)), seed=3)
    which = [5 * LANES + 1, 0, 7, 7, LANES, LANES - 1, 0]
    assert np.array_equal(read(tiles, which), numbers[which])


@every_layout
def test_a_matrix_packed_by_several_threads_is_the_same(layout):
    columns = 2 * unit(layout)
    rows = (1 << 20) // columns * 2 + 5  # two pieces of a million numbers, and some more
    tiles, numbers = matrix(layout, (rows, columns), seed=4)
    which = [*range(3), *range(rows // 2 - 20, rows // 2 + 20), *range(rows - 7, rows)]
    assert np.array_equal(read(tiles, which), numbers[which])


@pytest.mark.parametrize("layout", [name for name in LAYOUTS if name not in PLAIN])
@pytest.mark.parametrize("fill", [0x00, 0xFF, 0x0F, 0xF0, 0x55])
def test_extreme_quants_and_scales_are_read_back_exactly(layout, fill):
    form, shape = FORMATS[layout], (LANES + 1, unit(layout))
    data = np.full((shape[0] * shape[1] // form.values, form.nbytes), fill, np.uint8)
    extremes = [0.0, -0.0, 65504.0, -65504.0, 2.0**-24, -0.37]
    if form.scale == "E8M0":
        extremes = [2.0**exponent for exponent in (-127, -126, -125, 0, 125)]
    with_scales(form, data, np.repeat(np.resize(extremes, (len(data), 1)), len(form.scales), axis=1))
    found = read(tiled(layout, shape, data.flatten()), range(shape[0]))
    np.testing.assert_array_equal(found, unpacked(layout, shape, data.flatten()))


@every_layout
def test_tiles_take_few_more_bytes_than_the_file(layout):
    """Tiles are rounded up to whole cache lines."""
    rows, columns = 8 * LANES, 2 * unit(layout)
    tiles, _ = matrix(layout, (rows, columns))
    values, nbytes = BLOCKS[layout]
    more = 1.2 if LAYOUTS[layout].supers else 1.0  # 4- and 6-bit scales take 8 bits in tiles
    more = 1.12 if layout == "NVFP4" else more  # its scales of 8 bits take 16
    more = 1.06 if LAYOUTS[layout].scale == "BF16" else more  # and exponents 16
    own = {"IQ1": 2.13, "IQ2": 1.62, "IQ3": 1.42, "TQ1": 1.23}  # and each number its own quant
    more = own.get(layout[:3], more)
    assert tiles.nbytes <= more * rows * columns * nbytes // values + 2 * ALIGNMENT * tiles.tiles
    assert tiles.nbytes == tiles.tiles * tiles.tile_nbytes
    assert tiles.data.ctypes.data % ALIGNMENT == tiles.tile_nbytes % ALIGNMENT == 0


@every_layout
def test_columns_that_do_not_fill_blocks_are_refused(layout):
    size = unit(layout)
    for columns in (size, 2 * size, 9 * size):
        assert can_tile(layout, (LANES, columns))
        assert can_tile(layout, (1, columns)), "any number of rows fits"
    for columns in (size - 1, size + 1, size // 2, size + size // 2, 16):
        assert not can_tile(layout, (LANES, columns))


@pytest.mark.parametrize("name", ["F64", "GPTQ4", "nonsense"])
def test_formats_without_a_layout_are_refused(name):
    assert not can_tile(name, (LANES, 512))


@pytest.mark.parametrize("nbytes", [1, 64, 1000])
def test_memory_starts_at_a_cache_line_and_is_zero(nbytes):
    memory = aligned(nbytes)
    assert memory.ctypes.data % ALIGNMENT == 0
    assert len(memory) == nbytes
    assert not memory.any()


def test_plain_numbers_that_are_not_finite_are_kept():
    for layout, dtype in PLAIN.items():
        data = stored(layout, (2, 32))
        numbers = torch.from_numpy(data.copy()).view(dtype)
        numbers[:3] = torch.tensor([float("nan"), float("inf"), -float("inf")])
        found = read(tiled(layout, (2, 32), numbers.view(torch.uint8).numpy()), range(2))
        np.testing.assert_array_equal(found, numbers.float().view(2, 32).numpy())
