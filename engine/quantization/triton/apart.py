"""FP8 and numbers of four bits whose scales are apart, on a GPU: one kernel that unpacks and one that
multiplies.

number = scale * (quant - zero point). Each format has two formulas: `scale(scales, third, at)` gives the
scale at a place of the table of scales, and `quant(data, row, k, columns)` gives the quant of column k of a
row, float32. Arguments are broadcast against each other. The layouts are documented in
`engine.formats.scaled` and `engine.formats.nibbles`.
"""

from functools import cache
from math import gcd
from typing import Any, NamedTuple

import triton
import triton.language as tl
from torch import Tensor

from engine.formats import NibbleFormat, PlainFormat, ScaledFormat, format_named
from engine.formats.scaled import BLOCK
from engine.quantization.parts import TensorParts
from engine.quantization.triton.ggml import fp4
from engine.quantization.triton.launch import Launch
from engine.quantization.triton.split import in_parts
from engine.quantization.triton.tiles import add_products, store_sums, tile_for

UNPACKED = (8, 256)  # rows and columns that a program unpacks
_SUB = 32  # most columns that share a load of their scale


@triton.jit
def e4m3(small):
    """Return a number of FP8 (E4M3) as float32. As a float16, its bits have an exponent that is smaller by
    8."""
    bits = (small & 128) << 8 | (small & 127) << 7
    return bits.to(tl.uint16).to(tl.float16, bitcast=True).to(tl.float32) * 256.0


@triton.jit
def plain_scale(scales, third, at):
    return tl.load(scales + at).to(tl.float32)


@triton.jit
def e8m0_scale(scales, third, at):
    exponent = tl.load(scales + at).to(tl.int32)
    return tl.where(exponent == 0, 0x400000, exponent << 23).to(tl.float32, bitcast=True)


@triton.jit
def multiplied_scale(scales, third, at):
    return e4m3(tl.load(scales + at).to(tl.int32)) * tl.load(third)


@triton.jit
def divided_scale(scales, third, at):
    scale = e4m3(tl.load(scales + at).to(tl.int32))
    return tl.div_rn(scale, tl.zeros_like(scale) + tl.load(third))


@triton.jit
def fp8_quant(data, row, k, columns):
    return e4m3(tl.load(data + (row.to(tl.int64) * columns + k)).to(tl.int32))


