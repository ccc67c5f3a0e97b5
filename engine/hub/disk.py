"""Check free space on a disk, copy large files, and translate file-system errors for the user."""

import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from engine.errors import DiskProblem, SpecExecError, is_disk_full
from engine.files import replacing
from engine.hub.errors import DiskFull
from engine.hub.stop import Stop

READ_NBYTES = 1 << 20
RESERVE = 256 << 20  # bytes left free for the system: a full disk does more harm than a paused download


@contextmanager
def named_errors(doing: str) -> Iterator[None]:
    """Convert an OSError raised in the block into `DiskFull` or `DiskProblem`.

    doing: what the block does, for the message, such as "writing model.gguf".
    """
    try:
        yield
    except OSError as error:
        raise problem(error, doing) from error


def problem(error: OSError, doing: str) -> SpecExecError:
    if is_disk_full(error):
        return DiskFull(
            f"The disk is full: {doing} had to stop.", "Free some space and resume; nothing is lost."
        )
    return DiskProblem(
        f"Disk error in {doing}: {error.strerror or error}.",
        "Check the disk, and the models folder and its permissions.",
    )


def free(folder: Path) -> int:
    """Return the number of free bytes on the disk where `folder` is or would be created."""
    place = folder.absolute()
    while not place.exists() and place != place.parent:
        place = place.parent
    return shutil.disk_usage(place).free


def check_free(folder: Path, nbytes: int) -> None:
    """Raise `DiskFull` unless `nbytes` more bytes fit on the disk of `folder` and leave `RESERVE` free."""
    missing = nbytes + RESERVE - free(folder)
    if missing > 0:
        raise DiskFull(
            f"The disk has too little free space: {gib(nbytes)} are needed and "
            f"{gib(RESERVE)} must stay free; {gib(missing)} are missing.",
            f"Free some space in {folder}, or move the models with specexec models move.",
        )


def check_reserve(folder: Path) -> None:
    """Raise `DiskFull` if fewer than `RESERVE` bytes are free on the disk of `folder`."""
    if free(folder) < RESERVE:
        raise DiskFull(
            f"The disk is nearly full: {gib(free(folder))} are left.",
            f"Free some space in {folder} and resume; nothing is lost.",
        )


def copy(source: Path, target: Path, stop: Stop, progress: Callable[[int], None]) -> None:
    """Copy a file with its times and permissions. `target` gets the whole file or stays as it was.

    progress: called with the number of bytes copied so far. Raises OSError, `Stopped`.
    """
    target.parent.mkdir(parents=True, exist_ok=True)
    done = 0
    with replacing(target, single_writer=True) as temporary:
        with source.open("rb") as read, temporary.open("wb") as written:
            while data := read.read(READ_NBYTES):
                stop.check()
                written.write(data)
                done += len(data)
                progress(done)
        times = source.stat()
        os.utime(temporary, ns=(times.st_atime_ns, times.st_mtime_ns))
    shutil.copymode(
        source, target
    )  # comes last, because a read-only file can be neither flushed nor, on Windows, renamed


def same_bytes(one: Path, other: Path, stop: Stop) -> bool:
    """Return whether two files have the same content. `other` is read from the disk, not from the page cache,
    where the system allows it. Raises OSError, `Stopped`."""
    with one.open("rb") as first, other.open("rb") as second:
        if hasattr(os, "posix_fadvise"):
            os.posix_fadvise(second.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
        while data := first.read(READ_NBYTES):
            stop.check()
            if second.read(READ_NBYTES) != data:
                return False
        return not second.read(1)


def link(source: Path, target: Path) -> bool:
    """Create `target` as a hard link to `source`; return False if that is impossible."""
    target.parent.mkdir(parents=True, exist_ok=True)
    try:
        target.hardlink_to(source)
    except (OSError, NotImplementedError):
        return False
    return True


def link_or_copy(source: Path, target: Path, stop: Stop, progress: Callable[[int], None]) -> None:
    """Create `target` as a hard link to `source`, or as a copy if that is impossible.

    Arguments and errors are those of `copy`.
    """
    if link(source, target):
        progress(source.stat().st_size)
    else:
        copy(source, target, stop, progress)


def remove_empty(folder: Path, above: Path) -> None:
    """Remove `folder` and the folders around it, as long as they are empty, but not `above`."""
    while folder != above and folder.is_relative_to(above):
        try:
            folder.rmdir()
        except OSError:
            return
        folder = folder.parent


def gib(nbytes: int) -> str:
    return f"{nbytes / 2**30:.1f} GiB" if nbytes >= 2**30 else f"{nbytes / 2**20:.1f} MiB"
