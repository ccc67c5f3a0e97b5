"""Which pages of memory this process has."""

import ctypes
import mmap
import sys

_ASYNCHRONOUSLY = 1  # MS_ASYNC


def is_mapped(address: int) -> bool:
    """Return whether the page at `address` is in use; True on Windows, where this cannot be asked simply."""
    if sys.platform == "win32":
        return True
    page = ctypes.c_void_p(address // mmap.PAGESIZE * mmap.PAGESIZE)
    status: int = ctypes.CDLL(None).msync(page, mmap.PAGESIZE, _ASYNCHRONOUSLY)
    return status == 0
