"""Packs a matrix whose quants and scales are in tensors of their own into tiles, and knows the packer of each
stored format. What the parts are stands in `engine.formats.scaled`, `nibbles` and `factored`."""

from collections.abc import Sequence
from functools import cache

import numba
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from engine.compiled.instructions import (
    F32,
    FLOATS,
    I32,
    I64,
    INTS,
    LANES,
    STORED_NBYTES,
    Value,
    as_floats,
    load,
    splat,
    store,
)
from engine.compiled.layout import BLOCK, LAYOUTS, TILES, TileLayout, layout_of
from engine.compiled.packer import (
    Words,
    pack_blocks,
    pack_numbers,
    row_numbers,
    rows_at,
    tile_packer,
    words_of,
    write_block,
)
from engine.compiled.product import quants_at
from engine.formats import FORMATS, FactoredFormat, NibbleFormat, ScaledFormat
from engine.formats.blocks import BlockParts
from engine.formats.jit import cached_address
from engine.formats.scaled import BLOCK as SCALED_BLOCK

# Offsets in the places of a matrix (`engine.compiled.matrix.locate`): the addresses of its second and third
# part, and how many bytes of the second one a row has.
_SECOND, _THIRD, _OF_ROW = 8, 16, 24


def packer_of(stored: str) -> int:
    """Return the address of the compiled packer of a stored format; `tile_packer` says what it takes."""
    return tile_packer(stored) if stored in LAYOUTS else _parts_packer(stored)


def _gathered(b: Value, addresses: Sequence[Value], nbytes: int) -> Value:
    """Return whole numbers of so many bytes at these addresses, one for each lane."""
    kind = ir.IntType(8 * nbytes)
    found = ir.Constant(ir.VectorType(kind, LANES), ir.Undefined)
    for lane, at in enumerate(addresses):
        found = b.insert_element(found, load(b, at, 0, kind, 1), I32(lane))
    return found


def _factor_written(b: Value, layout: TileLayout, factor: Value, out: Value) -> Value:
    """Write the factor of all rows to a tile; return the address behind it."""
    store(b, splat(b, factor, FLOATS), out, 0, 4)
    return b.add(out, I64(layout.lead_nbytes))


def _pack_factored(
    b: Value, form: FactoredFormat, places: Value, numbers: Sequence[Value], columns: Value, out: Value
) -> None:
    """Pack the rows `numbers` of a matrix in blocks with a factor."""
    layout = _layout(form.name)
    factor = load(b, load(b, places, _SECOND, I64, 8), 0, F32, 1)
    behind = _factor_written(b, layout, factor, out)
    blocks = b.sdiv(columns, I64(form.blocks.values))
    rows = rows_at(b, places, numbers, b.mul(blocks, I64(form.blocks.nbytes)))
    pack_blocks(b, layout, form.blocks, rows, blocks, behind)


def _pack_scaled(
    b: Value, form: ScaledFormat, places: Value, numbers: Sequence[Value], columns: Value, out: Value
) -> None:
    """Pack the rows `numbers` of a matrix in FP8. Each row of a tile has a scale for each 128 columns,
    however many numbers share one in the file."""
    layout = _layout(form.name)
    assert layout.unit == SCALED_BLOCK
    units = b.sdiv(b.add(columns, I64(layout.unit - 1)), I64(layout.unit))
    rows = rows_at(b, places, numbers, columns)
    pack_numbers(b, layout, rows, b.sdiv(columns, I64(BLOCK)), quants_at(b, layout, out, units))
    table, nbytes = load(b, places, _SECOND, I64, 8), STORED_NBYTES[form.scales.name]
    if form.share == "block":
        starts = [b.mul(b.sdiv(number, I64(SCALED_BLOCK)), units) for number in numbers]
    else:
        starts = [number if form.share == "row" else I64(0) for number in numbers]
    with cgutils.for_range(b, units) as loop:
        column = loop.index if form.share == "block" else I64(0)
        at = [b.add(table, b.mul(b.add(start, column), I64(nbytes))) for start in starts]
        scales = as_floats(b, _gathered(b, at, nbytes), form.scales.name)
        store(b, scales, b.add(out, b.mul(loop.index, I64(layout.scales_nbytes))), 0, 4)


