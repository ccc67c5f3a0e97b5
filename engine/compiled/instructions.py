"""The processor's vector instructions, and the intrinsics with which compiled code uses them.

Compiled code works on addresses (int64), because a pass is a table of steps whose arguments are addresses.
"""

from collections.abc import Sequence
from typing import Any, Literal

import numba
from llvmlite import binding, ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

InstructionSet = Literal["avx512", "avxvnni", "avx2", "portable"]


def _choose() -> InstructionSet:
    """Return the best instruction set of the processor for which numba compiles. NUMBA_CPU_NAME and
    NUMBA_CPU_FEATURES in the environment name another one than this machine's."""
    features = binding.get_host_cpu_features()
    if numba.config.CPU_NAME:  # type: ignore[attr-defined]
        named = (numba.config.CPU_FEATURES or "").split(",")  # type: ignore[attr-defined]
        features = {name.removeprefix("+"): True for name in named}
    if features.get("avx512vnni") and features.get("avx512vl"):
        return "avx512"
    if features.get("avxvnni"):
        return "avxvnni"
    return "avx2" if all(features.get(name) for name in ("avx2", "fma", "f16c")) else "portable"


INSTRUCTIONS: InstructionSet = _choose()
LANES = 16 if INSTRUCTIONS == "avx512" else 8  # 32-bit numbers in a vector
MOST_ROWS = 16 if INSTRUCTIONS == "avx512" else 4  # rows of activations that fit the registers

I8, I16, I32, I64 = (ir.IntType(bits) for bits in (8, 16, 32, 64))
F16, F32 = ir.HalfType(), ir.FloatType()
BYTES = ir.VectorType(I8, 4 * LANES)
WORDS = ir.VectorType(I16, 2 * LANES)
INTS = ir.VectorType(I32, LANES)
FLOATS = ir.VectorType(F32, LANES)

STORED_NBYTES = {"F32": 4, "F16": 2, "BF16": 2, "F8_E4M3": 1}  # of a plain number

Value = Any  # llvmlite's values; its stubs do not cover the builder


def call(b: Value, name: str, result: ir.Type, arguments: Sequence[Value], **options: Any) -> Value:
    """Call an intrinsic of LLVM by its name."""
    kind = ir.FunctionType(result, [argument.type for argument in arguments])
    return b.call(cgutils.get_or_insert_function(b.module, kind, name), arguments, **options)


def number(kind: ir.Type, value: float) -> ir.Constant:
    """Return a constant; of a vector type, one with the same value in each lane."""
    return ir.Constant(kind, [value] * kind.count if isinstance(kind, ir.VectorType) else value)


def place(b: Value, address: Value, offset: Value | int, kind: ir.Type) -> Value:
    """Return address + offset (bytes) as a pointer to `kind`."""
    if isinstance(offset, int):
        offset = I64(offset)
    return b.inttoptr(b.add(address, offset), kind.as_pointer())


def load(b: Value, address: Value, offset: Value | int, kind: ir.Type, align: int) -> Value:
    return b.load(place(b, address, offset, kind), align=align)


def store(b: Value, value: Value, address: Value, offset: Value | int, align: int) -> None:
    b.store(value, place(b, address, offset, value.type), align=align)


def fetch(b: Value, address: Value, offset: Value | int) -> None:
    """Fetch the cache line at address + offset (bytes) into the second-level cache, ahead of its use."""
    kind = ir.FunctionType(ir.VoidType(), [I8.as_pointer(), I32, I32, I32])
    prefetch = cgutils.get_or_insert_function(b.module, kind, "llvm.prefetch.p0")
    b.call(prefetch, [place(b, address, offset, I8), I32(0), I32(2), I32(1)])


def splat(b: Value, scalar: Value, vector: ir.VectorType) -> Value:
    """Return a vector with `scalar` in each lane."""
    undefined = ir.Constant(vector, ir.Undefined)
    first = b.insert_element(undefined, scalar, I32(0))
    return b.shuffle_vector(first, undefined, number(ir.VectorType(I32, vector.count), 0))


