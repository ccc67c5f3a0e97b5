"""Read parts of files, bypassing the page cache, with each operating system's own calls.

Direct reads move whole sectors from the disk to page-aligned memory. The page cache does not speed them up,
and they do not fill it. This module knows nothing about weights.
"""

import contextlib
import mmap
import os
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from engine import reads
from engine.errors import StreamBroken
from engine.machine.disk_reads import SECTOR


def aligned(start: int, stop: int) -> tuple[int, int]:
    """Extend the byte range start..stop to whole sectors; return its new (start, stop)."""
    return start // SECTOR * SECTOR, -(-stop // SECTOR) * SECTOR


# From this size on, Linux is asked for huge pages: products over the experts of a 30B mixture took 9 % less.
HUGE_NBYTES = 1 << 20


def memory(nbytes: int) -> NDArray[np.uint8]:
    """Allocate page-aligned memory, uint8 [nbytes]. Raises MemoryError if the system has none left."""
    try:
        region = mmap.mmap(-1, max(nbytes, 1))
    except OSError as error:
        raise MemoryError(f"{nbytes:,} bytes") from error
    if nbytes >= HUGE_NBYTES and hasattr(mmap, "MADV_HUGEPAGE"):
        with contextlib.suppress(OSError):  # some systems have none
            region.madvise(mmap.MADV_HUGEPAGE)
    return np.frombuffer(region, np.uint8)[:nbytes]


if sys.platform == "win32":
    import ctypes
    from ctypes import wintypes

    _kernel32 = ctypes.WinDLL("kernel32", use_last_error=True)
    _kernel32.CreateFileW.restype = wintypes.HANDLE
    _kernel32.CreateFileW.argtypes = [
        wintypes.LPCWSTR, wintypes.DWORD, wintypes.DWORD, ctypes.c_void_p, wintypes.DWORD, wintypes.DWORD,
        wintypes.HANDLE,
    ]  # fmt: skip
    _GENERIC_READ, _SHARE_READ, _OPEN_EXISTING = 0x8000_0000, 0x1, 3
    _NO_BUFFERING, _SEQUENTIAL_SCAN = 0x2000_0000, 0x0800_0000
    _END_OF_FILE = 38

    class _Overlapped(ctypes.Structure):
        _fields_ = [
            ("Internal", ctypes.c_void_p), ("InternalHigh", ctypes.c_void_p), ("Offset", wintypes.DWORD),
            ("OffsetHigh", wintypes.DWORD), ("hEvent", wintypes.HANDLE),
        ]  # fmt: skip

    def _open(path: Path, direct: bool) -> int:
        handle: int | None = _kernel32.CreateFileW(
            str(path), _GENERIC_READ, _SHARE_READ, None, _OPEN_EXISTING,
            _NO_BUFFERING if direct else _SEQUENTIAL_SCAN, None,
        )  # fmt: skip
        if handle is None or handle == ctypes.c_void_p(-1).value:
            raise ctypes.WinError(ctypes.get_last_error())
        return handle

    def _read(file: int, buffer: memoryview, offset: int) -> int:
        place = _Overlapped(Offset=offset & 0xFFFF_FFFF, OffsetHigh=offset >> 32)
        memory = (ctypes.c_char * len(buffer)).from_buffer(buffer)
        got = wintypes.DWORD()
        done = _kernel32.ReadFile(
            wintypes.HANDLE(file), memory, len(buffer), ctypes.byref(got), ctypes.byref(place)
        )
        if not done and ctypes.get_last_error() != _END_OF_FILE:
            raise ctypes.WinError(ctypes.get_last_error())
        return got.value

    def _close(file: int) -> None:
        _kernel32.CloseHandle(wintypes.HANDLE(file))

    def _state(file: int, path: Path) -> tuple[int, int]:
        state = path.stat()  # the open file's share mode keeps others from changing or replacing it
        return state.st_size, state.st_mtime_ns

    def _forget(file: int) -> None:
        """Do nothing: Windows frees cached pages by itself."""

else:

    def _open(path: Path, direct: bool) -> int:
        return os.open(path, os.O_RDONLY | os.O_CLOEXEC | (getattr(os, "O_DIRECT", 0) if direct else 0))

    def _read(file: int, buffer: memoryview, offset: int) -> int:
        return os.preadv(file, [buffer], offset)

    def _close(file: int) -> None:
        os.close(file)

    def _state(file: int, path: Path) -> tuple[int, int]:
        state = os.fstat(file)
        return state.st_size, state.st_mtime_ns

    def _forget(file: int) -> None:
        os.fsync(file)  # pages not yet written cannot be dropped
        if hasattr(os, "posix_fadvise"):
            os.posix_fadvise(file, 0, 0, os.POSIX_FADV_DONTNEED)


class Readable(Protocol):
    """A file that a ring reads."""

    def read(self, into: memoryview, offset: int, needed: int) -> None:
        """See `DiskFile.read`."""

    def close(self) -> None: ...


# Windows reads through one synchronous handle at a time, whichever threads ask, so each gets one of its own.
HANDLE_PER_THREAD = sys.platform == "win32"


