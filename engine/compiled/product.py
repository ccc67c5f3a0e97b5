"""The product of one tile of weights and a few rows of activations.

Activations are rounded to int8 in blocks of 32 columns, each with a float32 scale. An integer instruction
multiplies four columns of all rows of the tile by four activations at a time, and adds the products; each
block's integer sum is then scaled and added to a float32 sum. Unpacked quants stay in registers while up to
MOST_ROWS rows of activations are multiplied by them.

The arithmetic of a row of activations is the same however many rows run with it.
"""

from functools import cache

import numba
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from engine.compiled.activations import RECORD_NBYTES, SCALE, SUM, SUMS_OF_16
from engine.compiled.instructions import (
    BYTES,
    F32,
    FLOATS,
    I8,
    I32,
    I64,
    INSTRUCTIONS,
    INTS,
    LANES,
    MOST_ROWS,
    WORDS,
    Value,
    call,
    fetch,
    fma,
    load,
    number,
    splat,
    store,
    widened,
)
from engine.compiled.layout import ALIGNMENT, BLOCK, TILES, TileLayout
from engine.formats.jit import cached_address

QUADS = BLOCK // 4
# Bytes ahead of the product that are fetched into the second-level cache: the first one has room for few
# reads at a time, and then cores read memory at two thirds of its speed. With several rows of activations a
# block takes so long that the processor's own reading ahead falls behind.
AHEAD = 4096
ROW_COUNTS = tuple(count for count in (16, 8, 4, 2, 1) if count <= MOST_ROWS)


