"""Folders for compiled kernels, one for each state of the sources.

Programs of several versions, or from several checkouts, may run on one machine by turns. So each of them
keeps its folder, until it has not been used for long or until many others were used after it.
"""

import os
import shutil
import time
from collections.abc import Iterable
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryFile

UNUSED_S = 30 * 24 * 3600.0  # after this time without use, a folder is deleted
MOST = 16  # folders, of about 30 MB each


def state_of(sources: Iterable[Path], compiler: str) -> str:
    """Return a name for what these files contain and for the version of the compiler."""
    digest = sha256(compiler.encode())
    for file in sources:
        digest.update(file.read_bytes())
    return digest.hexdigest()[:16]


def use_folder(parent: Path, state: str) -> Path:
    """Return the folder of `state` in `parent`, which is made if it is missing. Delete the folders of other
    states that were not used for UNUSED_S seconds, and all but the MOST that were used last.

    Raises OSError if nothing can be written there.
    """
    folder = parent / state
    folder.mkdir(parents=True, exist_ok=True)
    TemporaryFile(dir=folder).close()
    os.utime(folder)  # a folder's time is that of its last use
    others = []
    for other in parent.iterdir():
        with suppress(FileNotFoundError):  # another process has deleted it
            if other != folder:
                others.append((other.stat().st_mtime, other))
    for place, (used, other) in enumerate(sorted(others, reverse=True), start=2):
        if place > MOST or time.time() - used > UNUSED_S:
            shutil.rmtree(other, ignore_errors=True)
    return folder
