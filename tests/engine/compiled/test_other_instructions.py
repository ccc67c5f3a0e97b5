"""With other vector instructions than this processor's best ones, products and attention are as right."""

import os
import platform
import subprocess
import sys
from itertools import product
from pathlib import Path
from unittest.mock import patch

import numpy as np
import pytest

from engine.compiled import cache_rows, table
from engine.compiled.instructions import INSTRUCTIONS, LANES
from engine.compiled.layout import BLOCK, LAYOUTS
from engine.compiled.matrix import tiled
from engine.compiled.product import ROW_COUNTS
from engine.formats import FORMATS
from tests.engine.compiled import test_attention as attention
from tests.engine.compiled import test_product as products
from tests.engine.compiled.made import (
    PLAIN,
    activations,
    error,
    most_error,
    multiply,
    same_bits,
    stored,
    streamed,
    unit,
    unpacked,
)
from tests.engine.formats.made import reference

ROOT = Path(__file__).parents[3]
ROWS = 7
# What numba compiles for.
PROCESSORS = {
    "avx2": {"NUMBA_CPU_NAME": "haswell", "NUMBA_CPU_FEATURES": "+avx2,+fma,+f16c,+bmi2"},
    "portable": {"NUMBA_CPU_NAME": "generic", "NUMBA_CPU_FEATURES": ""},
}


def ways_of(layout):
    """What the code of a product does for each row of activations depends on no more of its layout: whether
    numbers are plain, scales are those of units, and a block has several; and how AVX2 adds up products of so
    many bits (`product._avx2_dot`)."""
    form = LAYOUTS[layout]
    loops = bool(form.number), form.supers or form.group > BLOCK, form.group < BLOCK
    if form.number:
        return {loops}
    bits = max(form.levels).bit_length() if form.levels else form.bits
    halved = bits == 8
    return {loops, (halved, min(8, 32767 // (2 * 127 * ((1 << (4 if halved else bits)) - 1))))}


def few_with_all_ways():
    """A few layouts in which each way to go through several rows occurs: products of each number of rows are
    compiled anew."""
    left, chosen = set().union(*map(ways_of, LAYOUTS)), []
    while left:
        chosen.append(max(LAYOUTS, key=lambda layout: len(ways_of(layout) & left)))
        left -= ways_of(chosen[-1])
    return chosen


SEVERAL_ROWS = few_with_all_ways()


def numbers_of(layout, shape, data):
    """The numbers of a matrix, without the loops that unpack formats: these take longest to compile."""
    if layout in PLAIN:
        return unpacked(layout, shape, data)
    form = FORMATS[layout]
    return reference(form, data.reshape(-1, form.nbytes)).reshape(shape)


def check_product(layout, at_once):
    """Check what tests of products do; at_once: how many rows are multiplied at once."""
    for units in (1, 3):  # an odd number of units tries how quants are aligned
        shape = 3 * LANES - 2, units * unit(layout)
        data = stored(layout, shape)
        tiles, numbers = tiled(layout, shape, data), numbers_of(layout, shape, data)
        x = activations(ROWS, shape[1])
        passes = np.split(x, range(at_once, ROWS, at_once))
        found = np.concatenate([multiply([tiles], each, products.pool(2)) for each in passes])
        assert error(found, x, numbers) < most_error(layout), layout
        as_stored = [multiply([streamed(tiles, data)], each, products.pool()) for each in passes]
        assert same_bits(np.concatenate(as_stored), found), layout
        for row in range(ROWS if at_once > 1 else 0):
            alone = multiply([tiles], x[row : row + 1], products.pool())
            assert same_bits(alone, found[row : row + 1]), layout
    if at_once > 1:
        read = np.empty(shape, np.float32)
        tiles.rows(np.arange(len(read)), read)
        np.testing.assert_allclose(read, numbers, rtol=1e-6)
    if layout not in PLAIN:
        for sign in (1, -1):
            products.assert_no_overflow(layout, sign, rows=min(2, at_once))


def check_all():
    """Check each way to unpack quants and scales with single rows, each way to go through several with a
    layout for it, and attention; in a process with these instructions."""
    for layout in LAYOUTS:
        several = layout in SEVERAL_ROWS
        with patch.object(table, "ROW_COUNTS", ROW_COUNTS if several else (1,)):
            check_product(layout, ROWS if several else 1)
    for form, width in product(cache_rows.FORMATS, attention.WIDTHS):
        attention.check(form, width, 7, 1)
    attention.check("Q8_0", 64, 6, 2, window=41, cap=2.0)
    attention.test_a_row_of_eight_bits_is_within_half_a_step_of_what_was_written(96)
    print(INSTRUCTIONS, LANES)


@pytest.mark.parametrize("instructions", PROCESSORS)
def test_products_and_attention(instructions):
    if instructions == "avx2" and platform.machine().lower() not in ("x86_64", "amd64"):
        pytest.skip("needs an x86-64 processor")
    done = subprocess.run(
        [sys.executable, "-c", f"from {__name__} import check_all; check_all()"],
        cwd=ROOT,
        env={**os.environ, **PROCESSORS[instructions], "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=280,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == [instructions, "8"]
