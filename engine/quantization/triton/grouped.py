"""GPTQ and AWQ on a GPU: one kernel that unpacks and one that multiplies.

number = scale * (quant - zero point). Matrices are stored transposed, [columns, rows]; the layouts are
documented in `engine.formats.grouped`.
"""

from functools import cache

import triton
import triton.language as tl
from torch import Tensor

from engine.checkpoints import Groups
from engine.quantization.parts import TensorParts
from engine.quantization.triton.launch import Launch
from engine.quantization.triton.split import in_parts

# For each maximum number of rows of x: the (rows, columns) of the matrix that one step of a product takes.
# Chosen by the registers and the shared memory that the compiler reports, not by timing.
TILES = {1: (32, 64), 16: (32, 64), 64: (32, 64)}
UNPACKED = (64, 32)  # rows and columns that a program unpacks


@triton.jit
def field(words, at, shift, stride, BITS: tl.constexpr, PLUS: tl.constexpr):
    """Return BITS bits of words[at] + PLUS, from bit `shift` on. Bits beyond the end of that word are read
    from words[at + stride]."""
    low = tl.load(words + at).to(tl.uint32, bitcast=True) + PLUS >> shift.to(tl.uint32)
    if BITS == 3:
        rest = tl.load(words + at + stride, mask=shift > 29, other=0).to(tl.uint32, bitcast=True)
        low |= rest << (32 - shift & 31).to(tl.uint32)
    return (low & (1 << BITS) - 1).to(tl.int32)


