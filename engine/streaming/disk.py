"""Reading pieces of files past the page cache: the one door to each system's calls.

Direct reads move whole sectors between the disk and page-aligned memory; the page cache neither helps nor
fills up. Knows nothing of weights.
"""

import contextlib
import mmap
import os
import sys
import time
from collections.abc import Mapping
from pathlib import Path

import torch
from torch import Tensor

from engine.errors import StreamBroken

# Offsets, lengths and addresses of direct reads are multiples of this many bytes on every disk of today.
SECTOR = 4096


def aligned(start: int, stop: int) -> tuple[int, int]:
    """The whole sectors that hold bytes start..stop."""
    return start // SECTOR * SECTOR, -(-stop // SECTOR) * SECTOR


def memory(nbytes: int) -> Tensor:
    """Memory of its own that begins at a page, uint8 [nbytes]."""
    return torch.frombuffer(mmap.mmap(-1, max(nbytes, 1)), dtype=torch.uint8)[:nbytes]


def buffer(memory: Tensor) -> memoryview:
    """The memory itself, for system calls."""
    return memoryview(memory.numpy())  # type: ignore[arg-type]  # an array is a buffer


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
        found = path.stat()  # the share mode keeps others from changing or replacing it
        return found.st_size, found.st_mtime_ns

    def _forget(file: int) -> None:
        """Windows frees cached pages by itself."""

else:

    def _open(path: Path, direct: bool) -> int:
        return os.open(path, os.O_RDONLY | os.O_CLOEXEC | (getattr(os, "O_DIRECT", 0) if direct else 0))

    def _read(file: int, buffer: memoryview, offset: int) -> int:
        return os.preadv(file, [buffer], offset)

    def _close(file: int) -> None:
        os.close(file)

    def _state(file: int, path: Path) -> tuple[int, int]:
        found = os.fstat(file)
        return found.st_size, found.st_mtime_ns

    def _forget(file: int) -> None:
        os.fsync(file)  # what is yet to be written cannot be given up
        if hasattr(os, "posix_fadvise"):
            os.posix_fadvise(file, 0, 0, os.POSIX_FADV_DONTNEED)


class DiskFile:
    """A file that is read from several threads, directly where the system allows it.

    Attributes: `path`, `direct`.
    """

    def __init__(self, path: Path, direct: bool = True) -> None:
        """Raises StreamBroken where the file cannot be opened. A file system that refuses direct reads gets
        buffered ones."""
        self.path = path
        self.direct = direct
        self._closed = False
        try:
            try:
                self._file = _open(path, direct)
            except OSError:
                if not direct:
                    raise
                self.direct = False
                self._file = _open(path, False)
            self._state = _state(self._file, path)
        except OSError as error:
            raise broken(path, error.strerror or str(error)) from error

    def read(self, into: memoryview, offset: int, needed: int) -> None:
        """Fill `into` from byte `offset`; the file may end behind its first `needed` bytes.

        For direct reads, address, length and offset are multiples of SECTOR. Raises StreamBroken on a read
        error, a short read, and where the file has changed since it was opened.
        """
        done = 0
        try:
            while done < len(into) and (got := _read(self._file, into[done:], offset + done)):
                done += got
                if done % SECTOR:  # the end of the file: the next direct read would begin inside a sector
                    break
            if _state(self._file, self.path) != self._state:
                raise broken(self.path, "it was changed")
        except OSError as error:
            raise broken(self.path, error.strerror or str(error)) from error
        if done < needed:
            raise broken(self.path, f"it ends after {offset + done:,} bytes")

    @property
    def modified(self) -> int:
        """When the file was last changed as it was opened, in nanoseconds."""
        return self._state[1]

    def forget(self) -> None:
        """Give up what the page cache holds of this file."""
        with contextlib.suppress(OSError):
            _forget(self._file)

    def close(self) -> None:
        """Once closed, closing again does nothing: the number may belong to another file by then."""
        if not self._closed:
            self._closed = True
            _close(self._file)


def open_files(modified: Mapping[Path, int]) -> dict[Path, DiskFile]:
    """Each file, open for whichever way of reading is faster on its disk.

    modified: when each was last changed as its header was read (`Span.modified`). Raises StreamBroken where
    one has changed since.
    """
    files: dict[Path, DiskFile] = {}
    direct: dict[int, bool] = {}
    try:
        for path in sorted(modified):
            files[path] = DiskFile(path)
            if modified[path] not in (0, files[path].modified):
                raise broken(path, "it was changed")
            disk = path.stat().st_dev
            if disk not in direct:
                direct[disk] = files[path].direct and _direct_is_faster(files[path])
            if not direct[disk]:
                files[path].close()
                files[path] = DiskFile(path, direct=False)
    except BaseException:
        for file in files.values():
            file.close()
        raise
    return files


# What is read to compare: long enough to tell, short enough not to be noticed.
_PROBE_NBYTES = 8 << 20
_PROBES = 4


def _direct_is_faster(file: DiskFile) -> bool:
    """Compares direct with buffered reading of stretches that no cache holds, in turns. Buffered has to be
    clearly faster: it costs a copy besides, and memory."""
    if file.path.stat().st_size < 2 * _PROBES * _PROBE_NBYTES:
        return True
    other = DiskFile(file.path, direct=False)
    into = buffer(memory(_PROBE_NBYTES))
    seconds: dict[DiskFile, list[float]] = {file: [], other: []}
    try:
        other.forget()
        for number in range(2 * _PROBES):
            way = (file, other)[number % 2]
            begin = time.perf_counter()
            way.read(into, number * _PROBE_NBYTES, _PROBE_NBYTES)
            seconds[way].append(time.perf_counter() - begin)
        other.forget()
    finally:
        other.close()
    return min(seconds[file]) < 1.5 * min(seconds[other])  # the first reads wake the disk up


class MemoryFile:
    """Reads from memory as `DiskFile` does from a file."""

    def __init__(self, content: Tensor) -> None:
        self._content = buffer(content)

    def read(self, into: memoryview, offset: int, needed: int) -> None:
        into[:] = self._content[offset : offset + len(into)]

    def close(self) -> None:
        self._content.release()


def broken(path: Path, reason: str) -> StreamBroken:
    return StreamBroken(
        f"{path.name} cannot be read on: {reason}.",
        "Check the disk and the file, then load the model again.",
    )
