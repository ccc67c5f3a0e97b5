"""The folder that holds all runtimes: lock it, switch to a new runtime, remove old ones.

The lock is released when its process ends, in whatever way.
"""

import json
import os
import shutil
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import psutil
from filelock import FileLock, Timeout

from engine.files import write_whole
from engine.hub import disk
from engine.launch import interpreter
from engine.launch.interpreter import Runtime
from engine.runtime.errors import SetupRunning


def nbytes() -> int:
    """Return the size in bytes of all runtimes, including the remains of unfinished set-ups."""
    return nbytes_in([interpreter.runtimes_folder()])


@contextmanager
def locked() -> Iterator[None]:
    """Hold the lock that allows only one set-up at a time, while the block runs.

    Raises `SetupRunning` if another process holds it; `DiskFull` or `DiskProblem`.
    """
    with disk.named_errors("preparing the runtime's folder"):
        interpreter.runtimes_folder().mkdir(parents=True, exist_ok=True)
        lock = FileLock(interpreter.runtimes_folder() / "lock")
        try:
            lock.acquire(timeout=0)
        except Timeout:
            raise SetupRunning(
                "Another window is setting up the engine.", "Wait until it has finished, or cancel it there."
            ) from None
    try:
        yield
    finally:
        lock.release()


def cache() -> Path:
    """Return the folder of the installer's cache, which lets a retry reuse finished downloads."""
    return interpreter.runtimes_folder() / "cache"


def unpacked() -> Path:
    """Return the folder that holds the wheels of a runtime file while they are being installed."""
    return interpreter.runtimes_folder() / "wheels"


def clear_cache() -> None:
    """Delete the installer's cache and the unpacked wheels. Call while holding the lock."""
    shutil.rmtree(cache(), ignore_errors=True)
    shutil.rmtree(unpacked(), ignore_errors=True)


def new_folder(backend: str) -> Path:
    """Create and return a new folder for a runtime. Call while holding the lock."""
    numbers = (place.name.rpartition("-")[2] for place in interpreter.runtimes_folder().glob("*-*"))
    number = max((int(text) for text in numbers if text.isdigit()), default=0) + 1
    folder = interpreter.runtimes_folder() / f"{backend}-{number}"
    folder.mkdir()
    return folder


def accept(folder: Path, backend: str, key: str) -> None:
    """Switch to the runtime in `folder`. The switch is atomic, even if the power fails."""
    manifest = {"backend": backend, "key": key, "python": interpreter.python_abi()}
    write_whole(folder / "runtime.json", json.dumps(manifest).encode(), single_writer=True)
    current = interpreter.runtimes_folder() / "current.json"
    write_whole(current, json.dumps({"folder": folder.name}).encode(), single_writer=True)


def tidy() -> None:
    """Remove old runtimes, as `clear` does; do nothing while a set-up runs.

    Best called before an engine starts.
    """
    with suppress(SetupRunning), locked():
        clear()


def clear() -> None:
    """Remove unpacked wheels and all runtimes except the current one and those that running processes use.

    Call while holding the lock.
    """
    shutil.rmtree(unpacked(), ignore_errors=True)
    in_use = interpreter.current()
    arguments = _process_arguments()
    for folder in interpreter.runtimes_folder().glob("*-*"):
        if folder.is_dir() and not _is(folder, in_use) and str(folder) not in arguments:
            shutil.rmtree(folder, ignore_errors=True)


def _is(folder: Path, runtime: Runtime | None) -> bool:
    return runtime is not None and folder == runtime.folder


def _process_arguments() -> set[str]:
    """Return the command-line arguments of all running processes.

    A process that runs in a runtime has the runtime's folder among them (`interpreter.command_in`).
    """
    arguments: set[str] = set()
    for process in psutil.process_iter():
        with suppress(psutil.Error):
            arguments.update(process.cmdline())
    return arguments


def nbytes_in(folders: Iterable[Path]) -> int:
    """Return the total size in bytes of the files in `folders`.

    A file with several names (hard links) counts once, except on Windows, where noticing that two names are
    one file would require opening every file.
    """
    sizes: dict[object, int] = {}
    waiting = [str(folder) for folder in folders]
    while waiting:
        try:
            with os.scandir(waiting.pop()) as entries:
                for entry in entries:
                    if entry.is_dir(follow_symlinks=False):
                        waiting.append(entry.path)
                    else:
                        status = entry.stat(follow_symlinks=False)
                        file = (status.st_dev, status.st_ino) if status.st_ino else entry.path
                        sizes[file] = status.st_size
        except OSError:  # a running set-up may delete files while they are counted
            continue
    return sum(sizes.values())
