"""Products whose columns are split among programs, because matrices of few rows have too few programs
otherwise to occupy a card. The parts are added by a second kernel, in their order.

How a matrix is split depends on its shape alone, neither on the rows it is multiplied by nor on the card: a
row's product has the same bits whatever is multiplied beside it, as far as one compiled kernel reaches: there
is one for 1 row, one for up to 16 and one for up to 64. Without atomic additions, it also has the
same bits each time.
"""

from collections.abc import Callable
from functools import cache

import torch
import triton
import triton.language as tl
from torch import Tensor

from engine.quantization.triton.launch import Launch

# Two programs for each of the 128 multiprocessors of an RTX 4090, if one multiplies by 32 rows of a matrix.
_PROGRAMS = 256
_ROWS = 32
# Parts have a multiple of so many columns, which is a whole number of each kernel's steps.
_COLUMNS = 256
SUMS = 1024  # sums that a program makes


def part_columns(rows: int, columns: int) -> int:
    """Return how many columns each part of a matrix [rows, columns] has; the last part may have less."""
    parts = max(1, _PROGRAMS // -(-rows // _ROWS))
    return -(-columns // (parts * _COLUMNS)) * _COLUMNS


@triton.jit(do_not_specialize=["count"])
def sum_kernel(parts, out, numbers, count, TILE: tl.constexpr):
    """Add `count` parts of `numbers` numbers each, one after another."""
    at = tl.program_id(0) * TILE + tl.arange(0, TILE)
    inside = at < numbers
    total = tl.zeros([TILE], tl.float32)
    for part in range(0, count):
        total += tl.load(parts + part * numbers + at, mask=inside, other=0.0)
    tl.store(out + at, total, mask=inside)


@cache
def _sum() -> Launch:
    return Launch(sum_kernel, SUMS)


def in_parts(columns: int, out: Tensor, launch: Callable[[Tensor, int, int], None]) -> None:
    """Write the product with a matrix of so many columns to `out`, [n, rows]. launch: multiplies the parts of
    the matrix; given where to write their products, [parts, n, rows], their number, and the columns of
    each."""
    part = part_columns(out.shape[1], columns)
    count = -(-columns // part)
    if count == 1:
        launch(out, count, part)
        return
    parts = out.new_empty(count, *out.shape, dtype=torch.float32)
    launch(parts, count, part)
    add(parts, out)


def add(parts: Tensor, out: Tensor) -> None:
    """Write the sum of `parts`, float32 [parts, n, rows], to `out`, [n, rows]."""
    _sum()((-(-out.numel() // SUMS), 1, 1), parts, out, out.numel(), len(parts))
