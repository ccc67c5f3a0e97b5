"""Reads of files on disks that may not answer: done aside, by a thread of its own, where a thread waits that
must not stand still with them.

What reads files does not know who waits. Where nobody does, it reads in its own thread.
"""

import os
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from io import FileIO
from pathlib import Path
from typing import Protocol, TypeVar

T = TypeVar("T")

PIECE_NBYTES = 8 << 20  # bytes of one read, so that a slow disk answers often


class ReadingHelper(Protocol):
    """What works for a thread, in another one."""

    def aside(self, work: Callable[[], T], discard: Callable[[T], object]) -> T:
        """See `aside`."""


class _ReadsOfThread(threading.local):
    """Attributes, of the calling thread: `helper`, which works for it; `note`, which its reads are noted
    with."""

    helper: ReadingHelper | None = None
    note: Callable[[], AbstractContextManager[object]] = nullcontext


_here = _ReadsOfThread()


def aside(work: Callable[[], T], discard: Callable[[T], object] = lambda result: None) -> T:
    """Return what `work` does, which reads files and changes nothing else. The calling thread's helper does
    it, if it has one. discard: called with a result that comes when nobody waits any more.

    Raises the errors of `work`; where there is a helper, Interrupted if what waits is ended, and DiskSilent
    if the disk does not answer for minutes.
    """
    helper = _here.helper
    return work() if helper is None else helper.aside(work, discard)


def noted() -> AbstractContextManager[object]:
    """Return a context for a single read, or another question to the disk, so that whoever waits for this
    thread knows that the disk is asked. Raises Interrupted if nobody waits any more."""
    return _here.note()


@contextmanager
def opened(path: Path) -> Iterator[FileIO]:
    """Return a context with the file open to be read, unbuffered. Raises OSError."""
    with noted():
        file = path.open("rb", buffering=0)
    with file:
        yield file


def fill(into: bytearray | memoryview, file: FileIO) -> int:
    """Read from where `file` stands until `into` is full or the file ends; return the number of bytes. Raises
    OSError."""
    view, done = memoryview(into), 0
    while done < len(view):
        with noted():
            got = file.readinto(view[done : done + PIECE_NBYTES])
        if not got:
            break
        done += got
    return done


def content(path: Path, limit: int) -> bytes:
    """Return the bytes of a file, the first `limit` at most. Raises OSError."""
    with opened(path) as file:
        data = bytearray(min(os.fstat(file.fileno()).st_size, limit))
        return bytes(memoryview(data)[: fill(data, file)])


@contextmanager
def helped_by(helper: ReadingHelper) -> Iterator[None]:
    """Return a context in which `helper` does what the calling thread does aside."""
    before, _here.helper = _here.helper, helper
    try:
        yield
    finally:
        _here.helper = before


@contextmanager
def noted_with(note: Callable[[], AbstractContextManager[object]]) -> Iterator[None]:
    """Return a context in which the calling thread's reads are noted with what `note` returns, which may
    raise instead, so that nothing more is read."""
    before, _here.note = _here.note, note
    try:
        yield
    finally:
        _here.note = before