def fma(b: Value, x: Value, y: Value, z: Value) -> Value:
    """Return x y + z, rounded once."""
    return call(b, f"llvm.fma.v{x.type.count}f32", x.type, [x, y, z])


def widened(b: Value, address: Value, offset: Value | int, stored: str, lanes: int = LANES) -> Value:
    """Load `lanes` numbers, as float32; see `as_floats`."""
    nbytes = STORED_NBYTES[stored]
    kind = ir.VectorType(ir.IntType(8 * nbytes), lanes)
    return as_floats(b, load(b, address, offset, kind, nbytes), stored)


def as_floats(b: Value, bits: Value, stored: str) -> Value:
    """Return numbers of which these are the bits as float32. stored: "F32", "F16", "BF16" or "F8_E4M3", whose
    numbers are divided by 256."""
    lanes = bits.type.count
    floats, halves = ir.VectorType(F32, lanes), ir.VectorType(I16, lanes)
    if stored == "F32":
        return b.bitcast(bits, floats)
    if stored == "F8_E4M3":
        # A float16 with the same exponent; the sign is in two bits, of which the lower one is no sign.
        wide = b.shl(b.sext(bits, halves), number(halves, 7))
        bits, stored = b.and_(wide, number(halves, ~0x4000)), "F16"
    if stored == "F16" and INSTRUCTIONS != "portable":
        return b.fpext(b.bitcast(bits, ir.VectorType(F16, lanes)), floats)
    ints = ir.VectorType(I32, lanes)
    words = b.zext(bits, ints)
    if stored == "BF16":
        return b.bitcast(b.shl(words, number(ints, 16)), floats)
    sign = b.shl(b.and_(words, number(ints, 0x8000)), number(ints, 16))
    rest = b.shl(b.and_(words, number(ints, 0x7FFF)), number(ints, 13))
    # The exponent biases differ by 112; multiplying is correct for subnormal numbers too.
    finite = b.bitcast(b.fmul(b.bitcast(rest, floats), number(floats, 2.0**112)), ints)
    strange = b.or_(rest, number(ints, 0xFF << 23))
    is_strange = b.icmp_unsigned(">=", rest, number(ints, 0x1F << 23))
    return b.bitcast(b.or_(sign, b.select(is_strange, strange, finite)), floats)


def narrowed(b: Value, values: Value) -> Value:
    """Round a vector of float32 to float16, to nearest, ties to even. Without an instruction for it, the
    result is int16 with the same bits."""
    lanes = values.type.count
    if INSTRUCTIONS != "portable":
        return b.fptrunc(values, ir.VectorType(F16, lanes))
    ints = ir.VectorType(I32, lanes)
    bits = b.bitcast(values, ints)
    size = b.and_(bits, number(ints, 0x7FFFFFFF))
    sign = b.and_(b.lshr(bits, number(ints, 16)), number(ints, 0x8000))
    odd = b.and_(b.lshr(size, number(ints, 13)), number(ints, 1))
    shifted = b.add(b.sub(size, number(ints, 112 << 23)), b.add(odd, number(ints, 0xFFF)))
    normal = b.lshr(shifted, number(ints, 13))
    # Adding a half aligns the mantissa of a small number with that of a subnormal float16.
    half = b.fadd(b.bitcast(size, values.type), number(values.type, 0.5))
    small = b.sub(b.bitcast(half, ints), number(ints, 0x3F000000))
    is_small = b.icmp_unsigned("<", size, number(ints, 113 << 23))
    result = b.select(is_small, small, normal)
    is_large = b.icmp_unsigned(">=", size, number(ints, 0x477FF000))  # rounds to infinity
    result = b.select(is_large, number(ints, 0x7C00), result)
    is_nan = b.icmp_unsigned(">", size, number(ints, 0x7F800000))
    result = b.or_(b.select(is_nan, number(ints, 0x7E00), result), sign)
    return b.trunc(result, ir.VectorType(I16, lanes))


