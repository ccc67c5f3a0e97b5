"""Attention: from each row's queries to the keys and values that the row sees.

The order of sums in a row depends on the row alone: on neither the other rows, nor on which heads attend
together, nor on the threads.
"""

import math
from collections.abc import Callable
from functools import cache

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from engine.compiled.cache_rows import FORMATS, block_of_row, fetch_of_row
from engine.compiled.instructions import (
    F32,
    FLOATS,
    I32,
    I64,
    INTS,
    LANES,
    Value,
    call,
    floats_at,
    fma,
    ints_at,
    load,
    number,
    splat,
    store,
)
from engine.compiled.layout import BLOCK
from engine.compiled.steps import LISTS, OFFSETS, PREFIX, ROWS, STOP, F, as_float, exp, write_block
from engine.formats.jit import helper

_VECTOR = 16  # numbers of a value that are added at a time
AHEAD = 4096  # bytes ahead of their use that keys and values are fetched into the cache
MOST_QUERIES = 4 if LANES == 16 else 2  # heads of a row that attend together
_MOST_VECTORS = 16 if LANES == 16 else 4  # vectors of sums that fit the registers


@intrinsic(prefer_literal=True)
def _score(  # type: ignore[no-untyped-def]
    _, form, queries, query, keys, nbytes, slots, count, width, scores, scores_nbytes
):
    """Write the products of queries and keys. The order of a product's sums depends on neither the other
    queries nor the other keys.

    form: number of the keys' format in FORMATS (a literal); queries: their number (a literal that divides
    LANES); query: address of float32 [queries, width]; keys: address of rows, `nbytes` from one slot to the
    next; slots: address of the slots of the keys, int64, or 0 if they are 0, 1, ...; count: number of keys;
    scores: address of float32 [count and LANES more], `scores_nbytes` from one query to the next.
    """
    if not (isinstance(form, types.IntegerLiteral) and isinstance(queries, types.IntegerLiteral)):
        return None
    stored, asked = FORMATS[form.literal_value], queries.literal_value
    together = LANES // asked  # keys: as many sums as a vector has lanes are in registers

    def code(context, b, signature, arguments):  # type: ignore[no-untyped-def]
        query, keys, nbytes, slots, count, width, scores, scores_nbytes = arguments[2:]
        sums = [cgutils.alloca_once(b, FLOATS) for _ in range(LANES)]
        places = [cgutils.alloca_once(b, I64) for _ in range(together)]
        listed, last = b.icmp_signed("!=", slots, I64(0)), b.sub(count, I64(1))
        with cgutils.for_range_slice(b, I64(0), count, I64(together)) as (first, _):
            for number_of_key, place in enumerate(places):
                index = b.add(first, I64(number_of_key))
                index = b.select(b.icmp_signed("<", index, last), index, last)  # the last is repeated
                b.store(b.add(keys, b.mul(index, nbytes)), place)
                with b.if_then(listed):
                    slot = load(b, slots, b.shl(index, I64(3)), I64, 8)
                    b.store(b.add(keys, b.mul(slot, nbytes)), place)
            for each in sums:
                b.store(number(FLOATS, 0.0), each)
            addresses = [b.load(place) for place in places]
            with cgutils.for_range_slice(b, I64(0), width, I64(BLOCK)) as (column, _):
                rows = []
                for row in range(asked):
                    at = b.add(query, b.shl(b.add(column, b.mul(width, I64(row))), I64(2)))
                    rows.append([load(b, at, 4 * lane, FLOATS, 4) for lane in range(0, BLOCK, LANES)])
                for number_of_key, address in enumerate(addresses):
                    fetch_of_row(b, stored, address, column, 1, AHEAD)
                    key = block_of_row(b, stored, address, width, column, LANES)
                    for row, values in enumerate(rows):
                        each = sums[row * together + number_of_key]
                        for part, numbers in zip(values, key, strict=True):
                            b.store(fma(b, part, numbers, b.load(each)), each)
            found = _sums_of_lanes(b, [b.load(each) for each in sums])
            for row in range(asked):
                lanes = [I32(row * together + lane) for lane in range(together)]
                part = b.shuffle_vector(found, found, ir.Constant(ir.VectorType(I32, together), lanes))
                out = b.add(scores, b.mul(scores_nbytes, I64(row)))
                store(b, part, out, b.shl(first, I64(2)), 4)
        return context.get_dummy_value()

    return types.void(form, queries, *[types.int64] * 8), code


def _sums_of_lanes(b: Value, vectors: list[Value]) -> Value:
    """Return a vector whose lane i is the sum of the lanes of vector i; all are summed in the same order."""
    distance = LANES // 2
    while distance:
        pairs = zip(vectors[:distance], vectors[distance:], strict=True)
        low = [lane + (LANES - distance if lane & distance else 0) for lane in range(LANES)]
        high = [lane + (LANES if lane & distance else distance) for lane in range(LANES)]
        vectors = [b.fadd(_lanes(b, x, y, low), _lanes(b, x, y, high)) for x, y in pairs]
        distance //= 2
    return vectors[0]


