"""Rows of the KV cache: how the keys, or the values, of one head and one token lie in memory.

In F16, a row is its numbers. In Q8_0, it is all its int8 quants, then the float16 scale of each block of 32
of them: number = scale * quant, which float32 holds exactly.
"""

from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from engine.checkpoints.storage import stored_nbytes
from engine.compiled.activations import rounded_block
from engine.compiled.instructions import (
    F32,
    I8,
    I32,
    I64,
    Value,
    fetch,
    load,
    narrowed,
    splat,
    store,
    widened,
)
from engine.compiled.layout import BLOCK
from engine.formats.jit import helper

FORMATS = ("F16", "Q8_0")

_HALF = BLOCK // 2  # numbers that are written at a time
_ONE = ir.VectorType(F32, 1)


def row_nbytes(form: str, width: int) -> int:
    """Return the bytes of a row of `width` numbers."""
    assert form in FORMATS
    return stored_nbytes(form, (width,))


def block_of_row(b: Value, form: str, row: Value, width: Value, column: Value, lanes: int) -> list[Value]:
    """Load the 32 numbers of a row from `column` on, which is a multiple of 32, as vectors of float32."""
    starts = range(0, BLOCK, lanes)
    if form == "F16":
        at = b.add(row, b.shl(column, I64(1)))
        return [widened(b, at, 2 * start, "F16", lanes) for start in starts]
    at, floats, ints = b.add(row, column), ir.VectorType(F32, lanes), ir.VectorType(I32, lanes)
    place = b.add(width, b.lshr(column, I64(4)))
    scale = splat(b, b.extract_element(widened(b, row, place, "F16", 1), I32(0)), floats)
    quants = [load(b, at, start, ir.VectorType(I8, lanes), 1) for start in starts]
    return [b.fmul(b.sitofp(b.sext(each, ints), floats), scale) for each in quants]


def fetch_of_row(b: Value, form: str, row: Value, column: Value, blocks: int, ahead: int) -> None:
    """Fetch what lies `ahead` bytes behind some blocks of a row into the processor's cache."""
    itemsize = 2 if form == "F16" else 1
    at = b.add(row, b.mul(column, I64(itemsize)))
    for offset in range(0, blocks * BLOCK * itemsize, 64):
        fetch(b, at, offset + ahead)


@intrinsic
def _write_halves(_, x, out):  # type: ignore[no-untyped-def]
    """Write 32 float32 at the address x as float16."""

    def code(context, b, signature, arguments):  # type: ignore[no-untyped-def]
        x, out = arguments
        for start in range(0, BLOCK, _HALF):
            values = load(b, x, 4 * start, ir.VectorType(F32, _HALF), 4)
            store(b, narrowed(b, values), out, 2 * start, 2)
        return context.get_dummy_value()

    return types.void(types.int64, types.int64), code


@intrinsic
def _write_quants(_, x, out, scale):  # type: ignore[no-untyped-def]
    """Write 32 float32 at the address x as int8 to the address `out`, and their float16 scale to `scale`."""

    def code(context, b, signature, arguments):  # type: ignore[no-untyped-def]
        x, out, scale = arguments
        size, halves = rounded_block(b, x)
        for number, ints in enumerate(halves):
            quants = b.trunc(ints, ir.VectorType(I8, ints.type.count))
            store(b, quants, out, number * ints.type.count, 1)
        store(b, narrowed(b, splat(b, size, _ONE)), scale, 0, 2)
        return context.get_dummy_value()

    return types.void(types.int64, types.int64, types.int64), code


@helper
def write_row(x, width, form, out):  # type: ignore[no-untyped-def]
    """Write `width` float32 at the address x as a row at the address `out`. form: number in FORMATS."""
    for block in range(width // 32):
        if form:
            _write_quants(x + 128 * block, out + 32 * block, out + width + 2 * block)
        else:
            _write_halves(x + 128 * block, out + 64 * block)
