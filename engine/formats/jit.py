"""Compiled loops over packed bytes: numba's compiler, a per-user cache of its results, and a thread pool.

Compiling one loop takes about a second, reading it from the cache a few milliseconds. The engine does one
or the other before the first pass.
"""

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any, TypeVar, cast

import numba
import numpy as np
from llvmlite import binding as llvm
from numba import types
from numba.core import sigutils
from numba.core.caching import FunctionCache
from numba.core.ccallback import CFunc
from numba.extending import overload
from platformdirs import user_cache_path

from engine import firsts
from engine.checkpoints import storage
from engine.formats.kernel_folders import state_of, use_folder

F = TypeVar("F", bound=Callable[..., Any])

# LLVM does not vectorize a short loop that it has fully unrolled: with its default limit, most kernels run at
# a third of their speed.
llvm.set_option("numba", "-unroll-full-max-count=8")


def sources() -> list[Path]:
    """Return the files of which something is compiled into loops: code, or numbers such as a block's size."""
    engine = Path(__file__).parents[1]
    rooms = (engine / room for room in ("compiled", "formats", "quantization"))
    return [file for room in rooms for file in sorted(room.glob("*.py"))] + [Path(storage.__file__)]


def _cache_folder() -> Path:
    """Return the folder for compiled loops. Every state of the sources has a folder of its own, because numba
    detects that a loop has changed, but not that a helper or a number has."""
    parent = user_cache_path("specexec-desktop", appauthor=False) / "compiled"
    return use_folder(parent, state_of(sources(), numba.__version__))


try:
    numba.config.CACHE_DIR = str(_cache_folder())  # type: ignore[attr-defined]
    _CACHED = True
except OSError:
    _CACHED = False  # no writable folder: each process compiles again


class _Cache(FunctionCache):
    """numba's cache of one kernel. If its file cannot be read or written, the kernel is compiled again,
    and no error is raised."""

    def load_overload(self, signature: Any, target: Any) -> Any:
        try:
            return super().load_overload(signature, target)
        except Exception:  # unpickling a damaged file may raise anything
            with suppress(OSError):
                self.flush()
            return None

    def _index_key(self, signature: Any, codegen: Any) -> Any:
        # numba's own key contains the functions that a kernel is made from, pickled with an identity that is
        # new in every process. Names are unique, and the folder stands for the sources.
        return signature, codegen.magic_tuple(), self._py_func.__qualname__

    def save_overload(self, signature: Any, result: Any) -> None:
        with suppress(OSError):
            super().save_overload(signature, result)


class _Loop(CFunc):
    """A compiled loop that Python does not call. Who waits for it is told before it is compiled."""

    def _compile_uncached(self) -> Any:
        firsts.begin()
        return super()._compile_uncached()  # type: ignore[misc]  # numba has no types


def kernel(function: F) -> F:
    """Compile `function` when it is first called with a combination of types. Once compiled, it runs
    without holding Python's global lock."""
    compiled: Any = numba.njit(nogil=True, error_model="numpy")(function)
    if _CACHED:
        compiled._cache = _Cache(function)  # as numba's own option `cache` does
    return cast(F, compiled)


def cached_address(signature: Any, function: Callable[..., None], reorder: bool = False) -> int:
    """Compile `function` for the types of `signature`, or read it from the cache; return the address of the
    machine code. It runs without Python and raises nothing. Raises the errors of `firsts.begin`.

    reorder: whether sums may be reordered for vectors. The order may then differ from one compiled function
    to another.
    """
    options: dict[str, Any] = {"error_model": "numpy"}
    if reorder:
        options["fastmath"] = {"reassoc", "nsz", "contract"}
    compiled: Any = _Loop(function, sigutils.normalize_signature(signature), {}, options)
    if _CACHED:
        compiled._cache = _Cache(function)
    compiled.compile()
    firsts.note()
    _KEPT.append(compiled)
    address: int = compiled.address
    return address


_KEPT: list[object] = []  # compiled functions whose addresses are in use


def helper(function: F) -> F:
    """Make `function` callable from kernels; it is inlined into them."""
    return cast(F, numba.njit(inline="always", error_model="numpy")(function))


@helper
def half(data, at):  # type: ignore[no-untyped-def]
    """Return the little-endian float16 at data[at] (uint8) as float32."""
    return half_of(data[at], data[at + 1])


@helper
def half_of(first, second):  # type: ignore[no-untyped-def]
    """Return the little-endian float16 in two bytes as float32."""
    low, high = np.uint32(first), np.uint32(second)
    sign = np.uint32(np.uint32(high >> np.uint32(7)) << np.uint32(31))
    rest = np.uint32(
        np.uint32(np.uint32(high & np.uint32(0x7F)) << np.uint32(21)) | np.uint32(low << np.uint32(13))
    )
    # The exponent biases differ by 112; multiplying is correct for subnormal numbers too.
    word = np.float32(rest.view(np.float32) * np.float32(2.0**112)).view(np.uint32)
    if rest >= np.uint32(0x1F << 23):  # infinite or NaN
        word = np.uint32(rest | np.uint32(0xFF << 23))
    return np.uint32(sign | word).view(np.float32)


@helper
def word(data, at):  # type: ignore[no-untyped-def]
    """Return the little-endian uint32 at data[at] (uint8)."""
    low = np.uint32(np.uint32(data[at]) | np.uint32(np.uint32(data[at + 1]) << np.uint32(8)))
    high = np.uint32(np.uint32(data[at + 2]) | np.uint32(np.uint32(data[at + 3]) << np.uint32(8)))
    return np.uint32(low | np.uint32(high << np.uint32(16)))


def store(values, out, at):  # type: ignore[no-untyped-def]
    """Write float32 `values` to `out` from index `at` on. Only kernels can call this.

    out: float32, or uint16 for bfloat16, to which values are rounded (to nearest, ties to even).
    """
    raise NotImplementedError("only compiled code can call this")


@overload(store, inline="always")
def _store(values, out, at):  # type: ignore[no-untyped-def]
    # Slices are used, and every step casts back to 32 bits: otherwise numba checks for negative indices and
    # widens to 64 bits, which halves the speed.
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
            # Rounding up must not turn a NaN into a number.
            nan = np.uint32(word & np.uint32(0x7FFFFFFF)) > np.uint32(0x7F800000)
            place[i] = np.uint16(0x7FC0) if nan else rounded

    return round_to_bfloat16


@cache
def _pool() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(os.cpu_count() or 1, thread_name_prefix="unpack")


def spread(count: int, work: Callable[[int, int], None], piece: int) -> None:
    """Divide 0..count into pieces of `piece` items, and call work(start, stop) for each piece, on all cores
    in parallel."""
    pieces = iter([(start, min(start + piece, count)) for start in range(0, count, piece)])

    def take() -> None:
        for start, stop in pieces:  # a list's iterator yields each piece to one thread only
            work(start, stop)

    # The calling thread only waits: a thread that it wakes tends to start on the same core, which the two
    # would then share.
    cores = min(os.cpu_count() or 1, -(-count // piece))
    for taker in [_pool().submit(take) for _ in range(cores)]:
        taker.result()
