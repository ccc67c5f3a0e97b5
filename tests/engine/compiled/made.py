"""Random matrices in every layout, and their products by compiled steps."""

import numpy as np
import torch

from engine.compiled import steps
from engine.compiled.layout import LAYOUTS
from engine.compiled.matrix import StreamedMatrix, tiled
from engine.compiled.program import CompiledPass, DecoderShape, address
from engine.formats import FORMATS
from engine.formats import unpacked as format_unpacked
from tests.engine.formats.made import random_blocks

PLAIN = {"F32": torch.float32, "F16": torch.float16, "BF16": torch.bfloat16}


def unit(layout):
    """The number of columns of which a matrix has a multiple."""
    return LAYOUTS[layout].unit


def stored(layout, shape, seed=0):
    """The bytes of a random matrix as a file holds them."""
    form = FORMATS[layout]
    if layout in PLAIN:
        numbers = torch.randn(shape, generator=torch.Generator().manual_seed(seed)).to(PLAIN[layout])
        return numbers.view(torch.uint8).flatten().numpy()
    return random_blocks(form, shape[0] * shape[1] // form.values, seed).reshape(-1)


def unpacked(layout, shape, data):
    """The numbers of such a matrix, float32."""
    return format_unpacked(layout, data, shape[0] * shape[1]).reshape(shape)


def matrix(layout, shape, seed=0):
    """A random matrix in tiles, and its numbers."""
    data = stored(layout, shape, seed)
    return tiled(layout, shape, data), unpacked(layout, shape, data)


def activations(rows, columns, seed=0):
    return np.random.default_rng(seed).normal(size=(rows, columns)).astype(np.float32)


def streamed(matrix, data):
    """A matrix like `matrix`, whose bytes as stored are `data` and are packed when it is multiplied."""
    return StreamedMatrix(matrix.layout, matrix.shape, 0, np.array([data.ctypes.data], np.int64))


def multiply(matrices, x, pool, asked=None):
    """The product of rows and matrices by the steps of a program, side by side. asked: the rows of `x` to
    multiply; None: all."""
    x = np.ascontiguousarray(x)
    rows, columns = x.shape
    one = CompiledPass(DecoderShape(columns, 32, 1, 1, 32, 1e-5, 1.0, 16), matrices, pool)
    one.state[steps.ROWS] = rows
    one.state[steps.ASKED_FIRST : steps.ASKED + 1] = 0, rows if asked is None else asked
    records = one.records(columns, matrices)
    one.program.add(steps.record_step, address(one.state), address(x), columns, *records.addresses)
    width = sum(each.shape[0] for each in matrices)
    out = np.full((rows, width + steps.LANES), np.nan, np.float32)  # the last tile may reach over the end
    one.add_product(records, columns, matrices, out, only_asked=asked is not None)
    one.run(one.program.table(), arrive=lambda chunk: None)
    return out[:, :width]


def error(found, x, numbers):
    """The error of a product relative to the usual size of one: sums of a few outputs may cancel out."""
    x, numbers = x.astype(np.float64), numbers.astype(np.float64)
    usual = np.linalg.norm(x) * np.linalg.norm(numbers) / np.sqrt(x.shape[1])
    return float(np.linalg.norm(found - x @ numbers.T) / usual)


def most_error(layout):
    """The error that a product may have: activations are rounded to int8 for packed weights."""
    return 1e-5 if layout in PLAIN else 1e-2


def same_bits(found, expected):
    return np.array_equal(
        np.ascontiguousarray(found).view(np.uint32), np.ascontiguousarray(expected).view(np.uint32)
    )
