"""Measure how fast a folder's disk reads, using the model files in the folder or a temporary file.

Reads in the same way as a streamed target (`engine.machine.disk_reads`), in file order. The caller passes the
function that opens the files to read.
"""

import mmap
import os
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Protocol, TypeAlias

from engine.errors import DiskProblem
from engine.machine.data import DiskSpeed
from engine.machine.disk import nearest
from engine.machine.disk_reads import PIECE_NBYTES, READERS
from engine.machine.stored_speeds import now

SECONDS = 1.0  # spent on each way of reading (direct, buffered), and on writing
MOST_NBYTES = 1 << 30  # maximum number of bytes read in each way
LEAST_NBYTES = 256 << 20  # if there are fewer bytes of model files, a temporary file is read instead
MODEL_FILES = (".gguf", ".safetensors")
_MOST_NAMES = 10_000  # maximum number of files examined, because the folder may be a home folder

Piece: TypeAlias = tuple[Path, int]  # a file and an offset


class OpenFile(Protocol):
    """A file that several threads read, such as `engine.streaming.disk.DiskFile`."""

    direct: bool

    def read(self, into: memoryview, offset: int, needed: int) -> None:
        """Fill `into` with the file's bytes from `offset` on. Raises a SpecExecError if that fails.

        needed: the number of bytes that the file must provide; it may end after them.
        """

    def forget(self) -> None:
        """Drop this file from the page cache."""

    def close(self) -> None: ...


Open: TypeAlias = Callable[[Path, bool], OpenFile]  # (path, whether to bypass the page cache if possible)


def measure_disk(folder: Path, open_file: Open) -> DiskSpeed:
    """Measure the read bandwidth of the disk that `folder` is on.

    Takes about two seconds, or three if there are fewer than LEAST_NBYTES of models. Raises DiskProblem if
    there is too little to read and no temporary file can be written; raises the errors of `OpenFile.read`.
    """
    with _pieces(nearest(folder)) as pieces:
        half = len(pieces) // 2
        direct = _gb_per_s(pieces[:half], open_file, True)
        buffered = None
        # Windows' file cache cannot be dropped, so reads go through it only if direct reads are refused.
        if direct is None or sys.platform != "win32":
            buffered = _gb_per_s(pieces[half:], open_file, False)
    return DiskSpeed(direct, buffered, now())


@contextmanager
def _pieces(folder: Path) -> Iterator[list[Piece]]:
    """Yield the pieces to read: one half for direct reads, the other for buffered reads."""
    disk = folder.stat().st_dev
    names = [name for name in islice(folder.rglob("*"), _MOST_NAMES) if name.suffix in MODEL_FILES]
    models = sorted(((_nbytes(name, disk), name) for name in names), reverse=True)
    pieces = [piece for nbytes, name in models for piece in _of_file(name, nbytes)]
    if len(pieces) >= LEAST_NBYTES // PIECE_NBYTES:
        yield pieces[: 2 * MOST_NBYTES // PIECE_NBYTES]
        return
    try:
        scratch = TemporaryDirectory(dir=folder, prefix=".measuring-")
    except OSError as error:
        raise _not_written(folder, error) from error
    with scratch:
        file = Path(scratch.name) / "random"
        try:
            nbytes = _write(file)
        except OSError as error:
            raise _not_written(folder, error) from error
        yield _of_file(file, nbytes)


def _nbytes(file: Path, disk: int) -> int:
    """Return the size of `file`; 0 if it cannot be found out, or if `file` is a link to another disk.

    disk: the device number of the disk to measure.
    """
    try:
        state = file.stat()
    except OSError:
        return 0
    return state.st_size if state.st_dev == disk else 0


def _of_file(file: Path, nbytes: int) -> list[Piece]:
    return [(file, start) for start in range(0, nbytes - PIECE_NBYTES + 1, PIECE_NBYTES)]


def _write(file: Path) -> int:
    """Write a file for a second (SECONDS) and return its size, which is at least 16 MiB, in bytes."""
    content = os.urandom(PIECE_NBYTES)  # random, so that no file system compresses it
    least = 4 * PIECE_NBYTES  # each of the two ways of reading needs a measured piece and one before it
    written = 0
    begin = time.perf_counter()
    with file.open("wb") as out:
        while written < LEAST_NBYTES and (written < least or time.perf_counter() - begin < SECONDS):
            out.write(content)
            os.fsync(out.fileno())
            written += PIECE_NBYTES
    return written


def _gb_per_s(pieces: Sequence[Piece], open_file: Open, direct: bool) -> float | None:
    """Return the read bandwidth in GB/s; None if direct reads are wanted but the file system refuses them."""
    files: dict[Path, OpenFile] = {}
    try:
        for path, _ in pieces:
            if path not in files:
                files[path] = open_file(path, direct)
        if any(file.direct != direct for file in files.values()):
            return None
        for file in files.values():
            file.forget()
        rate = _timed(pieces, files)
        for file in files.values():
            file.forget()
        return rate
    finally:
        for file in files.values():
            file.close()


def _timed(pieces: Sequence[Piece], files: dict[Path, OpenFile]) -> float:
    """Read the pieces, for SECONDS at most, and return the bandwidth in GB/s.

    The first piece only wakes the disk and is not counted.
    """
    buffers = [memoryview(mmap.mmap(-1, PIECE_NBYTES)) for _ in range(READERS)]
    path, offset = pieces[0]
    for into in buffers:  # fills each buffer once, so that its pages are allocated before the timing
        files[path].read(into, offset, PIECE_NBYTES)
    left = iter(pieces[1:])
    begin = time.perf_counter()

    def take(into: memoryview) -> int:
        nbytes = 0
        for path, offset in left:  # a list iterator gives each piece to one thread only
            files[path].read(into, offset, PIECE_NBYTES)
            nbytes += PIECE_NBYTES
            if time.perf_counter() - begin >= SECONDS:
                break
        return nbytes

    with ThreadPoolExecutor(READERS) as readers:
        nbytes = sum(readers.map(take, buffers))
    return nbytes / (time.perf_counter() - begin) / 1e9


def _not_written(folder: Path, error: OSError) -> DiskProblem:
    return DiskProblem(
        f"The disk speed of {folder} cannot be measured: it holds no model, and it cannot be written: "
        f"{error.strerror}.",
        "Check the disk and the folder's permissions, or choose another folder (--models).",
    )
