"""From parts that are whole to a model: names first, then the manifest."""

from pathlib import Path

from engine.hub import disk, manifest, names
from engine.hub.item import Repository


def publish(models: Path, repository: Repository, sha256: dict[str, str]) -> None:
    """All files of `repository` are here, some already under their names; `sha256` by name. Taken up again
    where it was interrupted. Raises `DiskFull`, `DiskProblem`."""
    folder = models / repository.id
    with disk.named_errors(f"completing {repository.id}"):
        for file in repository.files:
            place = names.place(folder, file.name)
            part = place.with_name(place.name + names.PART)
            if part.exists():
                part.replace(place)
            place.with_name(place.name + names.SIDECAR).unlink(missing_ok=True)
            disk.sync_folder(place.parent)
        old = manifest.read(folder)
        new = manifest.added(old, repository, sha256)
        manifest.write(folder, new)
        for name in (old.files.keys() if old else set()) - new.files.keys():
            place = names.place(folder, name)
            place.unlink(missing_ok=True)
            disk.remove_empty(place.parent, folder)
        disk.sync_folder(folder)
