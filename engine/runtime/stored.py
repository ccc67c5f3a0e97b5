"""The folder of all runtimes: which one is in use, switching, clearing away. A lock ends with its process."""

import json
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import psutil
from filelock import FileLock, Timeout

from engine import launching
from engine.hub import disk
from engine.launching import Runtime
from engine.runtime.errors import SetupRunning
from engine.runtime.progress import nbytes_in


def nbytes() -> int:
    """What all runtimes take, with what unfinished set-ups left."""
    return nbytes_in([launching.runtimes()])


@contextmanager
def locked() -> Iterator[None]:
    """One set-up at a time. Raises `SetupRunning` and `DiskProblem`."""
    with disk.named_errors("preparing the runtime's folder"):
        launching.runtimes().mkdir(parents=True, exist_ok=True)
        lock = FileLock(launching.runtimes() / "lock")
        try:
            lock.acquire(timeout=0)
        except Timeout:
            raise SetupRunning(
                "Another window sets the engine up.", "Wait until that is done, or end it there."
            ) from None
    try:
        yield
    finally:
        lock.release()


def cache() -> Path:
    """The installer's: what came is not fetched again after a failure."""
    return launching.runtimes() / "cache"


def unpacked() -> Path:
    """Wheels of a runtime file, while they are installed."""
    return launching.runtimes() / "wheels"


def forget_cache() -> None:
    """Under the lock."""
    shutil.rmtree(cache(), ignore_errors=True)
    shutil.rmtree(unpacked(), ignore_errors=True)


def new_folder(backend: str) -> Path:
    """A folder that is not there yet. Under the lock."""
    numbers = (place.name.rpartition("-")[2] for place in launching.runtimes().glob("*-*"))
    number = max((int(text) for text in numbers if text.isdigit()), default=0) + 1
    folder = launching.runtimes() / f"{backend}-{number}"
    folder.mkdir()
    return folder


def accept(folder: Path, backend: str, key: str) -> None:
    """`folder` is in use from now on: all at once, also where the power fails."""
    said = {"backend": backend, "key": key, "python": launching.python_version()}
    disk.write_whole(folder / "runtime.json", json.dumps(said).encode())
    disk.sync_folder(folder)
    disk.write_whole(launching.runtimes() / "current.json", json.dumps({"folder": folder.name}).encode())
    disk.sync_folder(launching.runtimes())


def tidy() -> None:
    """Remove the runtimes that are neither in use nor being made. Best before an engine starts."""
    with suppress(SetupRunning), locked():
        clear()


def clear() -> None:
    """Under the lock: remove all runtimes but the current one and those that a process still runs in."""
    shutil.rmtree(unpacked(), ignore_errors=True)
    found = launching.current()
    running = _running()
    for folder in launching.runtimes().glob("*-*"):
        if folder.is_dir() and not _is(folder, found) and str(folder) not in running:
            shutil.rmtree(folder, ignore_errors=True)


def _is(folder: Path, runtime: Runtime | None) -> bool:
    return runtime is not None and folder == runtime.folder


def _running() -> set[str]:
    """The arguments of all processes: `launching.command_in` names the folder."""
    arguments: set[str] = set()
    for process in psutil.process_iter():
        with suppress(psutil.Error):
            arguments.update(process.cmdline())
    return arguments
