"""The arithmetic of slices of a matrix-valued state, and how stores advance past kept rows.

Gated DeltaNet and Mamba-2 have the same state: for each head a matrix S [key width, value width], which a row
makes S' = a S + k u^T, with a decay a, a key k and an update u. Every place that computes S' does so here, so
that a tree, a text and a commit give the same bits.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from engine.compiled.instructions import (
    F32,
    FLOATS,
    I64,
    LANES,
    Value,
    floats_at,
    fma,
    ints_at,
    load,
    number,
    splat,
    store,
)
from engine.compiled.pool import shared_pool
from engine.compiled.states import COLUMNS, FEW_COLUMNS, StateShape
from engine.compiled.steps import step_address
from engine.formats.jit import helper

UNROLLED = 2  # rows of a slice that are summed apart; the key width is a multiple


def slice_row(b: Value, address: Value, row: Value, parts: int) -> list[Value]:
    """Return a row of a slice as so many vectors."""
    at = b.add(address, b.mul(row, I64(4 * LANES * parts)))
    return [load(b, at, 4 * LANES * part, FLOATS, 4) for part in range(parts)]


def scalar(b: Value, address: Value, index: Value) -> Value:
    """Return a number of an array, in each lane of a vector."""
    return splat(b, load(b, address, b.shl(index, I64(2)), F32, 4), FLOATS)


def next_row(
    b: Value, source: Value, target: Value, row: Value, key: Value, update: list[Value], decay: Value
) -> list[Value]:
    """Write a row of S' = a S + k u^T, and return it. update: as many vectors as a row of a slice has."""
    parts = len(update)
    at = b.add(target, b.mul(row, I64(4 * LANES * parts)))
    values = [
        fma(b, key, part, b.fmul(decay, old))
        for old, part in zip(slice_row(b, source, row, parts), update, strict=True)
    ]
    for place, value in enumerate(values):
        store(b, value, at, 4 * LANES * place, 4)
    return values


def sums(b: Value, parts: int) -> list[list[Value]]:
    """Return places for the sums of a slice's rows, UNROLLED of each column."""
    zero = number(FLOATS, 0.0)
    return [[cgutils.alloca_once_value(b, zero) for _ in range(parts)] for _ in range(UNROLLED)]


def total(b: Value, places: list[list[Value]]) -> list[Value]:
    """Return the sums of what lies at the first and at the second places, one by one."""
    return [b.fadd(b.load(first), b.load(second)) for first, second in zip(*places, strict=True)]


def advance_and_read(
    b: Value,
    source: Value,
    target: Value,
    width: Value,
    keys: Value,
    queries: Value,
    updates: list[Value],
    decay: Value,
    out: Value,
) -> None:
    """Write S' = a S + k u^T of a slice to `target`, and S'^T q to `out`.

    source, target: addresses of a slice; keys, queries: of float32 [width]; updates, decay: vectors; out: of
    as many numbers as a row of a slice has.
    """
    read = sums(b, len(updates))
    with cgutils.for_range_slice(b, I64(0), width, I64(UNROLLED)) as (first, _):
        for place, totals in enumerate(read):
            row = b.add(first, I64(place))
            key, query = scalar(b, keys, row), scalar(b, queries, row)
            behind = next_row(b, source, target, row, key, updates, decay)
            for one, new in zip(totals, behind, strict=True):
                b.store(fma(b, query, new, b.load(one)), one)
    for part, value in enumerate(total(b, read)):
        store(b, value, out, 4 * LANES * part, 4)


def _advance_of(columns: int) -> Any:
    """Return the intrinsic that writes S' of a slice of so many columns to `target`, from a row's record."""
    parts = columns // LANES

    @intrinsic
    def advance(_, source, target, width, keys, update, decay):  # type: ignore[no-untyped-def]
        def code(context, b, signature, arguments):  # type: ignore[no-untyped-def]
            source, target, width, keys, update, decay = arguments
            decay = splat(b, decay, FLOATS)
            updates = [load(b, update, 4 * LANES * part, FLOATS, 4) for part in range(parts)]
            with cgutils.for_range(b, width) as loop:
                key = scalar(b, keys, loop.index)
                next_row(b, source, target, loop.index, key, updates, decay)
            return context.get_dummy_value()

        return types.void(*[types.int64] * 5, types.float32), code

    return advance


_advance, _advance_few = _advance_of(COLUMNS), _advance_of(FEW_COLUMNS)


@helper
def key_head(head, key_heads, heads, tiled):  # type: ignore[no-untyped-def]
    """Return the number of the keys that a head shares."""
    return head % key_heads if tiled else head // (heads // key_heads)


@helper
def advance_slice(  # type: ignore[no-untyped-def]
    source, target, record, part, columns, channels, key_heads, heads, width, value_width, tiled
):
    """Advance a slice past a row. record: address of the layer in the row's record; part, columns: number of
    the slice, and of its columns."""
    head = part * columns // value_width
    keys = record + channels * 4
    decays = keys + key_heads * width * 4
    key = keys + key_head(head, key_heads, heads, tiled) * width * 4
    update = decays + (heads + columns * part) * 4
    if columns == COLUMNS:
        _advance(source, target, width, key, update, floats_at(decays)[head])
    else:
        _advance_few(source, target, width, key, update, floats_at(decays)[head])


def commit_step(me, threads, arguments):  # type: ignore[no-untyped-def]
    """Advance the matrices of a store past rows that lie one behind the other.

    Arguments: store; records; slots of the rows, int64; their number; layers; bytes of a layer in the store
    and in a record; channels; key heads; heads; key width; value width; whether heads are tiled; columns of a
    slice.
    """
    a = ints_at(arguments)
    slots, layers, columns = ints_at(a[2]), a[4], a[13]
    slices, slice_nbytes = a[9] * a[11] // columns, a[10] * columns * 4
    for item in range(layers * slices * me // threads, layers * slices * (me + 1) // threads):
        layer, part = item // slices, item % slices
        at = a[0] + layer * a[5] + part * slice_nbytes
        for row in range(a[3]):
            record = a[1] + (slots[row] * layers + layer) * a[6]
            advance_slice(at, at, record, part, columns, a[7], a[8], a[9], a[10], a[11], a[12])


def commit(shape: StateShape, target: int, records: int, slots: Sequence[int]) -> None:
    """Advance the matrices of the store at the address `target` past the rows in `slots`, which lie one
    behind the other. records: address of the records of the tail."""
    chosen = np.array(slots, np.int64)
    numbers = [
        *(target, records, chosen.ctypes.data, len(chosen), shape.layers, shape.layer_nbytes),
        *(shape.record_nbytes, shape.channels, shape.key_heads, shape.heads, shape.key_width),
        *(shape.value_width, int(shape.tiled), shape.columns),
    ]
    arguments = np.array(numbers, np.int64)
    table = np.array([step_address(commit_step), arguments.ctypes.data], np.int64)
    shared_pool().run(table.ctypes.data, 0, 1)
