"""Pinned memory of exactly the size asked for, from which a graphics card copies asynchronously.

torch rounds each pinned block up to a power of two (of the chunks of a 7B model in AWQ, that makes 1.8 times
their bytes) and keeps freed blocks for itself. So pages are taken from the system, and the driver locks them;
where it locks none of the system's, it may still give some of its own.
"""

import contextlib
import ctypes
import mmap
import sys
import weakref
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

_FOR_ALL_CONTEXTS = 1  # CU_MEMHOSTREGISTER_PORTABLE, and CU_MEMHOSTALLOC_PORTABLE


class PageLocks(Protocol):
    """What locks pages in RAM for a graphics card. Tests substitute a fake."""

    def lock(self, address: int, nbytes: int) -> None:
        """Lock whole pages. Raises RuntimeError if the system locks no more."""

    def unlock(self, address: int) -> None:
        """Unlock what was locked at this address, before it is freed."""

    def allocate(self, nbytes: int) -> int:
        """Return the address of new memory that is locked. Raises RuntimeError if there is none."""

    def free(self, address: int) -> None:
        """Free what was allocated at this address."""


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

    def allocate(self, nbytes: int) -> int:
        self._driver.cuCtxSetCurrent(self._context)
        place = ctypes.c_void_p()
        code = self._driver.cuMemHostAlloc(ctypes.byref(place), ctypes.c_size_t(nbytes), _FOR_ALL_CONTEXTS)
        if code or place.value is None:
            raise RuntimeError(f"the driver allocates no {nbytes:,} bytes (CUDA driver error {code})")
        return place.value

    def free(self, address: int) -> None:
        self._driver.cuCtxSetCurrent(self._context)
        self._driver.cuMemFreeHost(ctypes.c_void_p(address))


def driver_locks() -> DriverLocks | None:
    """Return the locks of NVIDIA's driver; None if it is not there or too old for them. The calling thread
    must have used the device, so that it has a context."""
    with contextlib.suppress(OSError, AttributeError):
        driver = ctypes.CDLL("nvcuda.dll" if sys.platform == "win32" else "libcuda.so.1")
        locks = driver.cuMemHostRegister_v2 and driver.cuMemHostUnregister
        if locks and driver.cuMemHostAlloc and driver.cuMemFreeHost:
            return DriverLocks(driver)
    return None


def pinned(nbytes: int, locks: PageLocks) -> NDArray[np.uint8]:
    """Return page-aligned memory that is locked in RAM, uint8 [nbytes]. It is unlocked and freed with the
    last array that shows a part of it. Raises RuntimeError if the system locks no more."""
    size = max(nbytes, 1)
    try:
        whole = _locked(size, locks)
    except RuntimeError as refused:
        try:
            address = locks.allocate(size)
        except RuntimeError as none_left:
            raise refused from none_left
        whole = np.frombuffer(memoryview((ctypes.c_uint8 * size).from_address(address)), np.uint8)
        weakref.finalize(whole, locks.free, address).atexit = False
    return whole[:nbytes]


def _locked(nbytes: int, locks: PageLocks) -> NDArray[np.uint8]:
    """Return pages of the system that are locked. Raises RuntimeError if none are; the pages are freed then,
    so that the driver has their room for its own."""
    try:
        pages = mmap.mmap(-1, nbytes)
    except OSError as error:
        raise MemoryError(f"{nbytes:,} bytes") from error
    whole = np.frombuffer(pages, np.uint8)
    address = whole.ctypes.data
    try:
        locks.lock(address, nbytes)
    except RuntimeError:
        del whole
        pages.close()  # the error keeps this frame
        raise
    # Not with `pages`, which are unmapped before their weak references are told.
    weakref.finalize(whole, locks.unlock, address).atexit = False
    return whole
