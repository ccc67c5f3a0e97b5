"""Products at packed size: close to those of the unpacked numbers, and the same bits for a row whatever runs
beside it."""

from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.compiled.instructions import LANES
from engine.compiled.layout import LAYOUTS
from engine.compiled.matrix import tiled
from engine.compiled.pool import ComputePool
from engine.compiled.product import ROW_COUNTS, chunk_sizes
from engine.formats import FORMATS
from tests.engine.compiled.made import (
    PLAIN,
    activations,
    error,
    matrix,
    most_error,
    multiply,
    same_bits,
    stored,
    streamed,
    unit,
)
from tests.engine.formats.made import reference, with_scales

every_layout = pytest.mark.parametrize("layout", LAYOUTS)
packed_layouts = pytest.mark.parametrize("layout", [name for name in LAYOUTS if name not in PLAIN])


@cache
def pool(threads=1):
    return ComputePool(threads)


@every_layout
@pytest.mark.parametrize("rows", ROW_COUNTS)
def test_the_product_is_close_to_that_of_the_unpacked_numbers(layout, rows):
    tiles, numbers = matrix(layout, (3 * LANES, 512))
    x = activations(rows, 512, seed=rows)
    assert chunk_sizes(rows) == [rows]
    assert error(multiply([tiles], x, pool()), x, numbers) < most_error(layout)


@every_layout
def test_a_row_does_not_depend_on_its_neighbours(layout):
    tiles, _ = matrix(layout, (2 * LANES + 5, 512))
    x = activations(3 * max(ROW_COUNTS) - 1, 512)
    alone = np.concatenate([multiply([tiles], row[None], pool()) for row in x])
    for rows in (*ROW_COUNTS, 3, 7, len(x)):
        assert same_bits(multiply([tiles], x[:rows], pool()), alone[:rows])
        assert same_bits(multiply([tiles], x[-rows:], pool()), alone[-rows:])


@pytest.mark.parametrize("rows", range(1, 70))
def test_chunks_add_up_and_have_sizes_that_are_compiled(rows):
    sizes = chunk_sizes(rows)
    assert sum(sizes) == rows
    assert set(sizes) <= set(ROW_COUNTS)
    assert sizes == sorted(sizes, reverse=True)


@settings(deadline=None, max_examples=60)
@given(data=st.data())
def test_threads_and_neighbours_change_no_bit(data):
    """Also of several matrices side by side, of layouts that read different records."""
    layouts = data.draw(st.lists(st.sampled_from(list(LAYOUTS)), min_size=1, max_size=3))
    columns = max(unit(layout) for layout in layouts) * data.draw(st.integers(1, 3))
    heights = [LANES * data.draw(st.integers(1, 40)) for _ in layouts]
    heights[-1] -= data.draw(st.integers(0, LANES - 1))
    rows = data.draw(st.integers(1, 40))
    made = [matrix(layout, (height, columns)) for layout, height in zip(layouts, heights, strict=True)]
    tiles = [each for each, _ in made]
    x = activations(rows, columns, seed=rows)
    found = multiply(tiles, x, pool())
    for threads in (2, 5):
        assert same_bits(multiply(tiles, x, pool(threads)), found)
    row = data.draw(st.integers(0, rows - 1))
    assert same_bits(multiply(tiles, x[row : row + 1], pool(2)), found[row : row + 1])
    start = 0
    for (each, numbers), layout in zip(made, layouts, strict=True):
        part = found[:, start : start + each.shape[0]]
        assert error(part, x, numbers) < 2 * most_error(layout)  # of a single output, say: no average
        start += each.shape[0]


@every_layout
@pytest.mark.parametrize("height", [1, LANES, 3 * LANES + 5])
@pytest.mark.parametrize("threads", [1, 3])
def test_streamed_weights_give_the_same_bits(layout, height, threads):
    shape = height, 2 * unit(layout)
    data = stored(layout, shape)
    tiles, x = tiled(layout, shape, data), activations(max(ROW_COUNTS) + 3, shape[1])
    found = multiply([streamed(tiles, data)], x, pool(threads))
    assert same_bits(found, multiply([tiles], x, pool()))


@every_layout
def test_only_the_asked_rows_are_multiplied(layout):
    tiles, _ = matrix(layout, (2 * LANES, 512))
    x = activations(9, 512)
    found = multiply([tiles], x, pool(), asked=5)
    assert same_bits(found[:5], multiply([tiles], x[:5], pool()))
    assert np.isnan(found[5:]).all(), "rows that are not asked are left alone"


@every_layout
@pytest.mark.parametrize("strange", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("column", [0, 15, 16, 31, 300])
def test_a_row_that_is_not_finite_spoils_itself_alone(layout, strange, column):
    tiles, _ = matrix(layout, (2 * LANES, 512))
    for rows, spoilt in ((1, 0), (2, 1), (max(ROW_COUNTS) + 3, 2)):
        x = activations(rows, 512)
        expected = multiply([tiles], x, pool())
        x[spoilt, column] = strange
        found = multiply([tiles], x, pool())
        assert not np.isfinite(found[spoilt]).any()
        others = np.arange(rows) != spoilt
        assert same_bits(found[others], expected[others])


@every_layout
def test_a_row_of_zeros_has_zeros_as_its_product(layout):
    tiles, _ = matrix(layout, (LANES, 512))
    assert not multiply([tiles], np.zeros((3, 512), np.float32), pool()).any()


@every_layout
@pytest.mark.parametrize("size", [1e-30, 1e-10, 1e10, 1e30])
def test_activations_of_any_size_keep_their_accuracy(layout, size):
    tiles, numbers = matrix(layout, (2 * LANES, 512))
    x = activations(3, 512) * np.float32(size)
    assert error(multiply([tiles], x, pool()), x, numbers) < most_error(layout)


def largest(layout):
    """A matrix of the largest quants, with its numbers."""
    form, shape = FORMATS[layout], (LANES, 512)
    blocks = np.full((shape[0] * shape[1] // form.values, form.nbytes), 0xFF, np.uint8)
    with_scales(form, blocks, np.full((len(blocks), len(form.scales)), 0.01))
    return tiled(layout, shape, blocks.flatten()), reference(form, blocks).reshape(shape)


@packed_layouts
@pytest.mark.parametrize("sign", [1, -1])
def test_the_largest_quants_and_activations_overflow_nothing(layout, sign):
    assert_no_overflow(layout, sign)


def assert_no_overflow(layout, sign, rows=2):
    tiles, numbers = largest(layout)
    x = np.full((rows, 512), 3.0 * sign, np.float32)
    np.testing.assert_allclose(multiply([tiles], x, pool()), x @ numbers.T, rtol=1e-3, atol=1e-2)