@triton.jit
def numbers(
    quants, zeros, scales, index, k, row, rows, zero_words, groups,
    AWQ: tl.constexpr, BITS: tl.constexpr, SIZE: tl.constexpr, PLUS: tl.constexpr,
):  # fmt: skip
    """Return the matrix's numbers in rows `row` and columns `k`, float32. index: the group of each column;
    None if every SIZE columns form a group, or, where that is 0, all do."""
    mask: tl.constexpr = (1 << BITS) - 1
    of_size = k // SIZE if SIZE else tl.zeros_like(k)
    group = of_size if index is None else tl.load(index + k)
    group = tl.minimum(tl.maximum(group, 0), groups - 1)  # a damaged index must not read outside the tables
    if AWQ:
        shift = row % 2 * 16 + row % 8 // 2 * 4
        quant = field(quants, k * (rows // 8) + row // 8, shift, 0, BITS, 0)
        zero = field(zeros, group * zero_words + row // 8, shift, 0, BITS, 0)
    else:
        quant = field(quants, k * BITS // 32 * rows + row, k * BITS % 32, rows, BITS, 0)
        at, shift = group * zero_words + row * BITS // 32, row * BITS % 32
        if BITS == 3:
            zero = field(zeros, at, shift, 1, BITS, 0) + PLUS & mask
        else:  # PLUS is added to whole words, as it was subtracted from them
            zero = field(zeros, at, shift, 1, BITS, PLUS * (0xFFFFFFFF // mask))
    return tl.load(scales + group * rows + row).to(tl.float32) * (quant - zero).to(tl.float32)


@triton.jit(do_not_specialize=["zero_words", "groups", "first"])
def unpack_kernel(
    quants, zeros, scales, index, out, rows, columns, zero_words, groups, first, count,
    AWQ: tl.constexpr, BITS: tl.constexpr, SIZE: tl.constexpr, PLUS: tl.constexpr,
    ROWS: tl.constexpr, STEP: tl.constexpr,
):  # fmt: skip
    """Unpack one tile of rows first..first + count to out [columns, count]."""
    k = (tl.program_id(0) * STEP + tl.arange(0, STEP))[:, None]
    row = (tl.program_id(1) * ROWS + tl.arange(0, ROWS))[None, :]
    inside_k, inside_row = tl.minimum(k, columns - 1), first + tl.minimum(row, count - 1)
    values = numbers(
        quants, zeros, scales, index, inside_k, inside_row, rows, zero_words, groups,
        AWQ, BITS, SIZE, PLUS,
    )  # fmt: skip
    tl.store(out + k.to(tl.int64) * count + row, values, mask=(k < columns) & (row < count))


@triton.jit(do_not_specialize=["zero_words", "groups", "n"])
def product_kernel(
    quants, zeros, scales, index, x, out, rows, columns, zero_words, groups, n, part,
    AWQ: tl.constexpr, BITS: tl.constexpr, SIZE: tl.constexpr, PLUS: tl.constexpr,
    ROWS: tl.constexpr, STEP: tl.constexpr, N: tl.constexpr,
):  # fmt: skip
    """Multiply x [n, columns] by ROWS rows of the matrix in `part` columns of it, STEP at a time, and write
    the results to the columns of out [parts, n, rows] that belong to those rows; n <= N."""
    row = (tl.program_id(0) * ROWS + tl.arange(0, ROWS))[None, :]
    inside_row = tl.minimum(row, rows - 1)
    m = tl.arange(0, N)[:, None]
    total = tl.zeros([STEP if N == 1 else N, ROWS], tl.float32)
    first = tl.program_id(1) * part
    out += tl.program_id(1) * n * rows
    for at in range(first, tl.minimum(first + part, columns), STEP):
        k = at + tl.arange(0, STEP)
        inside_k = tl.minimum(k, columns - 1)[:, None]
        weights = numbers(
            quants, zeros, scales, index, inside_k, inside_row, rows, zero_words, groups,
            AWQ, BITS, SIZE, PLUS,
        )  # fmt: skip
        weights = weights.to(x.dtype.element_ty)  # rounded as they would be in memory
        if N == 1:
            some = tl.load(x + k, mask=k < columns, other=0.0)
            total += weights.to(tl.float32) * some.to(tl.float32)[:, None]
        else:
            some = tl.load(x + m * columns + k[None, :], mask=(m < n) & (k < columns)[None, :], other=0.0)
            total = tl.dot(some, weights, total, input_precision="ieee")
    if N == 1:
        total = tl.sum(total, 0)[None, :]
    tl.store(out + m * rows + row, total, mask=(m < n) & (row < rows))


@cache
def _unpacking(of: tuple[int, ...]) -> Launch:
    return Launch(unpack_kernel, *of, *UNPACKED)


@cache
def _product(of: tuple[int, ...], most: int) -> Launch:
    return Launch(product_kernel, *of, *TILES[most], most)


def constants(awq: bool, groups: Groups, columns: int) -> tuple[int, ...]:
    """Return the kernels' arguments AWQ, BITS, SIZE and PLUS for a matrix with so many columns."""
    return awq, groups.bits, groups.size if groups.size < columns else 0, groups.zero_offset


def unpack(
    awq: bool, parts: TensorParts, shape: tuple[int, int], first: int, count: int, groups: Groups, out: Tensor
) -> None:
    rows, columns = shape
    grid = (-(-columns // UNPACKED[1]), -(-count // UNPACKED[0]), 1)
    pointers, zero_words, of_groups = _split(parts, rows)
    launch = _unpacking(constants(awq, groups, columns))
    launch(grid, *pointers, out, rows, columns, zero_words, of_groups, first, count)


def product(awq: bool, parts: TensorParts, groups: Groups, x: Tensor, out: Tensor, most: int) -> None:
    rows, columns = out.shape[1], x.shape[1]
    pointers, zero_words, of_groups = _split(parts, rows)
    sizes = rows, columns, zero_words, of_groups, len(x)
    tiles = -(-rows // TILES[most][0])
    kernel = _product(constants(awq, groups, columns), most)

    def launch(products: Tensor, count: int, part: int) -> None:
        kernel((tiles, count, 1), *pointers, x, products, *sizes, part)

    in_parts(columns, out, launch)


def _split(parts: TensorParts, rows: int) -> tuple[list[Tensor | None], int, int]:
    """Return the four parts (quants, zero points, scales, the group of each column or None), the number of
    words that hold the zero points of a group, and the number of groups."""
    groups = parts[2].numel() // rows
    return [*parts, None][:4], parts[1].numel() // groups, groups