def _lanes(b: Value, x: Value, y: Value, lanes: list[int]) -> Value:
    return b.shuffle_vector(x, y, ir.Constant(INTS, [I32(lane) for lane in lanes]))


@intrinsic(prefer_literal=True)
def _add_values(  # type: ignore[no-untyped-def]
    _, form, queries, blocks, shares, shares_nbytes, count, values, nbytes, slots, width, column, out
):
    """Add shares[i] times the i-th value to `out`, for i < count, in this order, for some queries and some
    columns.

    form: number of the values' format in FORMATS, queries: their number, blocks: number of blocks of 32
    columns from `column` on (literals); shares: address of float32, `shares_nbytes` from one query to the
    next; values: address of rows, `nbytes` from one slot to the next; slots: address of the slots of the
    values, int64, or 0 if they are 0, 1, ...; out: address of float32 [queries, width].
    """
    if not all(isinstance(each, types.IntegerLiteral) for each in (form, queries, blocks)):
        return None
    stored, asked, parts = FORMATS[form.literal_value], queries.literal_value, 2 * blocks.literal_value

    def code(context, b, signature, arguments):  # type: ignore[no-untyped-def]
        shares, shares_nbytes, count, values, nbytes, slots, width, column, out = arguments[3:]
        vector = ir.VectorType(F32, _VECTOR)
        outs = [b.add(out, b.shl(b.add(column, b.mul(width, I64(row))), I64(2))) for row in range(asked)]
        sums = [
            [cgutils.alloca_once_value(b, load(b, row, 64 * part, vector, 4)) for part in range(parts)]
            for row in outs
        ]
        listed = b.icmp_signed("!=", slots, I64(0))
        with cgutils.for_range(b, count) as loop:
            slot = cgutils.alloca_once_value(b, loop.index)
            with b.if_then(listed):
                b.store(load(b, slots, b.shl(loop.index, I64(3)), I64, 8), slot)
            value = b.add(values, b.mul(b.load(slot), nbytes))
            fetch_of_row(b, stored, value, column, parts // 2, AHEAD)
            columns = [b.add(column, I64(start)) for start in range(0, 16 * parts, BLOCK)]
            numbers = [each for at in columns for each in block_of_row(b, stored, value, width, at, _VECTOR)]
            for row in range(asked):
                at = b.add(shares, b.mul(shares_nbytes, I64(row)))
                share = splat(b, load(b, at, b.shl(loop.index, I64(2)), F32, 4), vector)
                for each, total in zip(numbers, sums[row], strict=True):
                    b.store(fma(b, share, each, b.load(total)), total)
        for row, totals in zip(outs, sums, strict=True):
            for part, total in enumerate(totals):
                store(b, b.load(total), row, 64 * part, 4)
        return context.get_dummy_value()

    return types.void(form, queries, blocks, *[types.int64] * 9), code


@intrinsic
def _largest(_, address, vectors):  # type: ignore[no-untyped-def]
    """Return the largest of `vectors` times LANES float32, except NaN; minus infinity if there is none."""

    def code(context, b, signature, arguments):  # type: ignore[no-untyped-def]
        address, vectors = arguments
        largest = cgutils.alloca_once_value(b, number(FLOATS, -math.inf))
        with cgutils.for_range(b, vectors) as loop:
            values = load(b, address, b.mul(loop.index, I64(4 * LANES)), FLOATS, 4)
            found = b.load(largest)
            b.store(b.select(b.fcmp_ordered(">", values, found), values, found), largest)
        return call(b, f"llvm.vector.reduce.fmax.v{LANES}f32", F32, [b.load(largest)])

    return types.float32(types.int64, types.int64), code


@helper
def softmax(scores, count, sinks):  # type: ignore[no-untyped-def]
    """Turn scores (address of float32 [count]) into shares that add up to one together with that of a sink,
    which stands for no value. sinks: address of its score, or 0 if there is none."""
    s = floats_at(scores)
    top = _largest(scores, count // LANES)  # the compiler does not make vector code of a loop for it
    for i in range(count // LANES * LANES, count):
        top = s[i] if s[i] > top else top
    total = F(0.0)
    if sinks:
        sink = floats_at(sinks)[0]
        top = sink if sink > top else top
        total = exp(sink - top)
    for i in range(count):
        s[i] = exp(s[i] - top)
        total += s[i]
    total = F(1.0) / total
    for i in range(count):
        s[i] = s[i] * total


def attend(form, queries):  # type: ignore[no-untyped-def]
    """Return a function that attends from `queries` heads of a row, which share their keys and values. form:
    number of their format in FORMATS."""
    blocks = 2 if queries * 4 <= _MOST_VECTORS else 1

    @helper
    def attend_together(  # type: ignore[no-untyped-def]
        query, keys, values, nbytes, first, count, lists, listed, width, cap, sinks, room, room_nbytes, out
    ):
        _score(form, queries, query, keys + first * nbytes, nbytes, 0, count, width, room, room_nbytes)
        rest = room + 4 * count
        if listed:
            _score(form, queries, query, keys, nbytes, lists, listed, width, rest, room_nbytes)
        seen = count + listed
        for head in range(queries):
            at = room + head * room_nbytes
            if cap != F(0.0):
                scores = floats_at(at)
                for i in range(seen):
                    scores[i] = cap * (F(1.0) - F(2.0) / (exp(F(2.0) * scores[i] / cap) + F(1.0)))
            softmax(at, seen, sinks + 4 * head if sinks else 0)
        results = floats_at(out)
        for i in range(queries * width):
            results[i] = F(0.0)
        column, start = 0, values + first * nbytes
        while width - column >= 32 * blocks:
            _add_values(form, queries, blocks, room, room_nbytes, count, start, nbytes, 0, width, column, out)
            _add_values(
                form, queries, blocks, rest, room_nbytes, listed, values, nbytes, lists, width, column, out
            )
            column += 32 * blocks
        while column < width:
            _add_values(form, queries, 1, room, room_nbytes, count, start, nbytes, 0, width, column, out)
            _add_values(
                form, queries, 1, rest, room_nbytes, listed, values, nbytes, lists, width, column, out
            )
            column += 32

    return attend_together


@cache
def attention_step(form: str) -> Callable[..., None]:
    """Return the step that attends from each row's queries to the keys and values that the row sees, which
    are stored in the format `form`."""
    kind = FORMATS.index(form)
    attend_one, attend_two, attend_four = (attend(kind, queries) for queries in (1, 2, MOST_QUERIES))

    def step(me, threads, arguments):  # type: ignore[no-untyped-def]
        """Arguments: state; queries, float32, in rows of (heads + 2 kv_heads) * width; heads; kv_heads;
        width; keys and values of the layer; bytes from one head to the next in them; room for scores, float32
        [threads * MOST_QUERIES, slots and LANES more]; bytes of a row of it; records; plain records; room for
        results, float32 [rows, heads * width]; largest number of keys seen, the window; cap of scores (bits),
        or 0; bytes of a row of keys or values; address of the scores of the heads' sinks, float32 [heads], or
        0.
        """
        a = ints_at(arguments)
        state = ints_at(a[0])
        rows, heads, kv_heads, width = state[ROWS], a[2], a[3], a[4]
        prefixes, offsets = ints_at(state[PREFIX]), ints_at(state[OFFSETS])
        room, cap, nbytes = a[8] + me * MOST_QUERIES * a[9], as_float(a[14]), a[15]
        blocks, group = heads * width // 32, heads // kv_heads
        # Heads that share keys attend together, unless too few threads would have work.
        size = group if rows * kv_heads >= 4 * threads else 1
        stop_word = ints_at(state[STOP])
        for item in range(me, rows * heads // size, threads):
            if stop_word[0]:
                return
            row, head = item // (heads // size), item % (heads // size) * size
            start = head // group * a[7]
            keys, values = a[5] + start, a[6] + start
            prefix, listed = prefixes[row], offsets[row + 1] - offsets[row]
            lists = state[LISTS] + 8 * offsets[row]
            skipped = max(0, prefix + listed - a[13])  # they are behind the window
            first, first_listed = min(skipped, prefix), max(0, skipped - prefix)
            count, lists, listed = prefix - first, lists + 8 * first_listed, listed - first_listed
            stop = head + size
            while head < stop:
                query = a[1] + (row * (heads + 2 * kv_heads) + head) * width * 4
                out = a[12] + (row * heads + head) * width * 4
                sinks = a[16] + 4 * head if a[16] else 0
                if stop - head >= MOST_QUERIES:
                    attend_four(
                        query, keys, values, nbytes, first, count, lists, listed, width, cap, sinks,
                        room, a[9], out,
                    )  # fmt: skip
                    done = MOST_QUERIES
                elif stop - head >= 2:
                    attend_two(
                        query, keys, values, nbytes, first, count, lists, listed, width, cap, sinks,
                        room, a[9], out,
                    )  # fmt: skip
                    done = 2
                else:
                    attend_one(
                        query, keys, values, nbytes, first, count, lists, listed, width, cap, sinks,
                        room, a[9], out,
                    )  # fmt: skip
                    done = 1
                for block in range(done * width // 32):
                    write_block(
                        out + 128 * block, head * (width // 32) + block, blocks, rows, row, a[10], a[11]
                    )
                head += done

    step.__name__ = step.__qualname__ = f"attention_{form}"  # the compiler's cache goes by names
    return step
