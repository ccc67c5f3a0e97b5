"""What kernels that multiply by packed weights have in common: the sums of a tile, whose rows are those of
the matrix.

A program multiplies x [n, columns] by a tile's rows, some columns at a time; n <= N. For one row of x, it
adds up in the end what it has multiplied number by number; for more, it multiplies matrices.
"""

import torch
import triton
import triton.language as tl

from engine.quantization.triton.cores import multiplies_matrices

# For each maximum number of rows of x: the (rows, columns) of the matrix that one step of a product takes.
# Chosen by the registers and the shared memory that the compiler reports, not by timing.
TILES = {1: (8, 256), 16: (32, 128), 64: (32, 128)}
# The same for cards without cores for matrices, where the factors are in registers.
SMALLER_TILES = {1: (8, 256), 16: (32, 64)}


def tile_for(most: int, device: torch.device) -> tuple[int, int]:
    """Return the (rows, columns) of one step for at most so many rows of x, on this device."""
    has_cores = device.type != "cuda" or multiplies_matrices(device)
    return (TILES if has_cores else SMALLER_TILES)[most]


@triton.jit
def add_products(total, weights, x, at, columns, n, STEP: tl.constexpr, N: tl.constexpr):
    """Return the sums [rows, STEP or N] with the products of the columns from `at` on. weights: [rows,
    STEP]."""
    k, m = tl.arange(0, STEP), tl.arange(0, N)
    weights = weights.to(x.dtype.element_ty)  # rounded as they would be in memory
    inside = at + k < columns
    if N == 1:
        some = tl.load(x + at + k, mask=inside, other=0.0)
        total += weights.to(tl.float32) * some.to(tl.float32)[None, :]
    else:
        mask = inside[:, None] & (m < n)[None, :]
        some = tl.load(x + m[None, :] * columns + (at + k)[:, None], mask=mask, other=0.0)
        total = tl.dot(weights, some, total, input_precision="ieee")
    return total


@triton.jit
def store_sums(out, total, row, rows, n, N: tl.constexpr):
    """Write the sums to the columns `row` of out [n, rows]."""
    m = tl.arange(0, N)
    if N == 1:
        tl.store(out + row, tl.sum(total, 1), mask=row < rows)
    else:
        mask = (row < rows)[:, None] & (m < n)[None, :]
        tl.store(out + m[None, :] * rows + row[:, None], total, mask=mask)
