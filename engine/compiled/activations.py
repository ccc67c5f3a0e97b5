"""Rows of activations as products read them.

Rows are taken in chunks of at most MOST_ROWS (`product.chunk_sizes`). In a chunk, the records of one block of
32 columns lie side by side, one for each row. A record for packed weights holds 32 int8; their float32 scale;
and scale times the sum of all 32, of the first 16 and of the last 16 of them, float32 each. A record for
plain weights holds 32 float32.
"""

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from engine.compiled.instructions import F32, I8, I32, Value, call, load, number, splat, store
from engine.compiled.layout import BLOCK

SCALE, SUM, SUMS_OF_16 = 32, 36, 40  # offsets in a record, bytes
RECORD_NBYTES = 48
_NUMBERS = (SCALE, SUM, SUMS_OF_16, SUMS_OF_16 + 4)
PLAIN_NBYTES = 4 * BLOCK

_FLOATS, _INTS, _BYTES = (ir.VectorType(kind, 16) for kind in (F32, I32, I8))


def rounded_block(b: Value, x: Value) -> tuple[Value, list[Value]]:
    """Round 32 float32 at the address x to int8. Return their scale, float32, and two vectors of int32."""
    halves = [load(b, x, 64 * half, _FLOATS, 4) for half in range(2)]
    sizes = [call(b, "llvm.fabs.v16f32", _FLOATS, [half]) for half in halves]
    peak = call(b, "llvm.vector.reduce.fmax.v16f32", F32, [_larger(b, *sizes)])
    inverse = b.select(b.fcmp_ordered("==", peak, F32(0.0)), F32(0.0), b.fdiv(F32(127.0), peak))
    # The maximum passes over NaN, and NaN has no int8: it makes the scale NaN. Its bits are compared,
    # because the compiler may take numbers for finite where sums are reordered.
    kind = ir.FunctionType(I32, [_INTS])
    most = cgutils.get_or_insert_function(b.module, kind, "llvm.vector.reduce.smax.v16i32")
    bits = [b.and_(b.bitcast(half, _INTS), number(_INTS, 0x7FFFFFFF)) for half in halves]
    largest = b.call(most, [b.select(b.icmp_signed(">", *bits), *bits)])
    strange = b.icmp_signed(">", largest, I32(0x7F800000))
    scale = b.fmul(peak, F32(1 / 127))
    scale = b.select(strange, b.bitcast(I32(0x7FC00000), F32), scale)
    factor = splat(b, inverse, _FLOATS)
    rounded = [call(b, "llvm.rint.v16f32", _FLOATS, [b.fmul(values, factor)]) for values in halves]
    return scale, [call(b, "llvm.fptosi.sat.v16i32.v16f32", _INTS, [each]) for each in rounded]


@intrinsic
def write_record(_, x, record):  # type: ignore[no-untyped-def]
    """Round 32 float32 at the address x to a record for packed weights at the address `record`."""

    def code(context, b, signature, arguments):  # type: ignore[no-untyped-def]
        x, record = arguments
        scale, halves = rounded_block(b, x)
        sums = []
        for half, ints in enumerate(halves):
            store(b, b.trunc(ints, _BYTES), record, 16 * half, 16)
            total = call(b, "llvm.vector.reduce.add.v16i32", I32, [ints])
            sums.append(b.fmul(scale, b.sitofp(total, F32)))
        for offset, value in zip(_NUMBERS, (scale, b.fadd(*sums), *sums), strict=True):
            store(b, value, record, offset, 4)
        return context.get_dummy_value()

    return types.void(types.int64, types.int64), code


def _larger(b: Value, x: Value, y: Value) -> Value:
    return b.select(b.fcmp_unordered(">", x, y), x, y)
