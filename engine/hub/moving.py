"""The whole models folder to another place."""

from collections.abc import Callable
from pathlib import Path

from engine.errors import BadOption
from engine.hub import disk
from engine.hub.copying import link_or_copy
from engine.hub.lock import all_locked
from engine.hub.stop import Stop


def move(
    models: Path,
    target: Path,
    stop: Stop,
    watch: Callable[[int, int], None],
    moved: Callable[[Path], None],
) -> int:
    """All that lies in `models` to `target`, unfinished downloads too. Returns the bytes moved.

    `moved` is told the new folder once everything is there, before the old is deleted: an end before that
    leaves the old folder as it was, and a second call goes on with what is already there. `watch` hears
    (bytes done, of how many). Raises `BadOption`, `DownloadRunning`, `DiskFull`, `DiskProblem`, `Stopped`.
    """
    models, target = models.absolute(), target.absolute()
    if not models.is_dir():
        raise BadOption(f"There is no folder {models}.", "Nothing has been downloaded yet.")
    if target.is_relative_to(models) or models.is_relative_to(target):
        raise BadOption(f"{target} and {models} lie in one another.", "Name another folder.")
    with all_locked(models), disk.named_errors(f"moving the models to {target}"):
        files = [path for path in sorted(models.rglob("*")) if path.is_file() and path.suffix != ".lock"]
        there = {path: target / path.relative_to(models) for path in files}
        nbytes = sum(path.stat().st_size for path in files)
        left = [path for path in files if not _is_there(path, there[path])]
        target.mkdir(parents=True, exist_ok=True)
        if models.stat().st_dev != target.stat().st_dev:
            disk.check_room(target, sum(path.stat().st_size for path in left))
        done = nbytes - sum(path.stat().st_size for path in left)
        for path in left:
            begun = done

            def copied(nbytes_of_file: int, begun: int = begun) -> None:
                watch(begun + nbytes_of_file, nbytes)

            stop.check()
            link_or_copy(path, there[path], stop, copied)
            done += there[path].stat().st_size
        moved(target)
        for path in files:
            path.unlink()
    _remove_folders(models)
    return nbytes


def _is_there(path: Path, place: Path) -> bool:
    """Copied before. Raises `BadOption` where something else has the name."""
    if not place.exists():
        return False
    one, other = path.stat(), place.stat()
    if (one.st_size, int(one.st_mtime)) != (other.st_size, int(other.st_mtime)):
        raise BadOption(f"There is another {place} already.", "Name an empty folder.")
    return True


def _remove_folders(models: Path) -> None:
    """Those that are left, with the locks. What somebody put there meanwhile stays."""
    with disk.named_errors(f"deleting {models}"):
        for lock in models.rglob("*.lock"):
            lock.unlink(missing_ok=True)
        for folder in sorted((path for path in models.rglob("*") if path.is_dir()), reverse=True):
            disk.remove_empty(folder, models)
        disk.remove_empty(models, models.parent)
