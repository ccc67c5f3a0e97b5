"""Packs rows of a matrix, as a file stores them, into a tile.

The rows of a tile become the lanes of vectors: the same words of all rows are loaded and transposed, then
taken apart as the format's own `split` says, all rows at a time.
"""

from collections.abc import Sequence
from functools import cache

import numba
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from engine.checkpoints.storage import BLOCKS
from engine.compiled.instructions import I8, I16, I32, I64, INTS, LANES, Value, load, number, store
from engine.compiled.layout import BLOCK, LAYOUTS, TileLayout
from engine.compiled.product import quants_at
from engine.formats import FORMATS, BlockFormat
from engine.formats.blocks import BlockParts
from engine.formats.code_book import CodeBook
from engine.formats.jit import cached_address


class Words:
    """A vector of unsigned 32-bit words as an expression: each operator emits an instruction."""

    def __init__(self, b: Value, value: Value) -> None:
        self._b = b
        self.value = value

    def _with(self, emit: Value, other: "int | Words") -> "Words":
        operand = other.value if isinstance(other, Words) else number(INTS, other)
        return Words(self._b, emit(self.value, operand))

    def __and__(self, other: "int | Words") -> "Words":
        return self._with(self._b.and_, other)

    def __or__(self, other: "int | Words") -> "Words":
        return self._with(self._b.or_, other)

    def __xor__(self, other: "int | Words") -> "Words":
        return self._with(self._b.xor, other)

    def __lshift__(self, other: int) -> "Words":
        return self._with(self._b.shl, other) if other else self

    def __rshift__(self, other: int) -> "Words":
        return self._with(self._b.lshr, other) if other else self

    def __mul__(self, other: "int | Words") -> "Words":
        return self._with(self._b.mul, other)

    def __add__(self, other: "int | Words") -> "Words":
        return self._with(self._b.add, other)

    def __sub__(self, other: int) -> "Words":
        return self._with(self._b.sub, other)


def _runs(offsets: Sequence[int]) -> list[tuple[int, int]]:
    """Cover the words at these offsets by runs of adjacent ones: (offset, number of words, a power of two of
    at most LANES)."""
    runs = []
    left = sorted(offsets)
    while left:
        count = 1
        while 2 * count <= LANES and left[: 2 * count] == [left[0] + 4 * i for i in range(2 * count)]:
            count *= 2
        runs.append((left[0], count))
        left = left[count:]
    return runs


def _transposed(b: Value, rows: Sequence[Value], count: int) -> list[Value]:
    """Return the words 0..count of all rows, a vector with a lane for each row. rows: addresses."""
    vector = ir.VectorType(I32, count)
    loaded = [load(b, row, 0, vector, 1) for row in rows]
    # Rows i, i + count, i + 2 count and so on side by side make square blocks of words.
    vectors = []
    for first in range(count):
        parts = loaded[first::count]
        while len(parts) > 1:
            parts = [_joined(b, *parts[at : at + 2]) for at in range(0, len(parts), 2)]
        vectors.append(parts[0])
    # A block is transposed by exchanging two of its quarters, then two quarters of each quarter, and so on.
    distance = count // 2
    while distance:
        for first in range(count):
            if first & distance:
                continue
            pair = vectors[first], vectors[first + distance]
            low, high = [], []
            for lane in range(LANES):
                moved = lane & distance
                low.append(lane + LANES - distance if moved else lane)
                high.append(lane + LANES if moved else lane + distance)
            vectors[first] = _shuffled(b, pair, low)
            vectors[first + distance] = _shuffled(b, pair, high)
        distance //= 2
    return vectors


def _joined(b: Value, x: Value, y: Value) -> Value:
    return _shuffled(b, (x, y), list(range(2 * x.type.count)))


def _shuffled(b: Value, pair: tuple[Value, Value], lanes: list[int]) -> Value:
    """Return the given lanes of two vectors; the second's lanes are numbered after the first's."""
    return b.shuffle_vector(*pair, ir.Constant(ir.VectorType(I32, len(lanes)), [I32(lane) for lane in lanes]))


