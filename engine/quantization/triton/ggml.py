"""ggml's block formats on a GPU: one kernel that unpacks and one that multiplies.

number = scale * quant + offset. Each format has two formulas. For sub-block j of the block at p (a pointer to
bytes, of any alignment), `scales(p, j)` gives the scale and the offset, and `quant(p, j, i)` gives the quant
of number i; in formats with a code book, `quant(p, j, i, book)`, with a pointer to the book's values, an
int8 each. Arguments are broadcast against each other. The layouts are documented in `engine.formats`.
Source: dequantize_row_* of ggml (ggml-quants.c).
"""

from functools import cache
from typing import Any, NamedTuple

import numpy as np
import torch
import triton
import triton.language as tl
from torch import Tensor

from engine.checkpoints.storage import BLOCKS
from engine.formats import iq1_s, iq2_s, iq2_xs, iq2_xxs, iq3_s, iq3_xxs, iq4_nl, mxfp4
from engine.formats.code_book import CodeBook
from engine.quantization.triton.launch import Launch
from engine.quantization.triton.split import in_parts
from engine.quantization.triton.tiles import add_products, store_sums, tile_for

# The code books of IQ4_NL and IQ4_XS, and of MXFP4 and NVFP4, as two integers each, made up of eight int8.
_LOW, _HIGH = (tl.constexpr(int(half)) for half in np.array(iq4_nl.LEVELS, np.int8).view(np.int64))
_FP4_LOW, _FP4_HIGH = (tl.constexpr(int(half)) for half in np.array(mxfp4.LEVELS, np.int8).view(np.int64))


@triton.jit
def byte(p):
    return tl.load(p).to(tl.int32)


@triton.jit
def half(p):
    """Return the float16 at p as float32."""
    return (byte(p) | byte(p + 1) << 8).to(tl.uint16).to(tl.float16, bitcast=True).to(tl.float32)


@triton.jit
def level(q):
    return (tl.where(q < 8, _LOW, _HIGH) >> (q & 7) * 8).to(tl.int8).to(tl.float32)


@triton.jit
def fp4(q):
    return (tl.where(q < 8, _FP4_LOW, _FP4_HIGH) >> (q & 7) * 8).to(tl.int8).to(tl.float32)


@triton.jit
def one_scale(p, j):
    scale = half(p)
    return scale, tl.zeros_like(scale)


@triton.jit
def scale_and_minimum(p, j):
    return half(p), half(p + 2)


@triton.jit
def q4_0_quant(p, j, i):
    return ((byte(p + 2 + i) >> 4 * j & 15) - 8).to(tl.float32)


@triton.jit
def q4_1_quant(p, j, i):
    return (byte(p + 4 + i) >> 4 * j & 15).to(tl.float32)