def _pointer_to(kind: types.Type, name: str) -> Any:
    def convert(_: Any, address: types.Type) -> Any:
        def code(context: Any, b: Value, signature: Any, arguments: Sequence[Value]) -> Value:
            return b.inttoptr(arguments[0], context.get_value_type(signature.return_type))

        return types.CPointer(kind)(types.int64), code

    convert.__name__ = name
    return intrinsic(convert)


# Return an address as a pointer, which compiled code indexes as an array.
floats_at = _pointer_to(types.float32, "floats_at")
ints_at = _pointer_to(types.int64, "ints_at")
words_at = _pointer_to(types.int32, "words_at")
bytes_at = _pointer_to(types.uint8, "bytes_at")


@intrinsic
def bits_as_float(_, word):  # type: ignore[no-untyped-def]
    """Return the float32 with these bits (int32)."""

    def code(context, b, signature, arguments):  # type: ignore[no-untyped-def]
        return b.bitcast(arguments[0], F32)

    return types.float32(types.int32), code


@intrinsic
def fetch_add(_, address, value):  # type: ignore[no-untyped-def]
    """Add `value` to the int64 at `address` in one indivisible operation; return the number before."""

    def code(context, b, signature, arguments):  # type: ignore[no-untyped-def]
        return b.atomic_rmw("add", place(b, arguments[0], 0, I64), arguments[1], "seq_cst")

    return types.int64(types.int64, types.int64), code


@intrinsic
def fetch_add_word(_, address, value):  # type: ignore[no-untyped-def]
    """`fetch_add` for an int32."""

    def code(context, b, signature, arguments):  # type: ignore[no-untyped-def]
        return b.atomic_rmw("add", place(b, arguments[0], 0, I32), arguments[1], "seq_cst")

    return types.int32(types.int64, types.int32), code


@intrinsic
def read_word(_, address):  # type: ignore[no-untyped-def]
    """Return the int32 at `address`, which other threads write."""

    def code(context, b, signature, arguments):  # type: ignore[no-untyped-def]
        return b.load_atomic(place(b, arguments[0], 0, I32), "seq_cst", 4)

    return types.int32(types.int64), code


@intrinsic
def write_word(_, address, value):  # type: ignore[no-untyped-def]
    """Write the int32 at `address`, which other threads read."""

    def code(context, b, signature, arguments):  # type: ignore[no-untyped-def]
        b.store_atomic(arguments[1], place(b, arguments[0], 0, I32), "seq_cst", 4)
        return context.get_dummy_value()

    return types.void(types.int64, types.int32), code


@intrinsic
def spin_pause(_):  # type: ignore[no-untyped-def]
    """Tell the processor that this thread waits in a loop."""

    def code(context, b, signature, arguments):  # type: ignore[no-untyped-def]
        if INSTRUCTIONS != "portable":
            call(b, "llvm.x86.sse2.pause", ir.VoidType(), [])
        return context.get_dummy_value()

    return types.void(), code


@intrinsic
def run_step(_, function, me, threads, arguments):  # type: ignore[no-untyped-def]
    """Call the step at the address `function`."""

    def code(context, b, signature, values):  # type: ignore[no-untyped-def]
        kind = ir.FunctionType(ir.VoidType(), [I64] * 3)
        b.call(b.inttoptr(values[0], kind.as_pointer()), values[1:])
        return context.get_dummy_value()

    return types.void(*[types.int64] * 4), code


@intrinsic
def call_on_tile(_, function, a, b, c, d, e):  # type: ignore[no-untyped-def]
    """Call the product or the packer of a tile at the address `function`."""

    def code(context, b, signature, values):  # type: ignore[no-untyped-def]
        kind = ir.FunctionType(ir.VoidType(), [I64] * 5)
        b.call(b.inttoptr(values[0], kind.as_pointer()), values[1:])
        return context.get_dummy_value()

    return types.void(*[types.int64] * 6), code
