"""Care for models that are here: verify and delete."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from engine.hub import disk, manifest, names
from engine.hub.digest import digest_of
from engine.hub.item import RemoteFile
from engine.hub.lock import locked
from engine.hub.stop import Stop
from engine.hub.stored import Stored


@dataclass(frozen=True, slots=True)
class Verified:
    """One file of a model. `state`: "unknown" where no manifest says what it should be."""

    path: Path
    nbytes: int
    sha256: str
    state: Literal["ok", "damaged", "missing", "unknown"]


def verify(model: Stored, stop: Stop, watch: Callable[[int, int], None]) -> list[Verified]:
    """Read every file and compare its SHA-256. `watch` hears (bytes done, of how many); `stop` ends it with
    `Stopped`. Raises `DiskProblem`."""
    done = 0
    found = []
    for path in model.files:
        begun = done

        def read(nbytes: int, begun: int = begun) -> None:
            watch(begun + nbytes, model.nbytes)

        known = model.known.get(path)
        expected = RemoteFile(path.name, known.nbytes if known else 0, known.sha256 if known else "")
        with disk.named_errors(f"reading {path.name}"):
            digest = digest_of(path, expected, stop, read)
            nbytes = path.stat().st_size
        state: Literal["ok", "damaged", "unknown"] = "unknown"
        if known is not None:
            state = "ok" if digest.matches() else "damaged"
        found.append(Verified(path, nbytes, digest.sha256(), state))
        done += nbytes
    missing = [path for path in model.known if path not in model.files]
    return found + [Verified(path, 0, "", "missing") for path in missing]


def delete(models: Path, model: Stored) -> int:
    """Returns the bytes that were freed. Raises `DownloadRunning`, `DiskProblem`."""
    freed = 0
    with locked(models, [model.repository or model.name]), disk.named_errors(f"deleting {model.name}"):
        for path in model.files:
            nbytes = path.stat().st_size
            path.unlink()
            freed += nbytes
        said = manifest.read(model.home)
        if said is not None:
            left = {
                name: known
                for name, known in said.files.items()
                if names.place(model.home, name) not in model.known
            }
            manifest.write(model.home, replace(said, files=left))
        for folder in {path.parent for path in model.files} | {model.home}:
            disk.remove_empty(folder, models)
    return freed
