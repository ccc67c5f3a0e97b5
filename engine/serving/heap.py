"""Memory that has been freed, and that the C library keeps for later."""

import ctypes
import sys


def give_back() -> None:
    """Return freed memory to the system. Does nothing where the C library cannot be asked to.

    glibc keeps what lies between blocks that are still in use: some 150 MiB after SmolLM2 is unloaded, more
    each time that another pair is loaded in its place, and up to 200 MiB after a hundred answers, whose trees
    and prompts all need blocks of other sizes. Takes some milliseconds.
    """
    if sys.platform != "linux":
        return
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(0)
