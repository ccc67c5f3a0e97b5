"""How fast a folder's disk reads: model files that lie there, or a file written for it.

Reads as the streamed target does: pieces of 4 MiB in the order of the file, by two threads. Knows no system
call: whoever asks says how files are opened.
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
from engine.machine.kept import now

PIECE_NBYTES = 4 << 20
READERS = 2
SECONDS = 1.0  # of each way of reading, and of writing
MOST_NBYTES = 1 << 30  # that are read each way
LEAST_NBYTES = 256 << 20  # that have to lie there already, else they are written
MODEL_FILES = (".gguf", ".safetensors")
_MOST_NAMES = 10_000  # looked through for model files: the folder may be anyone's home

Piece: TypeAlias = tuple[Path, int]  # a file and an offset


class OpenFile(Protocol):
    """As `engine.streaming.disk.DiskFile`: used from several threads."""

    direct: bool

    def read(self, into: memoryview, offset: int, needed: int) -> None:
        """Fill `into` from byte `offset`. Raises a SpecExecError."""

    def forget(self) -> None:
        """Give up what the page cache holds of this file."""

    def close(self) -> None: ...


Open: TypeAlias = Callable[[Path, bool], OpenFile]  # of a path, directly if wanted and possible


def measure_disk(folder: Path, open_file: Open) -> DiskSpeed:
    """Takes about two seconds, and one more where there is no model of LEAST_NBYTES to read.

    Raises DiskProblem where there is nothing to read and nothing can be written, and what reading raises.
    """
    with _pieces(nearest(folder)) as pieces:
        half = len(pieces) // 2
        direct = _gb_per_s(pieces[:half], open_file, True)
        buffered = None
        # Nobody can empty Windows' cache of a file, so there it is read through only if it must be.
        if direct is None or sys.platform != "win32":
            buffered = _gb_per_s(pieces[half:], open_file, False)
    return DiskSpeed(direct, buffered, now())


@contextmanager
def _pieces(folder: Path) -> Iterator[list[Piece]]:
    """What is read, half of it each way."""
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
    """0 for what cannot be asked, or is a link to another disk."""
    try:
        state = file.stat()
    except OSError:
        return 0
    return state.st_size if state.st_dev == disk else 0


def _of_file(file: Path, nbytes: int) -> list[Piece]:
    return [(file, start) for start in range(0, nbytes - PIECE_NBYTES + 1, PIECE_NBYTES)]


def _write(file: Path) -> int:
    """Write to the disk for a second; how many bytes it took."""
    content = os.urandom(PIECE_NBYTES)  # nothing that a file system could compress
    least = 4 * PIECE_NBYTES  # each way of reading takes one that counts, and one before it
    written = 0
    begin = time.perf_counter()
    with file.open("wb") as out:
        while written < LEAST_NBYTES and (written < least or time.perf_counter() - begin < SECONDS):
            out.write(content)
            os.fsync(out.fileno())
            written += PIECE_NBYTES
    return written


def _gb_per_s(pieces: Sequence[Piece], open_file: Open, direct: bool) -> float | None:
    """None where direct reads are refused."""
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
    """GB/s of the pieces behind the first, which wakes the disk up."""
    buffers = [memoryview(mmap.mmap(-1, PIECE_NBYTES)) for _ in range(READERS)]
    path, offset = pieces[0]
    for into in buffers:  # and has the memory's pages made
        files[path].read(into, offset, PIECE_NBYTES)
    left = iter(pieces[1:])
    begin = time.perf_counter()

    def take(into: memoryview) -> int:
        nbytes = 0
        for path, offset in left:  # a list's iterator gives each piece to one thread only
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
        f"The disk of {folder} cannot be measured: no model lies there, and it cannot be written: "
        f"{error.strerror}.",
        "Check the disk and the folder's permissions, or name another folder (--models).",
    )
