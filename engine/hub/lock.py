"""Locks, with which only one download or process at a time can change a model's files.

A lock is released when its process ends, in whatever way.
"""

from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from filelock import FileLock, Timeout

from engine.hub import disk
from engine.hub.errors import DownloadRunning

WORK = ".downloads"  # the subfolder of the models folder with the locks and records of unfinished downloads


@contextmanager
def locked(models: Path, repositories: Iterable[str]) -> Iterator[None]:
    """Hold the locks of `repositories` (owner/name) while the block runs. Never waits for a lock.

    Raises `DownloadRunning` if another process or download holds one of them; `DiskFull`, `DiskProblem`.
    """
    with ExitStack() as stack:
        for repository in sorted(set(repositories)):
            _take(stack, models / WORK / (repository.replace("/", "--") + ".lock"), repository)
        yield


@contextmanager
def all_locked(models: Path) -> Iterator[None]:
    """Hold all locks that exist in `models` while the block runs, so that no download runs there.

    Raises `DownloadRunning` if one of them is held; `DiskFull`, `DiskProblem`.
    """
    with ExitStack() as stack:
        for path in sorted((models / WORK).glob("*.lock")):
            _take(stack, path, path.stem.replace("--", "/"))
        yield


def _take(stack: ExitStack, path: Path, repository: str) -> None:
    with disk.named_errors(f"locking {repository}"):
        path.parent.mkdir(parents=True, exist_ok=True)
        lock = FileLock(path)
        try:
            lock.acquire(timeout=0)
        except Timeout:
            raise DownloadRunning(
                f"{repository} is being downloaded or changed by another window or command.",
                "Wait until it has finished, or end it.",
            ) from None
        stack.callback(lock.release)