def _pack_nibbles(
    b: Value, form: NibbleFormat, places: Value, numbers: Sequence[Value], columns: Value, out: Value
) -> None:
    """Pack the rows `numbers` of a matrix of four bits per number."""
    layout, small = _layout(form.name), form.scales == "E4M3"
    blocks = b.sdiv(columns, I64(BLOCK))
    rows = rows_at(b, places, numbers, b.sdiv(columns, I64(2)))
    table, of_row = load(b, places, _SECOND, I64, 8), load(b, places, _OF_ROW, I64, 8)
    third = load(b, places, _THIRD, I64, 8) if form.third else None
    if layout.row_factors:
        factor = load(b, third, 0, F32, 1)
        out = _factor_written(b, layout, b.fdiv(F32(1.0), factor) if form.third == "divisor" else factor, out)
    body = quants_at(b, layout, out, blocks)
    groups = b.sdiv(of_row, I64(2))  # of scales of 16 bits
    with cgutils.for_range(b, blocks) as loop:
        here = [b.add(row, b.mul(loop.index, I64(BLOCK // 2))) for row in rows]
        words = words_of(b, here, range(0, BLOCK // 2, 4)).values()
        quads = [_apart(half) for word in words for half in (word & 0xFFFF, word >> 16)]
        # In either case, two bytes: two scales of a block, or that of a group of blocks.
        group = loop.index if small else b.sdiv(loop.index, b.sdiv(blocks, groups))
        at = [b.add(table, b.add(b.mul(n, of_row), b.mul(group, I64(2)))) for n in numbers]
        found = Words(b, b.zext(_gathered(b, at, 2), INTS))
        if form.third == "zeros":
            zeros = _zeros(b, third, numbers, groups, group)
            plus = ((zeros ^ 15) + 1) * 0x01010101  # 16 - zero point
            quads = [quad + plus for quad in quads]
        parts = BlockParts(quads, found)
        if small:
            parts = BlockParts(quads, scales=[_as_half(found), _as_half(found >> 8)])
        scales = b.add(out, b.mul(loop.index, I64(layout.scales_nbytes)))
        write_block(b, layout, parts, scales, b.add(body, b.mul(loop.index, I64(layout.block_nbytes))))


def _apart(half: Words) -> Words:
    """Return the four nibbles of the low half of a word in bytes of their own, the lowest one first."""
    pairs = (half | half << 8) & 0x00FF00FF
    return (pairs | pairs << 4) & 0x0F0F0F0F


def _as_half(small: Words) -> Words:
    """Return E4M3, in the low byte of a word, as a float16 with the same exponent, which is biased by 8
    more."""
    return (small & 0x7F) << 7 | (small & 0x80) << 8


def _zeros(b: Value, table: Value, numbers: Sequence[Value], groups: Value, group: Value) -> Words:
    """Return the zero points of a group of columns, one for each lane. table: address of int32 [⌈rows / 8⌉,
    groups], eight rows in a word."""
    at, shifts = [], ir.Constant(INTS, ir.Undefined)
    for lane, number in enumerate(numbers):
        word = b.add(b.mul(b.lshr(number, I64(3)), groups), group)
        at.append(b.add(table, b.mul(word, I64(4))))
        shift = b.trunc(b.mul(b.and_(number, I64(7)), I64(4)), I32)
        shifts = b.insert_element(shifts, shift, I32(lane))
    return Words(b, b.lshr(_gathered(b, at, 4), shifts)) & 15


def _layout(stored: str) -> TileLayout:
    name = layout_of(stored)
    assert name is not None
    return TILES[name]


@intrinsic(prefer_literal=True)
def _pack_parts(_, stored, places, first, rows, columns, out):  # type: ignore[no-untyped-def]
    """Pack a tile. stored: the number of the format in FORMATS (a literal); the others are as for
    `tile_packer`."""
    if not isinstance(stored, types.IntegerLiteral):
        return None
    form = list(FORMATS.values())[stored.literal_value]

    def code(context, b, signature, arguments):  # type: ignore[no-untyped-def]
        places, first, rows, columns, out = arguments[1:]
        numbers = row_numbers(b, first, rows)
        if isinstance(form, ScaledFormat):
            _pack_scaled(b, form, places, numbers, columns, out)
        elif isinstance(form, NibbleFormat):
            _pack_nibbles(b, form, places, numbers, columns, out)
        else:
            assert isinstance(form, FactoredFormat)
            _pack_factored(b, form, places, numbers, columns, out)
        return context.get_dummy_value()

    return types.void(stored, *[types.int64] * 5), code


@cache
def _parts_packer(stored: str) -> int:
    kind = list(FORMATS).index(stored)

    def pack(places, first, rows, columns, out):  # type: ignore[no-untyped-def]
        _pack_parts(kind, places, first, rows, columns, out)

    pack.__name__ = pack.__qualname__ = f"pack_parts_{stored}"  # the compiler's cache goes by names
    return cached_address(numba.void(*[numba.int64] * 5), pack)
