"""What is done once and for all while a model loads or works: a kernel compiled or read from its cache, a
pass recorded. It is counted, because the time of work in which it happened does not tell how long the next
will take; and who waits for a kernel to be compiled is told."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import numpy as np

_done = np.zeros(1, np.int64)


class _ToldOfThread(threading.local):
    """Attribute: `begins`, called before the calling thread compiles; None if nobody wants to know."""

    begins: Callable[[], None] | None = None


_here = _ToldOfThread()


def begin() -> None:
    """Note that a kernel is about to be compiled, which takes about a second. Raises what the function that
    `told` was given raises; then nothing is to be compiled."""
    if _here.begins is not None:
        _here.begins()


@contextmanager
def told(begins: Callable[[], None]) -> Iterator[None]:
    """Return a context in which `begins` is called before the calling thread compiles a kernel; it may raise
    to prevent that."""
    before, _here.begins = _here.begins, begins
    try:
        yield
    finally:
        _here.begins = before


def note() -> None:
    """Note that such a thing was done."""
    _done[0] += 1


def count() -> int:
    """Return how many were done since the program started."""
    return int(_done[0])
