"""Pinned memory of exactly the size asked for, from which a graphics card copies asynchronously.

torch rounds each pinned block up to a power of two (of the chunks of a 7B model in AWQ, that makes 1.8 times
their bytes) and keeps freed blocks for itself. So pages are taken from the system, and the driver locks them.
"""

import contextlib
import ctypes
import mmap
import sys
import weakref
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

_FOR_ALL_CONTEXTS = 1  # CU_MEMHOSTREGISTER_PORTABLE


class PageLocks(Protocol):
    """What locks pages in RAM for a graphics card. Tests substitute a fake."""

    def lock(self, address: int, nbytes: int) -> None:
        """Lock whole pages. Raises RuntimeError if the system locks no more."""

    def unlock(self, address: int) -> None:
        """Unlock what was locked at this address, before it is freed."""


class DriverLocks:
    """The locks of NVIDIA's driver, in the context of the thread that makes them. The runtime, by contrast,
    would remember a failure and report it at the next kernel. Calls release the interpreter's lock, and may
    come from any thread."""

    def __init__(self, driver: ctypes.CDLL) -> None:
        self._driver = driver
        self._context = ctypes.c_void_p()
        driver.cuCtxGetCurrent(ctypes.byref(self._context))

    def lock(self, address: int, nbytes: int) -> None:
        self._driver.cuCtxSetCurrent(self._context)  # threads that only read files have none
        code = self._driver.cuMemHostRegister_v2(
            ctypes.c_void_p(address), ctypes.c_size_t(nbytes), _FOR_ALL_CONTEXTS
        )
        if code:
            raise RuntimeError(f"the driver locks no {nbytes:,} bytes (CUDA driver error {code})")

    def unlock(self, address: int) -> None:
        self._driver.cuCtxSetCurrent(self._context)
        self._driver.cuMemHostUnregister(ctypes.c_void_p(address))


def driver_locks() -> DriverLocks | None:
    """Return the locks of NVIDIA's driver; None if it is not there or too old for them. The calling thread
    must have used the device, so that it has a context."""
    with contextlib.suppress(OSError, AttributeError):
        driver = ctypes.CDLL("nvcuda.dll" if sys.platform == "win32" else "libcuda.so.1")
        if driver.cuMemHostRegister_v2 and driver.cuMemHostUnregister:
            return DriverLocks(driver)
    return None


def pinned(nbytes: int, locks: PageLocks) -> NDArray[np.uint8]:
    """Return page-aligned memory that is locked in RAM, uint8 [nbytes]. It is unlocked and freed with the
    last array that shows a part of it. Raises RuntimeError if the system locks no more."""
    try:
        pages = mmap.mmap(-1, max(nbytes, 1))
    except OSError as error:
        raise MemoryError(f"{nbytes:,} bytes") from error
    whole = np.frombuffer(pages, np.uint8)
    address = whole.ctypes.data
    locks.lock(address, len(whole))
    # Not with `pages`, which are unmapped before their weak references are told.
    weakref.finalize(whole, locks.unlock, address).atexit = False
    return whole[:nbytes]