class DiskFile:
    """A file that several threads read, bypassing the page cache if the system allows it.

    Attributes: `path`; `direct`, whether reads bypass the page cache.
    """

    def __init__(self, path: Path, direct: bool = True) -> None:
        """Open the file; for buffered reads if not `direct`, or if the file system refuses direct reads.

        Raises StreamBroken if the file cannot be opened.
        """
        self.path = path
        self.direct = direct
        self._guard = threading.Lock()
        self._closed = False
        self._reads = 0  # under way
        self._own: dict[int, int] = {}  # handles of threads
        try:
            try:
                self._file = _open(path, direct)
            except OSError:
                if not direct:
                    raise
                self.direct = False
                self._file = _open(path, False)
            self._handles = [self._file]  # that are open
            try:
                self._state = _state(self._file, path)
            except OSError:
                self.close()
                raise
        except OSError as error:
            raise broken(path, error.strerror or str(error)) from error

    def read(self, into: memoryview, offset: int, needed: int) -> None:
        """Fill `into` from byte `offset`; the file may end after the first `needed` bytes.

        For direct reads, `offset` and the address and length of `into` are multiples of SECTOR. Raises
        StreamBroken if the system reports an error, if the file ends before the first `needed` bytes, or if
        it has changed since it was opened, or was closed.
        """
        with self._in_use():
            self._fill(into, offset, needed)

    @contextlib.contextmanager
    def _in_use(self) -> Iterator[None]:
        """Return a context in which the handles stay open."""
        with self._guard:
            if self._closed:
                raise broken(self.path, "it was closed")
            self._reads += 1
        try:
            yield
        finally:
            with self._guard:
                self._reads -= 1
                self._close_unused()

    def _fill(self, into: memoryview, offset: int, needed: int) -> None:
        done = 0
        try:
            file = self._handle()
            while done < len(into) and (got := _read(file, into[done:], offset + done)):
                done += got
                if done % SECTOR:  # the end of the file: the next direct read would begin inside a sector
                    break
            if _state(self._file, self.path) != self._state:
                raise broken(self.path, "it has changed")
        except OSError as error:
            raise broken(self.path, error.strerror or str(error)) from error
        if done < needed:
            raise broken(self.path, f"it ends after {offset + done:,} bytes")

    def _handle(self) -> int:
        """Return the handle through which this thread reads."""
        if not HANDLE_PER_THREAD:
            return self._file
        thread = threading.get_ident()
        if thread not in self._own:
            self._own[thread] = _open(self.path, self.direct)
            self._handles.append(self._own[thread])
        return self._own[thread]

    @property
    def modified(self) -> int:
        """The file's modification time when it was opened, in nanoseconds."""
        return self._state[1]

    def forget(self) -> None:
        """Drop this file from the page cache."""
        with contextlib.suppress(OSError):
            _forget(self._file)

    def close(self) -> None:
        """Close the file, once the reads under way have ended: the descriptor of a read may else belong to
        another file. A second call does nothing."""
        with self._guard:
            self._closed = True
            self._close_unused()

    def _close_unused(self) -> None:
        """Close the handles if the file was closed and nobody reads it any more. The guard is held."""
        if self._closed and not self._reads:
            while self._handles:
                _close(self._handles.pop())


def open_files(modified: Mapping[Path, int]) -> dict[Path, DiskFile]:
    """Open each file for direct or buffered reads, whichever is faster on its disk.

    modified: the modification time of each file when its header was read (`Span.modified`); 0 if unknown.
    Raises StreamBroken if a file has changed since that time, or cannot be opened; the errors of
    `reads.aside`.
    """
    return reads.aside(lambda: _opened(modified), close_files)


def _opened(modified: Mapping[Path, int]) -> dict[Path, DiskFile]:
    """See `open_files`."""
    files: dict[Path, DiskFile] = {}
    direct: dict[int, bool] = {}
    try:
        for path in sorted(modified):
            with reads.noted():
                files[path] = DiskFile(path)
                disk = path.stat().st_dev
            if modified[path] not in (0, files[path].modified):
                raise broken(path, "it has changed")
            if disk not in direct:
                direct[disk] = files[path].direct and _direct_is_faster(files[path])
            if not direct[disk]:
                files[path].close()
                with reads.noted():
                    files[path] = DiskFile(path, direct=False)
    except BaseException:
        close_files(files)
        raise
    return files


def close_files(files: Mapping[Path, Readable]) -> None:
    for file in files.values():
        file.close()


# To compare direct and buffered reads, each kind reads _PROBES times this many bytes: enough for the time to
# mean something, few enough that nobody notices.
_PROBE_NBYTES = 8 << 20
_PROBES = 4


def _direct_is_faster(file: DiskFile) -> bool:
    """Read uncached parts of the file, directly and buffered in turn, and return whether direct reads are
    faster. Buffered reads win only if they are clearly faster, because they also cost a copy and memory. A
    file too small for the comparison counts as faster with direct reads."""
    with reads.noted():
        if file.path.stat().st_size < 2 * _PROBES * _PROBE_NBYTES:
            return True
        other = DiskFile(file.path, direct=False)
    into = memory(_PROBE_NBYTES).data
    seconds: dict[DiskFile, list[float]] = {file: [], other: []}
    try:
        with reads.noted():
            other.forget()
        for number in range(2 * _PROBES):
            way = (file, other)[number % 2]
            begin = time.perf_counter()
            with reads.noted():
                way.read(into, number * _PROBE_NBYTES, _PROBE_NBYTES)
            seconds[way].append(time.perf_counter() - begin)
        with reads.noted():
            other.forget()
    finally:
        other.close()
    return min(seconds[file]) < 1.5 * min(seconds[other])  # minimum: the first reads wake the disk up


class MemoryFile:
    """A stand-in for `DiskFile` whose content is in memory."""

    def __init__(self, content: NDArray[np.uint8]) -> None:
        self._content = content

    def read(self, into: memoryview, offset: int, needed: int) -> None:
        # A copy between memory views would hold the interpreter's lock, and with it the computing thread.
        np.copyto(np.frombuffer(into, np.uint8), self._content[offset : offset + len(into)])

    def close(self) -> None:
        self._content = self._content[:0]


def broken(path: Path, reason: str) -> StreamBroken:
    return StreamBroken(
        f"{path.name} can no longer be read: {reason}.",
        "Check the disk and the file, then load the model again.",
    )