class _Offsets:
    """Records which words of a block its format's `split` reads. See `engine.formats.blocks.BlockWords`."""

    def __init__(self) -> None:
        self.read: set[int] = set()

    def __call__(self, at: int, /) -> int:
        self.read.add(at)
        return 0

    def vector(self, book: CodeBook, index: int) -> list[int]:
        return [0] * (book.columns // 4)


class _Blocks:
    """The words of the same block of all rows, at the addresses `rows`. See
    `engine.formats.blocks.BlockWords`."""

    def __init__(self, b: Value, rows: Sequence[Value], offsets: Sequence[int]) -> None:
        self._b = b
        self._found = words_of(b, rows, offsets)
        self._books: dict[CodeBook, Value] = {}  # addresses

    def __call__(self, at: int, /) -> Words:
        return self._found[at]

    def vector(self, book: CodeBook, index: Words) -> list[Words]:
        b = self._b
        if book not in self._books:
            words = [I32(int(word)) for word in book.words.flatten()]
            table = ir.Constant(ir.ArrayType(I32, len(words)), words)
            self._books[book] = b.ptrtoint(cgutils.global_constant(b.module, "code_book", table), I64)
        # A whole vector is loaded at a time, as one number: with eight columns up to twice as fast as word by
        # word. Gathering instructions were no faster, and are slow on processors with the mitigation of
        # Downfall; collecting the vectors in memory was slower.
        count = book.columns // 4
        whole = ir.IntType(32 * count)
        found = ir.Constant(ir.VectorType(whole, LANES), ir.Undefined)
        for lane in range(LANES):
            place = b.zext(b.extract_element(index.value, I32(lane)), I64)
            vector = load(b, self._books[book], b.mul(place, I64(4 * count)), whole, 4)
            found = b.insert_element(found, vector, I32(lane))
        words = b.bitcast(found, ir.VectorType(I32, count * LANES))
        lanes = [list(range(first, count * LANES, count)) for first in range(count)]
        return [Words(b, _shuffled(b, (words, words), each)) for each in lanes]


def words_of(b: Value, rows: Sequence[Value], offsets: Sequence[int]) -> dict[int, Words]:
    """Return the words of all rows at these offsets. rows: addresses."""
    found: dict[int, Words] = {}
    for start, count in _runs(offsets):
        vectors = _transposed(b, [b.add(row, I64(start)) for row in rows], count)
        found |= {start + 4 * i: Words(b, vector) for i, vector in enumerate(vectors)}
    return found


def row_numbers(b: Value, first: Value, rows: Value) -> list[Value]:
    """Return the number of the row in each lane: a tile that is not full repeats its last row."""
    last = b.sub(rows, I64(1))
    lanes = (b.select(b.icmp_signed("<", I64(lane), last), I64(lane), last) for lane in range(LANES))
    return [b.add(first, lane) for lane in lanes]


def rows_at(b: Value, places: Value, numbers: Sequence[Value], row_nbytes: Value) -> list[Value]:
    """Return the addresses of these rows of a matrix's first part."""
    source = load(b, places, 0, I64, 8)
    return [b.add(source, b.mul(number, row_nbytes)) for number in numbers]


def write_block(b: Value, layout: TileLayout, block: BlockParts, scales: Value, quants: Value) -> None:
    """Write a block of all rows. scales, quants: addresses in the tile."""
    halves, smalls = ir.VectorType(I16, LANES), ir.VectorType(I8, LANES)
    heads = block.scales or [block.scale]
    if block.minimum is not None:
        heads = [*heads, block.minimum]
    for i, head in enumerate(heads):
        store(b, b.trunc(head.value, halves), scales, 2 * LANES * i, 2)
    for i, small in enumerate(block.small):
        store(b, b.trunc(small.value, smalls), scales, 2 * LANES * len(heads) + LANES * i, 1)
    at = 0
    for first in range(0, len(block.quads), BLOCK // 4):
        quads = block.quads[first : first + BLOCK // 4]
        for bits, shift in layout.planes:
            mask = ((1 << bits) - 1) * 0x01010101
            in_vector = 8 // bits
            for start in range(0, len(quads), in_vector):
                parts = [quad >> shift & mask for quad in quads[start : start + in_vector]]
                vector = parts[0]
                for place, part in enumerate(parts[1:], 1):
                    vector = vector | part << bits * place
                store(b, vector.value, quants, at, 4)
                at += 4 * LANES


def pack_blocks(
    b: Value, layout: TileLayout, form: BlockFormat, rows: Sequence[Value], blocks: Value, out: Value
) -> None:
    """Pack a tile of a block format. rows: addresses; blocks: their number in a row."""
    offsets = _Offsets()
    form.split(offsets)
    in_block = form.values // layout.unit
    body = quants_at(b, layout, out, b.mul(blocks, I64(in_block)))
    nbytes = form.values // BLOCK * layout.block_nbytes
    with cgutils.for_range(b, blocks) as loop:
        here = [b.add(row, b.mul(loop.index, I64(form.nbytes))) for row in rows]
        block = form.split(_Blocks(b, here, sorted(offsets.read)))
        scales = b.add(out, b.mul(loop.index, I64(in_block * layout.scales_nbytes)))
        write_block(b, layout, block, scales, b.add(body, b.mul(loop.index, I64(nbytes))))


def pack_numbers(b: Value, layout: TileLayout, rows: Sequence[Value], blocks: Value, out: Value) -> None:
    """Pack plain numbers. rows: addresses; blocks: number of blocks of 32 in a row; out: address of the first
    number in the tile."""
    count = BLOCK * layout.bits // 32  # words
    kind = ir.VectorType(ir.IntType(layout.bits), LANES)
    with cgutils.for_range(b, blocks) as loop:
        here = [b.add(row, b.mul(loop.index, I64(4 * count))) for row in rows]
        words = words_of(b, here, range(0, 4 * count, 4))
        to = b.add(out, b.mul(loop.index, I64(layout.block_nbytes)))
        for at, word in words.items():
            if layout.bits == 32:
                store(b, word.value, to, at * LANES, 4)
                continue
            nbytes = layout.bits // 8
            for part in range(32 // layout.bits):
                column = b.trunc((word >> layout.bits * part).value, kind)
                store(b, column, to, (at + nbytes * part) * LANES, nbytes)


@intrinsic(prefer_literal=True)
def _pack_tile(_, layout, places, first, rows, columns, out):  # type: ignore[no-untyped-def]
    """Pack a tile. layout: the number of the layout in LAYOUTS (a literal); the others are as for
    `tile_packer`."""
    if not isinstance(layout, types.IntegerLiteral):
        return None
    name = list(LAYOUTS)[layout.literal_value]
    chosen, form = LAYOUTS[name], FORMATS[name]

    def code(context, b, signature, arguments):  # type: ignore[no-untyped-def]
        places, first, rows, columns, out = arguments[1:]
        numbers = row_numbers(b, first, rows)
        values, nbytes = BLOCKS[name]
        addresses = rows_at(b, places, numbers, b.mul(b.sdiv(columns, I64(values)), I64(nbytes)))
        if isinstance(form, BlockFormat):
            pack_blocks(b, chosen, form, addresses, b.sdiv(columns, I64(form.values)), out)
        else:
            pack_numbers(b, chosen, addresses, b.sdiv(columns, I64(BLOCK)), out)
        return context.get_dummy_value()

    return types.void(layout, *[types.int64] * 5), code


@cache
def tile_packer(layout: str) -> int:
    """Return the address of the compiled packer of a layout, for matrices whose rows are stored one after
    another in the format of that name.

    It takes five int64: the address of the addresses of the matrix's parts (`engine.compiled.matrix.locate`);
    the number of the tile's first row, a multiple of LANES; the number of rows, at most LANES; the number of
    columns; and the address of the tile.
    """
    kind = list(LAYOUTS).index(layout)

    def pack(places, first, rows, columns, out):  # type: ignore[no-untyped-def]
        _pack_tile(kind, places, first, rows, columns, out)

    pack.__name__ = pack.__qualname__ = f"pack_{layout}"  # the compiler's cache goes by names
    return cached_address(numba.void(*[numba.int64] * 5), pack)
