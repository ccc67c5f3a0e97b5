"""The likeliest tokens of rows of logits, and their log-probabilities."""

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic
from numpy.typing import NDArray

from engine.compiled.instructions import F32, Value, call, floats_at, ints_at, load
from engine.compiled.pool import shared_pool
from engine.compiled.steps import F, exp, step_address
from engine.formats.jit import helper

_GROUP = 64  # logits whose maximum is compared first

_FLOATS = ir.VectorType(F32, 16)


@intrinsic
def _group_max(_, address):  # type: ignore[no-untyped-def]
    """Return the largest of 64 float32, or NaN if one of them is NaN."""

    def code(context, b, signature, arguments):  # type: ignore[no-untyped-def]
        parts = [load(b, arguments[0], 64 * part, _FLOATS, 4) for part in range(4)]
        largest = _larger(b, _larger(b, parts[0], parts[1]), _larger(b, parts[2], parts[3]))
        return call(b, "llvm.vector.reduce.fmax.v16f32", F32, [largest])

    return types.float32(types.int64), code


def _larger(b: Value, x: Value, y: Value) -> Value:
    return b.select(b.fcmp_unordered(">", x, y), x, y)


@helper
def _insert(value, token, values, tokens, held):  # type: ignore[no-untyped-def]
    """Insert a token into the sorted list of the `held` best; later tokens come behind equal ones."""
    place = held - 1
    while place > 0 and values[place - 1] < value:
        values[place], tokens[place] = values[place - 1], tokens[place - 1]
        place -= 1
    values[place], tokens[place] = value, token


def best_step(me, threads, arguments):  # type: ignore[no-untyped-def]
    """Find the best tokens of each row, best first; of equal ones, the lowest id first.

    Arguments: logits, float32; bytes from one row to the next; rows; vocabulary; number of tokens; room for
    their ids, int64 [rows, number], and for their log-probabilities, float32 [rows, number].
    """
    a = ints_at(arguments)
    vocabulary, count = a[3], a[4]
    for row in range(me, a[2], threads):
        address = a[0] + row * a[1]
        logits = floats_at(address)
        tokens, values = ints_at(a[5] + row * count * 8), floats_at(a[6] + row * count * 4)
        for i in range(count):
            values[i], tokens[i] = F(-np.inf), i
        whole = vocabulary // _GROUP * _GROUP
        for start in range(0, whole, _GROUP):
            if _group_max(address + 4 * start) > values[count - 1]:
                for i in range(start, start + _GROUP):
                    if logits[i] > values[count - 1]:
                        _insert(logits[i], i, values, tokens, count)
        for i in range(whole, vocabulary):
            if logits[i] > values[count - 1]:
                _insert(logits[i], i, values, tokens, count)
        top, total = values[0], F(0.0)
        for i in range(vocabulary):
            total += exp(logits[i] - top)
        log_total = top + np.log(total)
        for i in range(count):
            values[i] = values[i] - log_total


def best(logits: NDArray[np.float32], count: int) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
    """Return the `count` likeliest tokens of each row, best first, and their log-probabilities.

    logits: float32 [rows, vocabulary], each row contiguous.
    """
    rows, vocabulary = logits.shape
    tokens, log_probs = np.empty((rows, count), np.int64), np.empty((rows, count), np.float32)
    where = logits.ctypes.data, logits.strides[0], rows, vocabulary, count
    arguments = np.array([*where, tokens.ctypes.data, log_probs.ctypes.data], np.int64)
    table = np.array([step_address(best_step), arguments.ctypes.data], np.int64)
    shared_pool().run(table.ctypes.data, 0, 1)
    return tokens, log_probs