@triton.jit
def nibble(data, row, k, columns):
    both = tl.load(data + (row.to(tl.int64) * (columns // 2) + k // 2)).to(tl.int32)
    return both >> k % 2 * 4 & 15


@triton.jit
def whole_quant(data, row, k, columns):
    return (nibble(data, row, k, columns) - 8).to(tl.float32)


@triton.jit
def fp4_quant(data, row, k, columns):
    return fp4(nibble(data, row, k, columns)) * 0.5


class ApartFormulas(NamedTuple):
    """The formulas of one format, as arguments of the kernels. zeros: whether the third part holds zero
    points. tall, wide: the rows and columns that share a scale; 0: all."""

    scale: Any
    quant: Any
    zeros: bool
    tall: int
    wide: int

    @property
    def size(self) -> int:
        """The columns that share a load of their scale."""
        return gcd(self.wide, _SUB) if self.wide else _SUB


@triton.jit
def numbers(
    data, scales, third, row, sub, columns, across,
    SCALE: tl.constexpr, QUANT: tl.constexpr, ZEROS: tl.constexpr, TALL: tl.constexpr, WIDE: tl.constexpr,
    SIZE: tl.constexpr,
):  # fmt: skip
    """Return the numbers in rows `row` [rows, 1] and in the SIZE columns of each of `sub` [1, subs]: float32
    [rows, subs, SIZE]. across: how many scales lie side by side in the table."""
    line = row // TALL * across if TALL else tl.zeros_like(row)
    at = line + (sub * SIZE // WIDE if WIDE else tl.zeros_like(sub))
    scale = SCALE(scales, third, at)
    k = tl.minimum(tl.expand_dims(sub, -1) * SIZE + tl.arange(0, SIZE), columns - 1)
    quant = QUANT(data, tl.expand_dims(row, -1), k, columns)
    if ZEROS:  # eight rows in a word
        word = tl.load(third + row // 8 * across + (sub * SIZE // WIDE if WIDE else tl.zeros_like(sub)))
        quant -= tl.expand_dims(((word >> row % 8 * 4 & 15) - 8).to(tl.float32), -1)
    return tl.expand_dims(scale, -1) * quant


@triton.jit(do_not_specialize=["across", "first"])
def unpack_kernel(
    data, scales, third, out, columns, across, first, count,
    SCALE: tl.constexpr, QUANT: tl.constexpr, ZEROS: tl.constexpr, TALL: tl.constexpr, WIDE: tl.constexpr,
    SIZE: tl.constexpr, ROWS: tl.constexpr, STEP: tl.constexpr,
):  # fmt: skip
    """Unpack one tile of rows first..first + count to out [count, columns]."""
    row = (tl.program_id(1) * ROWS + tl.arange(0, ROWS))[:, None]
    sub = (tl.program_id(0) * (STEP // SIZE) + tl.arange(0, STEP // SIZE))[None, :]
    inside_row, inside_sub = first + tl.minimum(row, count - 1), tl.minimum(sub, (columns - 1) // SIZE)
    values = numbers(
        data, scales, third, inside_row, inside_sub, columns, across, SCALE, QUANT, ZEROS, TALL, WIDE, SIZE
    )
    k = tl.expand_dims(sub, -1) * SIZE + tl.arange(0, SIZE)
    row = tl.expand_dims(row, -1)
    tl.store(out + (row.to(tl.int64) * columns + k), values, mask=(row < count) & (k < columns))


@triton.jit(do_not_specialize=["across", "n"])
def product_kernel(
    data, scales, third, x, out, rows, columns, across, n, part,
    SCALE: tl.constexpr, QUANT: tl.constexpr, ZEROS: tl.constexpr, TALL: tl.constexpr, WIDE: tl.constexpr,
    SIZE: tl.constexpr, ROWS: tl.constexpr, STEP: tl.constexpr, N: tl.constexpr,
):  # fmt: skip
    """Multiply x [n, columns] by ROWS rows of the matrix in `part` columns of it, STEP at a time, and write
    the results to the columns of out [parts, n, rows] that belong to those rows; n <= N."""
    row = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    first = tl.program_id(1) * part
    out += tl.program_id(1) * n * rows
    inside_row = tl.minimum(row, rows - 1)[:, None]
    total = tl.zeros([ROWS, STEP if N == 1 else N], tl.float32)
    for at in range(first, tl.minimum(first + part, columns), STEP):
        sub = tl.minimum(at // SIZE + tl.arange(0, STEP // SIZE), (columns - 1) // SIZE)[None, :]
        weights = numbers(
            data, scales, third, inside_row, sub, columns, across, SCALE, QUANT, ZEROS, TALL, WIDE, SIZE
        )
        total = add_products(total, tl.reshape(weights, [ROWS, STEP]), x, at, columns, n, STEP, N)
    store_sums(out, total, row, rows, n, N)


@cache
def formulas(name: str, group: int) -> ApartFormulas:
    """Return the formulas of the format `name`. group: columns that share a scale in formats of four bits; 0:
    all of a row."""
    form = format_named(name)
    if isinstance(form, ScaledFormat):
        tall, wide = {"block": (BLOCK, BLOCK), "row": (1, 0), "matrix": (0, 0)}[form.share]
        return ApartFormulas(plain_scale, fp8_quant, False, tall, wide)
    assert isinstance(form, NibbleFormat)
    scale = plain_scale if isinstance(form.scales, PlainFormat) else _SCALES[form.scales, form.third]
    quant = whole_quant if isinstance(form.scales, PlainFormat) else fp4_quant
    return ApartFormulas(scale, quant, form.third == "zeros", 1, group)


_SCALES = {
    ("E8M0", ""): e8m0_scale,
    ("E4M3", "factor"): multiplied_scale,
    ("E4M3", "divisor"): divided_scale,
}


@cache
def _unpacking(name: str, group: int) -> Launch:
    found = formulas(name, group)
    return Launch(unpack_kernel, *found, found.size, *UNPACKED)


@cache
def _product(name: str, group: int, most: int, tile: tuple[int, int]) -> Launch:
    found = formulas(name, group)
    return Launch(product_kernel, *found, found.size, *tile, most)


def unpack(name: str, parts: TensorParts, shape: tuple[int, int], first: int, out: Tensor) -> None:
    (rows, columns), count = shape, len(out)
    pointers, group, across = _split(name, parts, rows, columns)
    grid = (-(-columns // UNPACKED[1]), -(-count // UNPACKED[0]), 1)
    _unpacking(name, group)(grid, *pointers, out, columns, across, first, count)


def product(name: str, parts: TensorParts, x: Tensor, out: Tensor, most: int) -> None:
    rows, columns = out.shape[1], x.shape[1]
    pointers, group, across = _split(name, parts, rows, columns)
    tile = tile_for(most, out.device)
    programs = -(-rows // tile[0])

    def launch(products: Tensor, count: int, part: int) -> None:
        sizes = rows, columns, across, len(x), part
        _product(name, group, most, tile)((programs, count, 1), *pointers, x, products, *sizes)

    in_parts(columns, out, launch)


def _split(name: str, parts: TensorParts, rows: int, columns: int) -> tuple[list[Tensor | None], int, int]:
    """Return the three parts (numbers, scales, the third or None), the columns of a group of four-bit
    numbers, 0 for all of a row, and how many scales lie side by side in the table."""
    form = format_named(name)
    pointers = [*parts, None][:3]
    if isinstance(form, ScaledFormat):
        return pointers, 0, form.scales_shape((rows, columns))[1]
    across = parts[1].numel() // rows
    return pointers, columns // across if across > 1 else 0, across
