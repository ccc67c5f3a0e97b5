"""Where an installed program keeps its versions, and how one takes the place of another.

A set-up of Windows and a .run file install each version into a folder of its own, `app-VERSION`; the file
`current` beside these folders names the one that their launchers start. An AppImage is one file, and a new
version is kept as `app-VERSION` in the work folder until it replaces that file. In both cases one rename
changes over, so that a process that is killed at any time leaves the old version or the new one.

The work folder also contains `trial`, the name of the new version that the next start tries; `tried`, once it
was started; and `refused`, the last version that did not start.
"""

import os
import shutil
import sys
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import psutil
from filelock import FileLock

from engine.files import sync_folder, write_whole
from engine.launch import interpreter
from engine.updates.package import Kind, this_package

PREFIX = "app-"  # of the folders and files that hold a version
MOST_NAME = 100  # bytes of a name in `trial` and `current`


@dataclass(frozen=True, slots=True)
class Installation:
    """An installed program that can be updated.

    Attributes: `kind`, its kind of package; `place`, the folder that holds its versions, or the AppImage;
    `work`, the folder in which an update is prepared; `running`, the name of the version that runs.
    """

    kind: Kind
    place: Path
    work: Path
    running: str

    @property
    def is_image(self) -> bool:
        return self.kind == "appimage"

    def path(self, name: str) -> Path:
        """Return the folder or the AppImage of a version that is not in use yet."""
        return (self.work if self.is_image else self.place) / name

    def lock(self) -> FileLock:
        """Return the lock that a process holds while it changes this installation. Raises OSError."""
        self.work.mkdir(exist_ok=True)
        return FileLock(self.work / "lock")

    # -- the new version -------------------------------------------------------------------------------------

    @property
    def trial(self) -> str | None:
        """The name of the new version that is to be tried; None if there is none."""
        name = _read(self.work / "trial")
        return name if name and name.startswith(PREFIX) and self.path(name).exists() else None

    @property
    def was_tried(self) -> bool:
        return (self.work / "tried").exists()

    @property
    def refused(self) -> str:
        """The version that was rolled back last, because it did not open its window; else ""."""
        return (_read(self.work / "refused") or "").removeprefix(PREFIX)

    def propose(self, name: str) -> None:
        """Let the next start try a version, whose files are complete. Raises OSError."""
        (self.work / "tried").unlink(missing_ok=True)
        sync_folder(self.path(name).parent)
        write_whole(self.work / "trial", name.encode(), single_writer=True)

    def mark_tried(self) -> None:
        write_whole(self.work / "tried", b"", single_writer=True)

    def accept(self, name: str) -> None:
        """Let the version that is tried take the place of the old one. Raises OSError."""
        if self.is_image:
            self.path(name).replace(self.place)
            sync_folder(self.place.parent)
            (self.work / "trial").unlink(missing_ok=True)
        else:
            (self.work / "trial").replace(self.place / "current")
            sync_folder(self.place)
        (self.work / "tried").unlink(missing_ok=True)

    def refuse(self, name: str) -> bool:
        """Give a version up that did not open its window. Return False if it has taken its place meanwhile.

        Raises OSError.
        """
        if self.trial != name:
            return False
        write_whole(self.work / "refused", name.encode(), single_writer=True)
        self.discard()
        return True

    def forget_refused(self) -> None:
        with suppress(OSError):
            (self.work / "refused").unlink()

    def discard(self) -> None:
        """Remove the version that was to be tried, if any. Raises OSError, but then it is tried no more."""
        name = self.trial
        (self.work / "trial").unlink(missing_ok=True)
        (self.work / "tried").unlink(missing_ok=True)
        if name is not None:
            remove(self.path(name))

    def command(self, name: str, arguments: list[str]) -> list[str]:
        """Return the command line that opens the window of a version."""
        path = self.path(name)
        if self.is_image:
            return [str(path), *arguments]
        python = path / Path(sys.executable).relative_to(interpreter.ROOT)
        return [str(python), "-I", "-X", "utf8", "-m", "app", *arguments]

    # -- what is left behind ---------------------------------------------------------------------------------

    def tidy(self) -> None:
        """Remove the versions before the one in use, and parts of others. What cannot be removed stays until
        later."""
        if self.is_image or _read(self.place / "current") != self.running:
            return
        kept = {self.running, self.trial}
        for path in [*self.place.glob(PREFIX + "*"), *self.place.glob(f".{PREFIX}*.leaving")]:
            if path.name not in kept and not is_in_use(path):
                with suppress(OSError):
                    remove(path)


def this_installation() -> Installation | None:
    """Return the installation of the running program; None if it cannot be updated by itself.

    That is a checkout, a package of the system's package manager, and a place that the user may not change.
    """
    package = this_package()
    root = interpreter.ROOT
    match package.kind if package else None:
        case "setup" | "run" as kind:
            place, running, changed = root.parent, root.name, root.parent
            if not (place / "current").is_file() or not running.startswith(PREFIX):
                return None
            work = place / "update"
        case "appimage" as kind:
            image = _running_image()
            if image is None:
                return None
            place, running, changed = image, "", image.parent
            if image.parent.name.endswith(".update") and image.name.startswith(PREFIX):  # the one being tried
                place = image.parent.with_name(image.parent.name.removesuffix(".update").removeprefix("."))
                running, changed = image.name, place.parent
            work = place.with_name(f".{place.name}.update")
        case _:
            return None
    return Installation(kind, place, work, running) if os.access(changed, os.W_OK) else None


def _running_image() -> Path | None:
    """Return the AppImage that this program runs from, as its starter names it; None if there is none."""
    image, folder = os.environ.get("APPIMAGE"), os.environ.get("APPDIR")
    if not image or not folder or not interpreter.ROOT.is_relative_to(Path(folder).resolve()):
        return None
    return Path(image)


def is_in_use(folder: Path) -> bool:
    """Return whether a program of the folder is running, as far as this user may know."""
    for process in psutil.process_iter(["exe"]):
        program = process.info["exe"]
        if program and Path(program).is_relative_to(folder):
            return True
    return False


def remove(path: Path) -> None:
    """Remove a version, also half of one. A folder gets another name first: none with a version's name is
    ever incomplete. Raises OSError."""
    if path.is_dir() and not path.is_symlink():
        leaving = path.with_name(f".{path.name}.leaving")
        shutil.rmtree(leaving, ignore_errors=True)
        path.replace(leaving)
        shutil.rmtree(leaving)
    else:
        path.unlink(missing_ok=True)


def _read(path: Path) -> str | None:
    """Return the name in a file; None if it is missing or contains no name."""
    try:
        with path.open("rb") as file:
            name = file.read(MOST_NAME + 1).decode().strip()
    except (OSError, ValueError):
        return None
    return name if name and len(name) <= MOST_NAME and not set(name) & set("/\\:") else None