def chunk_sizes(rows: int) -> list[int]:
    """Return the numbers of rows that are multiplied together, for `rows` rows in all."""
    sizes = []
    for count in ROW_COUNTS:
        sizes += [count] * (rows // count)
        rows %= count
    return sizes


def _bytes_dot(b: Value, bits: int, weights: list[Value], activations: list[Value]) -> Value:
    """Return the sums over quads of unsigned bytes times signed bytes, one int32 for each lane."""
    if INSTRUCTIONS in ("avx512", "avxvnni"):
        total = number(INTS, 0)
        for pair in zip(weights, activations, strict=True):
            total = call(b, f"llvm.x86.avx512.vpdpbusd.{32 * LANES}", INTS, [total, *pair])
        return total
    if INSTRUCTIONS == "portable":
        return _portable_dot(b, weights, activations)
    if bits == 8:  # the products of two bytes would overflow an int16: multiply halves
        mask = number(INTS, 0x0F0F0F0F)
        low = _avx2_dot(b, 4, [b.and_(weight, mask) for weight in weights], activations, 1)
        high = [b.and_(b.lshr(weight, number(INTS, 4)), mask) for weight in weights]
        return b.add(low, _avx2_dot(b, 4, high, activations, 16))
    return _avx2_dot(b, bits, weights, activations, 1)


def _avx2_dot(b: Value, bits: int, weights: list[Value], activations: list[Value], factor: int) -> Value:
    """`_bytes_dot` of quants of at most six bits, times `factor`."""
    # A pair of products is at most 2 * 127 * (2^bits - 1); so many of them fit an int16.
    fit = min(len(weights), 32767 // (2 * 127 * ((1 << bits) - 1)))
    total = None
    for first in range(0, len(weights), fit):
        words = None
        for weight, x in list(zip(weights, activations, strict=True))[first : first + fit]:
            pair = [b.bitcast(weight, BYTES), b.bitcast(x, BYTES)]
            product = call(b, "llvm.x86.avx2.pmadd.ub.sw", WORDS, pair)
            words = product if words is None else b.add(words, product)
        sums = call(b, "llvm.x86.avx2.pmadd.wd", INTS, [words, number(WORDS, factor)])
        total = sums if total is None else b.add(total, sums)
    return total


def _portable_dot(b: Value, weights: list[Value], activations: list[Value]) -> Value:
    """`_bytes_dot` in shifts and multiplications that every processor has."""
    total = number(INTS, 0)
    for weight, x in zip(weights, activations, strict=True):
        for byte in range(4):
            up = number(INTS, 24 - 8 * byte)
            unsigned = b.and_(b.lshr(weight, number(INTS, 8 * byte)), number(INTS, 0xFF))
            signed = b.ashr(b.shl(x, up), number(INTS, 24))
            total = b.add(total, b.mul(unsigned, signed))
    return total


def _quads(b: Value, layout: TileLayout, quants: Value) -> list[Value]:
    """Return the quants of a block at the address `quants`: a vector for each quad."""
    quads: list[Value] = [None] * QUADS
    start = 0
    for bits, where in layout.planes:
        in_vector = 8 // bits
        for j in range(QUADS):
            vector = load(b, quants, (start + j // in_vector) * 4 * LANES, INTS, 32)
            if bits == 8:
                quads[j] = vector
                continue
            shift = bits * (j % in_vector) - where
            if shift:
                shifted = b.lshr if shift > 0 else b.shl
                vector = shifted(vector, number(INTS, abs(shift)))
            part = b.and_(vector, number(INTS, ((1 << bits) - 1 << where) * 0x01010101))
            quads[j] = part if quads[j] is None else b.or_(quads[j], part)
        start += QUADS // in_vector
    return [_looked_up(b, layout.levels, quad) for quad in quads] if layout.levels else quads


def _looked_up(b: Value, levels: tuple[int, ...], quants: Value) -> Value:
    """Replace each byte of `quants`, 0 to 15, by its level."""
    index = b.bitcast(quants, BYTES)
    if INSTRUCTIONS == "portable":
        found = number(BYTES, 0)
        for quant, level in enumerate(levels):
            found = b.select(b.icmp_unsigned("==", index, number(BYTES, quant)), number(BYTES, level), found)
    else:
        entries = (*levels, *[0] * (16 - len(levels)))
        table = ir.Constant(BYTES, [I8(level) for _ in range(LANES // 4) for level in entries])
        name = "llvm.x86.avx512.pshuf.b.512" if INSTRUCTIONS == "avx512" else "llvm.x86.avx2.pshuf.b"
        found = call(b, name, BYTES, [table, index])
    return b.bitcast(found, INTS)


def _scales(b: Value, layout: TileLayout, address: Value, offset: int) -> Value:
    """Load scales or minima of all rows, as float32."""
    numbers = widened(b, address, offset, layout.scale)
    return numbers if layout.factor == 1 else b.fmul(numbers, number(FLOATS, layout.factor))


def _small(b: Value, address: Value, offset: int, signed: bool) -> Value:
    """Load the 8-bit scales of all rows, as float32."""
    ints = load(b, address, offset, ir.VectorType(I8, LANES), LANES)
    return b.sitofp(b.sext(ints, INTS) if signed else b.zext(ints, INTS), FLOATS)


def _fetch_ahead(b: Value, address: Value, nbytes: int) -> None:
    for line in range(0, nbytes, 64):
        fetch(b, address, line + AHEAD)


class _Sums:
    """The float32 sums of each row of activations, kept in registers."""

    def __init__(self, b: Value, rows: int) -> None:
        self._places = [cgutils.alloca_once(b, FLOATS) for _ in range(rows)]
        for each in self._places:
            b.store(number(FLOATS, 0.0), each)

    def add(self, b: Value, row: int, x: Value, y: Value) -> None:
        """Add x y to the sum of a row."""
        b.store(fma(b, x, y, b.load(self._places[row])), self._places[row])

    def write(self, b: Value, out: Value, stride: Value, factors: Value | None) -> None:
        """Write the sums, each times its row's factor if there are any. out: address; stride: bytes from one
        row to the next."""
        for each in self._places:
            total = b.load(each)
            store(b, total if factors is None else b.fmul(total, factors), out, 0, 4)
            out = b.add(out, stride)


def _block(
    b: Value,
    layout: TileLayout,
    sums: _Sums,
    rows: int,
    quants: Value,
    x: Value,
    scales: list[Value],
    minima: list[Value],
) -> None:
    """Add the products of one block to `sums`. quants: address; x: address of the block's records; scales,
    minima: one vector for each group of columns."""
    _fetch_ahead(b, quants, layout.block_nbytes)
    weights = _quads(b, layout, quants)
    groups = len(scales)
    each = QUADS // groups
    for row in range(rows):
        record = row * RECORD_NBYTES
        x_scale = splat(b, load(b, x, record + SCALE, F32, 4), FLOATS)
        for group in range(groups):
            part = slice(group * each, (group + 1) * each)
            lanes = [splat(b, load(b, x, record + 4 * j, I32, 4), INTS) for j in range(QUADS)[part]]
            bits = max(layout.levels).bit_length() if layout.levels else layout.bits
            dot = b.sitofp(_bytes_dot(b, bits, weights[part], lanes), FLOATS)
            sums.add(b, row, dot, b.fmul(scales[group], x_scale))
            place_of_sum = SUM if groups == 1 else SUMS_OF_16 + 4 * group
            x_sum = splat(b, load(b, x, record + place_of_sum, F32, 4), FLOATS)
            sums.add(b, row, minima[group], x_sum)


def _packed_tile(
    b: Value, layout: TileLayout, sums: _Sums, rows: int, tile: Value, x: Value, blocks: Value
) -> None:
    in_unit = layout.unit // BLOCK
    units = b.lshr(blocks, I64(in_unit.bit_length() - 1))
    quants = quants_at(b, layout, tile, units)
    kinds = 2 if layout.minima else 1
    groups = max(1, BLOCK // layout.group)  # of a block

    def block(index: Value, scales: list[Value], minima: list[Value]) -> None:
        at = b.add(quants, b.mul(index, I64(layout.block_nbytes)))
        _block(b, layout, sums, rows, at, b.add(x, b.mul(index, I64(rows * RECORD_NBYTES))), scales, minima)

    if not layout.supers and layout.group <= BLOCK:
        with cgutils.for_range(b, blocks) as loop:
            scales_at = b.add(tile, b.mul(loop.index, I64(groups * kinds * 2 * LANES)))
            scales, minima = [], []
            for group in range(groups):
                at = group * kinds * 2 * LANES
                scale = _scales(b, layout, scales_at, at)
                minimum = _scales(b, layout, scales_at, at + 2 * LANES) if layout.minima else None
                scales.append(scale)
                minima.append(_negative_minimum(b, layout, scale, minimum))
            block(loop.index, scales, minima)
        return
    with cgutils.for_range(b, units) as outer:
        scales_at = b.add(tile, b.mul(outer.index, I64(layout.scales_nbytes)))
        scale_of_scales = _scales(b, layout, scales_at, 0)
        scale_of_minima = _scales(b, layout, scales_at, 2 * LANES) if layout.minima else None
        with cgutils.for_range(b, I64(in_unit)) as inner:
            small = b.add(scales_at, b.mul(inner.index, I64(groups * kinds * LANES)))
            scales, minima = [], []
            for group in range(groups):
                at = kinds * 2 * LANES + group * kinds * LANES
                scale, minimum = scale_of_scales, scale_of_minima
                if layout.supers:
                    scale = b.fmul(scale_of_scales, _small(b, small, at, layout.signed))
                    if layout.minima:
                        minimum = b.fmul(scale_of_minima, _small(b, small, at + LANES, False))
                scales.append(scale)
                minima.append(_negative_minimum(b, layout, scale, minimum))
            block(b.add(b.mul(outer.index, I64(in_unit)), inner.index), scales, minima)


def _negative_minimum(b: Value, layout: TileLayout, scale: Value, minimum: Value | None) -> Value:
    """Return what is added for each unit of activation. An offset acts as a minimum of scale * offset."""
    return b.fneg(minimum) if minimum is not None else b.fmul(scale, number(FLOATS, -float(layout.offset)))


def quants_at(b: Value, layout: TileLayout, tile: Value, units: Value) -> Value:
    """Return the address of a tile's quants, as `TileLayout.head_nbytes` has it. tile: the address behind
    the factors of rows; units: how many a row has."""
    nbytes = b.mul(units, I64(layout.scales_nbytes))
    return b.add(tile, b.and_(b.add(nbytes, I64(ALIGNMENT - 1)), I64(-ALIGNMENT)))


def _plain_tile(
    b: Value, layout: TileLayout, sums: _Sums, rows: int, tile: Value, x: Value, blocks: Value
) -> None:
    """The product of plain numbers: activations stay float32."""
    size = LANES * layout.bits // 8  # bytes of a column
    in_unit = layout.unit // BLOCK
    shift = I64(in_unit.bit_length() - 1)
    numbers = quants_at(b, layout, tile, b.lshr(b.add(blocks, I64(in_unit - 1)), shift))
    with cgutils.for_range(b, blocks) as loop:
        scale = None
        if layout.scaled:
            unit = b.mul(b.lshr(loop.index, shift), I64(layout.scales_nbytes))
            scale = _scales(b, layout, b.add(tile, unit), 0)
        weights = b.add(numbers, b.mul(loop.index, I64(layout.block_nbytes)))
        records = b.add(x, b.mul(loop.index, I64(rows * BLOCK * 4)))
        _fetch_ahead(b, weights, layout.block_nbytes)
        with cgutils.for_range(b, I64(BLOCK // 4)) as quad:
            for column in range(4):
                at = b.add(weights, b.mul(quad.index, I64(4 * size)))
                weight = widened(b, at, column * size, layout.number)
                if scale is not None:
                    weight = b.fmul(weight, scale)
                for row in range(rows):
                    here = b.add(records, b.mul(quad.index, I64(16)))
                    value = load(b, here, row * BLOCK * 4 + 4 * column, F32, 4)
                    sums.add(b, row, weight, splat(b, value, FLOATS))


@intrinsic(prefer_literal=True)
def _multiply_tile(_, layout, rows, tile, x, blocks, out, stride):  # type: ignore[no-untyped-def]
    """The product of a tile. layout: the number of the layout in TILES (a literal); rows: of activations (a
    literal); the others are as for `tile_product`."""
    if not (isinstance(layout, types.IntegerLiteral) and isinstance(rows, types.IntegerLiteral)):
        return None
    chosen, count = list(TILES.values())[layout.literal_value], rows.literal_value

    def code(context, b, signature, arguments):  # type: ignore[no-untyped-def]
        tile, x, blocks, out, stride = arguments[2:]
        sums = _Sums(b, count)
        factors = load(b, tile, 0, FLOATS, 4) if chosen.row_factors else None
        emit = _plain_tile if chosen.number else _packed_tile
        emit(b, chosen, sums, count, b.add(tile, I64(chosen.lead_nbytes)), x, blocks)
        sums.write(b, out, stride, factors)
        return context.get_dummy_value()

    return types.void(layout, rows, *[types.int64] * 5), code


@cache
def tile_product(layout: str, rows: int) -> int:
    """Return the address of the compiled product of a tile in a layout and `rows` rows of activations.

    It takes five int64: the address of the tile; that of the rows' records (`engine.compiled.activations`);
    the number of blocks of 32 columns; the address of the results, float32 [rows, LANES]; and the bytes from
    one row of results to the next.
    """
    kind = list(TILES).index(layout)

    def product(tile, x, blocks, out, stride):  # type: ignore[no-untyped-def]
        _multiply_tile(kind, rows, tile, x, blocks, out, stride)

    product.__name__ = product.__qualname__ = f"product_{layout}_{rows}"  # the compiler's cache goes by names
    return cached_address(numba.void(*[numba.int64] * 5), product)


def prepare_products(layout: str) -> None:
    """Compile the products for a layout, or read them from the cache."""
    for rows in ROW_COUNTS:
        tile_product(layout, rows)
