"""Room on a disk, and writing that is whole or not at all, also where the power fails."""

import errno
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from engine.errors import DiskProblem, SpecExecError
from engine.hub.errors import DiskFull

RESERVE = 256 << 20  # bytes left to the system: one that runs full does more harm than a paused download
_FULL = {errno.ENOSPC, getattr(errno, "EDQUOT", errno.ENOSPC)}
_FULL_ON_WINDOWS = {39, 112}  # ERROR_HANDLE_DISK_FULL, ERROR_DISK_FULL


@contextmanager
def named_errors(doing: str) -> Iterator[None]:
    """What the system says of a disk, as `DiskFull` or `DiskProblem`. `doing`: "writing model.gguf"."""
    try:
        yield
    except OSError as error:
        raise problem(error, doing) from error


def problem(error: OSError, doing: str) -> SpecExecError:
    if error.errno in _FULL or getattr(error, "winerror", None) in _FULL_ON_WINDOWS:
        return DiskFull(
            f"The disk is full: {doing} had to stop.", "Make room and go on; nothing of it is lost."
        )
    return DiskProblem(
        f"The disk makes trouble in {doing}: {error.strerror or error}.",
        "Check the folder of the models, its rights and the disk.",
    )


def free(folder: Path) -> int:
    """Bytes free where `folder` is or will be."""
    place = folder.absolute()
    while not place.exists() and place != place.parent:
        place = place.parent
    return shutil.disk_usage(place).free


def check_room(folder: Path, nbytes: int) -> None:
    """Raises `DiskFull` where `nbytes` more do not fit."""
    missing = nbytes + RESERVE - free(folder)
    if missing > 0:
        raise DiskFull(
            f"The disk has too little room: {gib(nbytes)} are to come, and {gib(missing)} are missing.",
            f"Make room in {folder}, or move the models with specexec models move.",
        )


def check_reserve(folder: Path) -> None:
    """Raises `DiskFull` before the disk is full to the last byte."""
    if free(folder) < RESERVE:
        raise DiskFull(
            f"The disk is nearly full: {gib(free(folder))} are left.",
            f"Make room in {folder} and go on; nothing of it is lost.",
        )


def write_whole(path: Path, content: bytes) -> None:
    """Whole or not at all, also after a power failure."""
    growing = path.with_name(f".{path.name}.new")
    with growing.open("wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    growing.replace(path)


def sync_folder(folder: Path) -> None:
    """Names that were given in `folder` are on the disk. Windows has no such call and journals names
    itself."""
    if os.name == "nt":
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def remove_empty(folder: Path, above: Path) -> None:
    """`folder` and what it lies in, up to `above`, as far as they are empty."""
    while folder != above and folder.is_relative_to(above):
        try:
            folder.rmdir()
        except OSError:
            return
        folder = folder.parent


def gib(nbytes: int) -> str:
    return f"{nbytes / 2**30:.1f} GiB" if nbytes >= 2**30 else f"{nbytes / 2**20:.1f} MiB"
