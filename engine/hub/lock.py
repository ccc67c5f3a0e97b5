"""One process at a time works on a model's files; a lock ends with the process that has it, however it
ends."""

from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from filelock import FileLock, Timeout

from engine.hub import disk
from engine.hub.errors import DownloadRunning

WORK = ".downloads"  # in the models folder: locks, and what unfinished downloads are of


@contextmanager
def locked(models: Path, repositories: Iterable[str]) -> Iterator[None]:
    """Raises `DownloadRunning` at once where another has one of `repositories` (owner/name), and
    `DiskProblem`."""
    with ExitStack() as stack:
        for repository in sorted(set(repositories)):
            _take(stack, models / WORK / (repository.replace("/", "--") + ".lock"), repository)
        yield


@contextmanager
def all_locked(models: Path) -> Iterator[None]:
    """No download runs in `models`. Raises `DownloadRunning`."""
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
                "Wait until that is done, or end it.",
            ) from None
        stack.callback(lock.release)
