"""Large files from one folder to another, with progress, and an end in good order."""

import os
import shutil
from collections.abc import Callable
from pathlib import Path

from engine.hub.digest import READ_NBYTES
from engine.hub.stop import Stop


def copy(source: Path, target: Path, stop: Stop, watch: Callable[[int], None]) -> None:
    """Whole or not at all, with its times. `watch` hears how many bytes are copied. Raises OSError,
    `Stopped`."""
    target.parent.mkdir(parents=True, exist_ok=True)
    growing = target.with_name(f".{target.name}.new")
    done = 0
    try:
        with source.open("rb") as read, growing.open("wb") as written:
            while data := read.read(READ_NBYTES):
                stop.check()
                written.write(data)
                done += len(data)
                watch(done)
            written.flush()
            os.fsync(written.fileno())
        shutil.copystat(source, growing)
        growing.replace(target)
    finally:
        growing.unlink(missing_ok=True)


def link_or_copy(source: Path, target: Path, stop: Stop, watch: Callable[[int], None]) -> None:
    """On the same file system a second name for the same bytes; elsewhere a copy. As `copy`."""
    target.parent.mkdir(parents=True, exist_ok=True)
    try:
        target.hardlink_to(source)
        watch(source.stat().st_size)
    except (OSError, NotImplementedError):
        copy(source, target, stop, watch)
