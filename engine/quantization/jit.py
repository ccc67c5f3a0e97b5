"""Compiled loops over packed bytes: numba's compiler, a cache of its results per user, and all cores.

Compiling one loop takes about a second, reading it from the cache a few milliseconds; `prepare` does either
before the first pass needs it.
"""

import os
import shutil
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import cache
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any, TypeVar, cast

import numba
import numpy as np
from llvmlite import binding as llvm
from numba import types
from numba.core.caching import FunctionCache
from numba.extending import overload
from platformdirs import user_cache_path

F = TypeVar("F", bound=Callable[..., Any])

# LLVM makes no vector instructions of a short loop that it has unrolled whole: with its own limit, most
# kernels run at a third of their speed.
llvm.set_option("numba", "-unroll-full-max-count=8")


def _cache_folder() -> Path:
    """One folder per state of these sources: numba notices a changed loop, but not a changed helper of it."""
    digest = sha256(numba.__version__.encode())
    for file in sorted(Path(__file__).parent.glob("*.py")):
        digest.update(file.read_bytes())
    return user_cache_path("specexec-desktop", appauthor=False) / "compiled" / digest.hexdigest()[:16]


try:
    folder = _cache_folder()
    folder.mkdir(parents=True, exist_ok=True)
    TemporaryFile(dir=folder).close()
    for old in folder.parent.iterdir():
        if old != folder:
            shutil.rmtree(old, ignore_errors=True)
    numba.config.CACHE_DIR = str(folder)  # type: ignore[attr-defined]
    _CACHED = True
except OSError:
    _CACHED = False  # no folder that can be written: compiled anew in each process


class _Cache(FunctionCache):
    """numba's cache of one kernel; a file that cannot be read or written costs a compilation, no call."""

    def load_overload(self, signature: Any, target: Any) -> Any:
        try:
            return super().load_overload(signature, target)
        except Exception:  # unpickling a damaged file may raise anything
            with suppress(OSError):
                self.flush()
            return None

    def save_overload(self, signature: Any, result: Any) -> None:
        with suppress(OSError):
            super().save_overload(signature, result)


def kernel(function: F) -> F:
    """`function` compiled at its first call with each combination of types; it runs without Python's lock."""
    compiled: Any = numba.njit(nogil=True, error_model="numpy")(function)
    if _CACHED:
        compiled._cache = _Cache(function)  # what numba's own option `cache` does
    return cast(F, compiled)


def helper(function: F) -> F:
    """A function for kernels to call; becomes part of them."""
    return cast(F, numba.njit(inline="always", error_model="numpy")(function))


@helper
def half(data, at):  # type: ignore[no-untyped-def]
    """The float16 whose two bytes, little-endian, begin at data[at] (uint8), as float32."""
    low, high = np.uint32(data[at]), np.uint32(data[at + 1])
    sign = np.uint32(np.uint32(high >> np.uint32(7)) << np.uint32(31))
    rest = np.uint32(
        np.uint32(np.uint32(high & np.uint32(0x7F)) << np.uint32(21)) | np.uint32(low << np.uint32(13))
    )
    # The exponents' biases differ by 112; a product is right for subnormal numbers too.
    word = np.float32(rest.view(np.float32) * np.float32(2.0**112)).view(np.uint32)
    if rest >= np.uint32(0x1F << 23):  # infinite or NaN
        word = np.uint32(rest | np.uint32(0xFF << 23))
    return np.uint32(sign | word).view(np.float32)


@helper
def word(data, at):  # type: ignore[no-untyped-def]
    """The uint32 whose four bytes, little-endian, begin at data[at] (uint8)."""
    low = np.uint32(np.uint32(data[at]) | np.uint32(np.uint32(data[at + 1]) << np.uint32(8)))
    high = np.uint32(np.uint32(data[at + 2]) | np.uint32(np.uint32(data[at + 3]) << np.uint32(8)))
    return np.uint32(low | np.uint32(high << np.uint32(16)))


def store(values, out, at):  # type: ignore[no-untyped-def]
    """For kernels: write float32 `values` to out[at:], which is float32, or uint16 to hold bfloat16 (rounded
    to nearest, ties to even)."""
    raise NotImplementedError("only compiled code calls this")


@overload(store, inline="always")
def _store(values, out, at):  # type: ignore[no-untyped-def]
    # Slices, and casts back to 32 bits at each step: numba would check for negative indices and widen to 64
    # bits, which costs half the speed.
    if out.dtype != types.uint16:

        def copy(values, out, at):  # type: ignore[no-untyped-def]
            place = out[at : at + len(values)]
            for i in range(len(values)):
                place[i] = values[i]

        return copy

    def round_to_bfloat16(values, out, at):  # type: ignore[no-untyped-def]
        words = values.view(np.uint32)
        place = out[at : at + len(words)]
        for i in range(len(words)):
            word = words[i]
            odd = np.uint32(np.uint32(word >> np.uint32(16)) & np.uint32(1))
            rounded = np.uint16(np.uint32(np.uint32(word + np.uint32(0x7FFF)) + odd) >> np.uint32(16))
            # Rounding up must not make a number of a NaN.
            nan = np.uint32(word & np.uint32(0x7FFFFFFF)) > np.uint32(0x7F800000)
            place[i] = np.uint16(0x7FC0) if nan else rounded

    return round_to_bfloat16


@cache
def _pool() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(os.cpu_count() or 1, thread_name_prefix="unpack")


def spread(count: int, work: Callable[[int, int], None], piece: int) -> None:
    """Call work(start, stop) for pieces of 0..count, of `piece` items each, on all cores at once."""
    pieces = iter([(start, min(start + piece, count)) for start in range(0, count, piece)])

    def take() -> None:
        for start, stop in pieces:  # a list's iterator gives each piece to one thread only
            work(start, stop)

    # The calling thread only waits: a thread it wakes tends to start on its own core, and would share it.
    cores = min(os.cpu_count() or 1, -(-count // piece))
    for taker in [_pool().submit(take) for _ in range(cores)]:
        taker.result()
