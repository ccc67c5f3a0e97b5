"""Move the models folder with all its files to another place. A move can be killed at any point and repeated:
until all files are in the new folder, the old one is complete and in use; afterwards, the new one is.
"""

from collections.abc import Callable
from pathlib import Path

from engine import catalog
from engine.errors import BadOption, DiskProblem
from engine.files import sync_folder
from engine.hub import disk
from engine.hub.lock import all_locked
from engine.hub.stop import Stop

UNCHECKED = ".unchecked"  # ends the name of a copy that was not yet compared with its original


def move(
    models: Path,
    target: Path,
    stop: Stop,
    progress: Callable[[int, int], None],
    moved: Callable[[Path], None],
) -> int:
    """Move all files in `models` to `target`, including unfinished downloads. Return the bytes moved.

    Within a file system, files get a second name instead of being copied; copies are compared with their
    originals. progress: called with (bytes done, bytes in all). moved: called with the new folder once it is
    complete, before the old files are deleted. If the move ends before that, the old folder is unchanged, and
    a second call continues after the files already copied; if it ends later, a second call deletes the rest
    of the old files. Raises `BadOption` if there is no folder `models`, if one folder contains the other, or
    if a file in `target` is in the way; `DownloadRunning` if a download runs; `DiskFull`, `DiskProblem`,
    `Stopped`.
    """
    models, target = models.absolute(), target.absolute()
    if not models.is_dir():
        raise BadOption(f"The folder {models} does not exist.", "Nothing has been downloaded yet.")
    if target.is_relative_to(models) or models.is_relative_to(target):
        raise BadOption(f"One of {target} and {models} contains the other.", "Choose another folder.")
    with all_locked(models), disk.named_errors(f"moving the models to {target}"):
        files = [path for path in sorted(models.rglob("*")) if path.is_file() and _is_moved(path)]
        there = {path: target / path.relative_to(models) for path in files}
        nbytes = sum(path.stat().st_size for path in files)
        left = [path for path in files if not _is_copied(path, there[path])]
        target.mkdir(parents=True, exist_ok=True)
        if catalog.models_folder() != target:
            (target / catalog.MOVING).touch()
        done = nbytes - sum(path.stat().st_size for path in left)
        has_room = False  # known only once a file cannot be linked
        for path in left:
            begun = done

            def copied(nbytes_of_file: int, begun: int = begun) -> None:
                progress(begun + nbytes_of_file, nbytes)

            stop.check()
            if not disk.link(path, there[path]):
                if not has_room:
                    disk.check_free(target, nbytes - done)
                    has_room = True
                _copy(path, there[path], stop, copied)
            done += there[path].stat().st_size
            progress(done, nbytes)
        for folder in {place.parent for place in there.values()}:
            sync_folder(folder)  # the new names must be on the disk before the old ones go
        moved(target)
        (target / catalog.MOVING).unlink(missing_ok=True)
        for path in files:
            path.unlink()
    _remove_folders(models)
    return nbytes


def _is_moved(path: Path) -> bool:
    """Whether a move takes the file along: locks and the mark of an earlier move stay."""
    return path.suffix != ".lock" and path.name != catalog.MOVING


def _copy(path: Path, place: Path, stop: Stop, copied: Callable[[int], None]) -> None:
    """Copy a file, read the copy and compare it. Raises OSError, `DiskProblem`, `Stopped`."""
    unchecked = place.with_name(place.name + UNCHECKED)
    disk.copy(path, unchecked, stop, copied)
    if not disk.same_bytes(path, unchecked, stop):
        unchecked.unlink()
        raise DiskProblem(
            f"The copy of {path.name} differs from the file itself; nothing was deleted.",
            "Check the disk, then move the models again.",
        )
    unchecked.replace(place)


def _is_copied(path: Path, place: Path) -> bool:
    """Whether `path` has already been copied to `place`.

    Raises `BadOption` if `place` is a different file, by its size or its modification time.
    """
    if not place.exists():
        return False
    one, other = path.stat(), place.stat()
    if (one.st_size, int(one.st_mtime)) != (other.st_size, int(other.st_mtime)):
        raise BadOption(
            f"A different file {place} already exists.",
            f"Choose an empty folder, or delete that file or {path} first.",
        )
    return True


def _remove_folders(models: Path) -> None:
    """Delete the locks and all empty folders in `models`, and `models` itself if it is then empty.

    Files added in the meantime stay.
    """
    with disk.named_errors(f"deleting {models}"):
        for ours in [*models.rglob("*.lock"), models / catalog.MOVING]:
            ours.unlink(missing_ok=True)
        for folder in sorted((path for path in models.rglob("*") if path.is_dir()), reverse=True):
            disk.remove_empty(folder, models)
        disk.remove_empty(models, models.parent)