@triton.jit
def q5_0_quant(p, j, i):
    high = byte(p + 2 + 2 * j + i // 8) >> i % 8 & 1
    return ((byte(p + 6 + i) >> 4 * j & 15 | high << 4) - 16).to(tl.float32)


@triton.jit
def q5_1_quant(p, j, i):
    high = byte(p + 4 + 2 * j + i // 8) >> i % 8 & 1
    return (byte(p + 8 + i) >> 4 * j & 15 | high << 4).to(tl.float32)


@triton.jit
def q8_0_quant(p, j, i):
    return tl.load(p + 2 + i).to(tl.int8, bitcast=True).to(tl.float32)


@triton.jit
def iq4_nl_quant(p, j, i):
    return level(byte(p + 2 + i) >> 4 * j & 15)


@triton.jit
def q2_k_scales(p, j):
    both = byte(p + j)
    return half(p + 80) * (both & 15).to(tl.float32), -half(p + 82) * (both >> 4).to(tl.float32)


@triton.jit
def q2_k_quant(p, j, i):
    return (byte(p + 16 + j // 8 * 32 + j % 2 * 16 + i) >> j // 2 % 4 * 2 & 3).to(tl.float32)


@triton.jit
def q3_k_scales(p, j):
    low, high = byte(p + 96 + j % 8) >> j // 8 * 4 & 15, byte(p + 104 + j % 4) >> j // 4 * 2 & 3
    scale = half(p + 108) * ((low | high << 4) - 32).to(tl.float32)
    return scale, tl.zeros_like(scale)


@triton.jit
def q3_k_quant(p, j, i):
    low = byte(p + 32 + j // 8 * 32 + j % 2 * 16 + i) >> j // 2 % 4 * 2 & 3
    high = byte(p + j % 2 * 16 + i) >> j // 2 & 1
    return ((low | high << 2) - 4).to(tl.float32)


@triton.jit
def q4_k_scales(p, j):
    first, second, third = byte(p + 4 + j % 4), byte(p + 8 + j % 4), byte(p + 12 + j % 4)
    scale = tl.where(j < 4, first & 63, third & 15 | first >> 6 << 4)
    minimum = tl.where(j < 4, second & 63, third >> 4 | second >> 6 << 4)
    return half(p) * scale.to(tl.float32), -half(p + 2) * minimum.to(tl.float32)


@triton.jit
def q4_k_quant(p, j, i):
    return (byte(p + 16 + j // 2 * 32 + i) >> j % 2 * 4 & 15).to(tl.float32)


@triton.jit
def q5_k_quant(p, j, i):
    low, high = byte(p + 48 + j // 2 * 32 + i) >> j % 2 * 4 & 15, byte(p + 16 + i) >> j & 1
    return (low | high << 4).to(tl.float32)


@triton.jit
def q6_k_scales(p, j):
    scale = half(p + 208) * tl.load(p + 192 + j).to(tl.int8, bitcast=True).to(tl.float32)
    return scale, tl.zeros_like(scale)


@triton.jit
def q6_k_quant(p, j, i):
    low = byte(p + j // 8 * 64 + j % 4 * 16 + i) >> j // 4 % 2 * 4 & 15
    high = byte(p + 128 + j // 8 * 32 + j % 2 * 16 + i) >> j // 2 % 4 * 2 & 3
    return ((low | high << 4) - 32).to(tl.float32)


@triton.jit
def iq4_xs_scales(p, j):
    block = j // 2
    low, high = byte(p + 4 + block // 2) >> block % 2 * 4 & 15, byte(p + 2 + block // 4) >> block % 4 * 2 & 3
    scale = half(p) * ((low | high << 4) - 32).to(tl.float32)
    return scale, tl.zeros_like(scale)


@triton.jit
def iq4_xs_quant(p, j, i):
    return level(byte(p + 8 + j // 2 * 16 + i) >> j % 2 * 4 & 15)


@triton.jit
def mxfp4_scale(p, j):
    exponent = byte(p)
    bits = tl.where(exponent < 2, 0x200000 << (exponent & 1), (exponent - 1) << 23)
    scale = bits.to(tl.float32, bitcast=True)
    return scale, tl.zeros_like(scale)


@triton.jit
def mxfp4_quant(p, j, i):
    return fp4(byte(p + 1 + i) >> 4 * j & 15)


@triton.jit
def nvfp4_scale(p, j):
    small = byte(p + j)
    number = tl.where(small == 127, 0, (small & 127) << 7).to(tl.uint16)
    scale = number.to(tl.float16, bitcast=True).to(tl.float32) * 128.0
    return scale, tl.zeros_like(scale)


@triton.jit
def nvfp4_quant(p, j, i):
    return fp4(byte(p + 4 + 8 * j + i % 8) >> i // 8 * 4 & 15)


@triton.jit
def q1_0_quant(p, j, i):
    return (2 * (byte(p + 2 + 4 * j + i // 8) >> i % 8 & 1) - 1).to(tl.float32)


@triton.jit
def tq1_0_scale(p, j):
    return one_scale(p + 52, j)


@triton.jit
def tq1_0_quant(p, j, i):
    """See `engine.formats.tq1_0`: runs of 10, 5 and 1 sub-blocks."""
    first = tl.where(j < 10, j % 2 * 16 + i, tl.where(j < 15, 32 + i, 48 + i % 4))
    n = tl.where(j < 10, j // 2, tl.where(j < 15, j - 10, i // 4))
    power = tl.where(n < 2, 1 + 2 * n, tl.where(n < 4, 27 - 18 * (3 - n), 81))
    return (((byte(p + first) * power & 255) * 3 >> 8) - 1).to(tl.float32)


@triton.jit
def tq2_0_scale(p, j):
    return one_scale(p + 64, j)


@triton.jit
def tq2_0_quant(p, j, i):
    return ((byte(p + j // 4 * 32 + i) >> j % 4 * 2 & 3) - 1).to(tl.float32)


@triton.jit
def odd_scale(scale, small):
    """Return 2 * small + 1 times `scale`, and no offset."""
    return scale * (2 * small + 1).to(tl.float32), tl.zeros_like(scale)


@triton.jit
def signed(magnitude, signs, i):
    """Return a magnitude with the sign at bit i of `signs`."""
    return (magnitude * (1 - 2 * (signs >> i & 1))).to(tl.float32)


@triton.jit
def eight_signs(seven):
    """See `engine.formats.code_book.eight_signs`."""
    folded = seven ^ seven >> 4
    folded = folded ^ folded >> 2
    return seven | ((folded ^ folded >> 1) & 1) << 7


@triton.jit
def packed_signs(p, k):
    """Return eight signs, of which seven are stored at bits 7k to 7k+6 of the word at p."""
    at = 7 * k
    both = byte(p + at // 8) | byte(p + tl.minimum(at // 8 + 1, 3)) << 8
    return eight_signs(both >> at % 8 & 127)


@triton.jit
def iq1_s_scales(p, j):
    return odd_scale(half(p) * 0.125, byte(p + 35 + 2 * j) >> 4 & 7)


@triton.jit
def iq1_s_quant(p, j, i, book):
    k = i // 8
    high = byte(p + 34 + 2 * j) | byte(p + 35 + 2 * j) << 8
    index = byte(p + 2 + 4 * j + k) | (high >> 3 * k & 7) << 8
    value = tl.load(book + 8 * index + i % 8).to(tl.int8, bitcast=True).to(tl.int32)
    return (8 * value + 1 - 2 * (high >> 15)).to(tl.float32)


@triton.jit
def iq1_m_scales(p, j):
    low = byte(p + 49) >> 4 | byte(p + 51) & 0xF0
    high = byte(p + 53) >> 4 | byte(p + 55) & 0xF0
    scale = (low | high << 8).to(tl.uint16).to(tl.float16, bitcast=True).to(tl.float32) * 0.125
    both = byte(p + 48 + j // 4 * 2) | byte(p + 49 + j // 4 * 2) << 8
    return odd_scale(scale, both >> j % 4 * 3 & 7)


@triton.jit
def iq1_m_quant(p, j, i, book):
    high = byte(p + 32 + j) >> i // 8 * 4
    index = byte(p + 2 * j + i // 8) | (high & 7) << 8
    value = tl.load(book + 8 * index + i % 8).to(tl.int8, bitcast=True).to(tl.int32)
    return (8 * value + 1 - 2 * (high >> 3 & 1)).to(tl.float32)


@triton.jit
def iq2_xxs_scales(p, j):
    return odd_scale(half(p) * 0.125, byte(p + 9 + 8 * j) >> 4)


@triton.jit
def iq2_xxs_quant(p, j, i, book):
    q = p + 2 + 8 * j
    magnitude = byte(book + 8 * byte(q + i // 8) + i % 8)
    return signed(magnitude, packed_signs(q + 4, i // 8), i % 8)


@triton.jit
def iq2_xs_scales(p, j):
    return odd_scale(half(p) * 0.125, byte(p + 66 + j // 2) >> j % 2 * 4 & 15)


@triton.jit
def iq2_xs_quant(p, j, i, book):
    q = p + 2 + 4 * j + i // 8 * 2
    high = byte(q + 1)
    magnitude = byte(book + 8 * (byte(q) | (high & 1) << 8) + i % 8)
    return signed(magnitude, eight_signs(high >> 1), i % 8)


@triton.jit
def iq2_s_scales(p, j):
    return odd_scale(half(p) * 0.125, byte(p + 74 + j // 2) >> j % 2 * 4 & 15)


@triton.jit
def iq2_s_quant(p, j, i, book):
    k = 2 * j + i // 8
    index = byte(p + 2 + k) | (byte(p + 66 + k // 4) >> k % 4 * 2 & 3) << 8
    return signed(byte(book + 8 * index + i % 8), byte(p + 34 + k), i % 8)


@triton.jit
def iq3_xxs_scales(p, j):
    return odd_scale(half(p) * 0.25, byte(p + 69 + 4 * j) >> 4)


@triton.jit
def iq3_xxs_quant(p, j, i, book):
    magnitude = byte(book + 4 * byte(p + 2 + 8 * j + i // 4) + i % 4)
    return signed(magnitude, packed_signs(p + 66 + 4 * j, i // 8), i % 8)


@triton.jit
def iq3_s_scales(p, j):
    return odd_scale(half(p), byte(p + 106 + j // 2) >> j % 2 * 4 & 15)


@triton.jit
def iq3_s_quant(p, j, i, book):
    index = byte(p + 2 + 8 * j + i // 4) | (byte(p + 66 + j) >> i // 4 & 1) << 8
    return signed(byte(book + 4 * index + i % 4), byte(p + 74 + 4 * j + i // 8), i % 8)


class BlockFormulas(NamedTuple):
    """The formulas of one format. size: how many numbers a sub-block has. book: its code book."""

    scales: Any
    quant: Any
    size: int
    book: CodeBook | None = None


FORMULAS = {
    "Q4_0": BlockFormulas(one_scale, q4_0_quant, 16),
    "Q4_1": BlockFormulas(scale_and_minimum, q4_1_quant, 16),
    "Q5_0": BlockFormulas(one_scale, q5_0_quant, 16),
    "Q5_1": BlockFormulas(scale_and_minimum, q5_1_quant, 16),
    "Q8_0": BlockFormulas(one_scale, q8_0_quant, 32),
    "Q2_K": BlockFormulas(q2_k_scales, q2_k_quant, 16),
    "Q3_K": BlockFormulas(q3_k_scales, q3_k_quant, 16),
    "Q4_K": BlockFormulas(q4_k_scales, q4_k_quant, 32),
    "Q5_K": BlockFormulas(q4_k_scales, q5_k_quant, 32),
    "Q6_K": BlockFormulas(q6_k_scales, q6_k_quant, 16),
    "IQ1_S": BlockFormulas(iq1_s_scales, iq1_s_quant, 32, iq1_s.BOOK),
    "IQ1_M": BlockFormulas(iq1_m_scales, iq1_m_quant, 16, iq1_s.BOOK),
    "IQ2_XXS": BlockFormulas(iq2_xxs_scales, iq2_xxs_quant, 32, iq2_xxs.BOOK),
    "IQ2_XS": BlockFormulas(iq2_xs_scales, iq2_xs_quant, 16, iq2_xs.BOOK),
    "IQ2_S": BlockFormulas(iq2_s_scales, iq2_s_quant, 16, iq2_s.BOOK),
    "IQ3_XXS": BlockFormulas(iq3_xxs_scales, iq3_xxs_quant, 32, iq3_xxs.BOOK),
    "IQ3_S": BlockFormulas(iq3_s_scales, iq3_s_quant, 32, iq3_s.BOOK),
    "IQ4_NL": BlockFormulas(one_scale, iq4_nl_quant, 16),
    "IQ4_XS": BlockFormulas(iq4_xs_scales, iq4_xs_quant, 16),
    "MXFP4": BlockFormulas(mxfp4_scale, mxfp4_quant, 16),
    "NVFP4": BlockFormulas(nvfp4_scale, nvfp4_quant, 16),
    "Q1_0": BlockFormulas(one_scale, q1_0_quant, 32),
    "TQ1_0": BlockFormulas(tq1_0_scale, tq1_0_quant, 16),
    "TQ2_0": BlockFormulas(tq2_0_scale, tq2_0_quant, 32),
}


UNPACKED = 2048  # numbers that a program unpacks


@triton.jit
def numbers(p, j, book, SCALES: tl.constexpr, QUANT: tl.constexpr, SIZE: tl.constexpr):
    """Return all numbers of sub-blocks j of the blocks at p: float32 [..., SIZE]."""
    # Loaded before the last dimension is added: otherwise a thread loads a scale for each of its numbers.
    scale, offset = SCALES(p, j)
    p, j, i = tl.expand_dims(p, -1), tl.expand_dims(j, -1), tl.arange(0, SIZE)
    quant = QUANT(p, j, i) if book is None else QUANT(p, j, i, book)
    return tl.expand_dims(scale, -1) * quant + tl.expand_dims(offset, -1)


@triton.jit
def unpack_kernel(
    data, book, out, subs,
    SCALES: tl.constexpr, QUANT: tl.constexpr, NBYTES: tl.constexpr, SUBS: tl.constexpr, SIZE: tl.constexpr,
    TILE: tl.constexpr,
):  # fmt: skip
    """Unpack TILE of the `subs` sub-blocks. Each has SIZE numbers; SUBS of them form a block of NBYTES
    bytes."""
    sub = tl.program_id(0).to(tl.int64) * TILE + tl.arange(0, TILE)
    inside = tl.minimum(sub, subs - 1)
    values = numbers(data + inside // SUBS * NBYTES, (inside % SUBS).to(tl.int32), book, SCALES, QUANT, SIZE)
    tl.store(out + sub[:, None] * SIZE + tl.arange(0, SIZE), values, mask=(sub < subs)[:, None])


@triton.jit(do_not_specialize=["n"])
def product_kernel(
    data, book, x, out, rows, columns, n, part,
    SCALES: tl.constexpr, QUANT: tl.constexpr, NBYTES: tl.constexpr, SUBS: tl.constexpr, SIZE: tl.constexpr,
    ROWS: tl.constexpr, STEP: tl.constexpr, N: tl.constexpr,
):  # fmt: skip
    """Multiply x [n, columns] by ROWS rows of the matrix in `part` columns of it, STEP at a time, and write
    the results to the columns of out [parts, n, rows] that belong to those rows; n <= N."""
    row = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    first = tl.program_id(1) * part
    out += tl.program_id(1) * n * rows
    begin = data + tl.minimum(row, rows - 1).to(tl.int64)[:, None] * (columns // (SUBS * SIZE) * NBYTES)
    total = tl.zeros([ROWS, STEP if N == 1 else N], tl.float32)
    for at in range(first, tl.minimum(first + part, columns), STEP):
        sub = tl.minimum(at // SIZE + tl.arange(0, STEP // SIZE), columns // SIZE - 1)[None, :]
        weights = numbers(begin + sub // SUBS * NBYTES, sub % SUBS, book, SCALES, QUANT, SIZE)
        total = add_products(total, tl.reshape(weights, [ROWS, STEP]), x, at, columns, n, STEP, N)
    store_sums(out, total, row, rows, n, N)


def constants(name: str) -> tuple[Any, ...]:
    """Return the kernels' arguments SCALES, QUANT, NBYTES, SUBS and SIZE for the format `name`."""
    formulas, (values, nbytes) = FORMULAS[name], BLOCKS[name]
    size = formulas.size
    return formulas.scales, formulas.quant, nbytes, values // size, size


@cache
def _values(name: str, device: torch.device) -> Tensor | None:
    """Return the code book of the format `name` on the device, as kernels read it; None if it has none. It is
    copied there once: no copy from plain memory may be recorded in a CUDA graph."""
    book = FORMULAS[name].book
    if book is None:
        return None
    with torch.inference_mode(False):  # usable inside and outside inference mode
        return torch.from_numpy(book.numbers().astype(np.int8).view(np.uint8)).to(device)


@cache
def _unpacking(name: str) -> Launch:
    return Launch(unpack_kernel, *constants(name), UNPACKED // FORMULAS[name].size)


@cache
def _product(name: str, most: int, tile: tuple[int, int]) -> Launch:
    return Launch(product_kernel, *constants(name), *tile, most)


def unpack(name: str, data: Tensor, out: Tensor) -> None:
    count = out.numel()
    grid = (-(-count // UNPACKED), 1, 1)  # triton.cdiv is slower, and this is done for each piece of a matrix
    _unpacking(name)(grid, data, _values(name, data.device), out, count // FORMULAS[name].size)


def product(name: str, data: Tensor, x: Tensor, out: Tensor, most: int) -> None:
    rows, columns = out.shape[1], x.shape[1]
    book, tile = _values(name, data.device), tile_for(most, out.device)
    programs = -(-rows // tile[0])

    def launch(parts: Tensor, count: int, part: int) -> None:
        _product(name, most, tile)((programs, count, 1), data, book, x, parts, rows, columns, len(x), part)

    in_parts(columns, out, launch)
