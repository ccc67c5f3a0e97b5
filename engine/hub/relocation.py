"""Move the models folder with all its files to another place."""

from collections.abc import Callable
from pathlib import Path

from engine.errors import BadOption
from engine.hub import disk
from engine.hub.lock import all_locked
from engine.hub.stop import Stop


def move(
    models: Path,
    target: Path,
    stop: Stop,
    progress: Callable[[int, int], None],
    moved: Callable[[Path], None],
) -> int:
    """Move all files in `models` to `target`, including unfinished downloads. Return the bytes moved.

    progress: called with (bytes done, bytes in all). moved: called with the new folder once it is complete,
    before the old files are deleted. If the move ends before that, the old folder is unchanged, and a second
    call continues after the files already copied. Raises `BadOption` if there is no folder `models`, if one
    folder contains the other, or if a file in `target` is in the way; `DownloadRunning` if a download runs;
    `DiskFull`, `DiskProblem`, `Stopped`.
    """
    models, target = models.absolute(), target.absolute()
    if not models.is_dir():
        raise BadOption(f"The folder {models} does not exist.", "Nothing has been downloaded yet.")
    if target.is_relative_to(models) or models.is_relative_to(target):
        raise BadOption(f"One of {target} and {models} contains the other.", "Choose another folder.")
    with all_locked(models), disk.named_errors(f"moving the models to {target}"):
        files = [path for path in sorted(models.rglob("*")) if path.is_file() and path.suffix != ".lock"]
        there = {path: target / path.relative_to(models) for path in files}
        nbytes = sum(path.stat().st_size for path in files)
        left = [path for path in files if not _is_copied(path, there[path])]
        target.mkdir(parents=True, exist_ok=True)
        if models.stat().st_dev != target.stat().st_dev:
            disk.check_free(target, sum(path.stat().st_size for path in left))
        done = nbytes - sum(path.stat().st_size for path in left)
        for path in left:
            begun = done

            def copied(nbytes_of_file: int, begun: int = begun) -> None:
                progress(begun + nbytes_of_file, nbytes)

            stop.check()
            disk.link_or_copy(path, there[path], stop, copied)
            done += there[path].stat().st_size
        moved(target)
        for path in files:
            path.unlink()
    _remove_folders(models)
    return nbytes


def _is_copied(path: Path, place: Path) -> bool:
    """Whether `path` has already been copied to `place`.

    Raises `BadOption` if `place` is a different file, by its size or its modification time.
    """
    if not place.exists():
        return False
    one, other = path.stat(), place.stat()
    if (one.st_size, int(one.st_mtime)) != (other.st_size, int(other.st_mtime)):
        raise BadOption(f"A different file {place} already exists.", "Choose an empty folder.")
    return True


def _remove_folders(models: Path) -> None:
    """Delete the locks and all empty folders in `models`, and `models` itself if it is then empty.

    Files added in the meantime stay.
    """
    with disk.named_errors(f"deleting {models}"):
        for lock in models.rglob("*.lock"):
            lock.unlink(missing_ok=True)
        for folder in sorted((path for path in models.rglob("*") if path.is_dir()), reverse=True):
            disk.remove_empty(folder, models)
        disk.remove_empty(models, models.parent)
