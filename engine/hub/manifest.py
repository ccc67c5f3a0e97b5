"""The manifest, a file in a model's folder with the commit and SHA-256 of each file, and the licence."""

from dataclasses import dataclass
from pathlib import Path

import msgspec
from msgspec import Raw, Struct

from engine.documents import json_of, read_json
from engine.files import sync_folder, write_whole
from engine.hub import disk, names
from engine.hub.errors import UnsafeName
from engine.hub.item import Nbytes, Repository, is_repository
from engine.hub.names import is_gguf


@dataclass(frozen=True, slots=True)
class Known:
    """A file in a manifest, as it was when it was downloaded or imported."""

    name: str
    nbytes: Nbytes
    sha256: str
    commit: str


@dataclass(frozen=True, slots=True)
class Manifest:
    """The content of a manifest.

    Attributes: `repository`, owner/name, or "" if what the manifest names is none; `license`, as the Hub
    names it, or ""; `files`, by their paths in the folder; `faults`, a sentence for each entry that was left
    out, and for a manifest that cannot be read at all.
    """

    repository: str
    license: str
    files: dict[str, Known]
    faults: tuple[str, ...] = ()


class _Written(Struct):
    """A manifest as a file; its entries are checked one by one."""

    repository: str
    license: str
    files: dict[str, Raw]


def read(folder: Path) -> Manifest | None:
    """Return the manifest in `folder`; None if it is missing. Damaged entries are left out and named."""
    path = folder / names.MANIFEST
    try:
        written = read_json(path, _Written)
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        return Manifest("", "", {}, (f"{path} cannot be read, so its files count as unknown: {error}.",))
    files: dict[str, Known] = {}
    faults: list[str] = []
    for name, entry in written.files.items():
        try:
            files[names.checked(name)] = json_of(bytes(entry), Known)
        except (ValueError, UnsafeName):
            faults.append(f"{path} has a damaged entry, which is left out: {name[:100]!r}.")
    known = is_repository(written.repository)
    if not known:
        faults.append(f"{path} names no repository but {written.repository[:100]!r}.")
    return Manifest(written.repository if known else "", written.license, files, tuple(faults))


def write(folder: Path, manifest: Manifest) -> None:
    """Write `manifest` to `folder`; if it lists no files, delete the manifest there. Raises OSError."""
    if manifest.files:
        written = {"repository": manifest.repository, "license": manifest.license, "files": manifest.files}
        content = msgspec.json.format(msgspec.json.encode(written))
        write_whole(folder / names.MANIFEST, content, single_writer=True)
    else:
        (folder / names.MANIFEST).unlink(missing_ok=True)


def added(old: Manifest | None, repository: Repository, sha256: dict[str, str]) -> Manifest:
    """Return the manifest `old` with the files of `repository` added. sha256: SHA-256 by file name.

    The GGUF files in `old` stay listed, because each is a model of its own. Its other files stay only if
    `repository` has nothing but GGUF files; otherwise they belong to an older state of the model.
    """
    new = {
        file.name: Known(file.name, file.nbytes, sha256[file.name], repository.commit)
        for file in repository.files
    }
    replaces = not all(is_gguf(name) for name in new)
    kept = {
        name: known for name, known in (old.files if old else {}).items() if is_gguf(name) or not replaces
    }
    return Manifest(repository.id, repository.license, kept | new)


def publish(models: Path, repository: Repository, sha256: dict[str, str]) -> None:
    """Give the downloaded files of `repository` their final names, then write the manifest.

    Deletes files of the old manifest that the new one no longer lists. sha256: SHA-256 by file name. A call
    that was interrupted can be repeated. Raises `DiskFull`, `DiskProblem`.
    """
    folder = models / repository.id
    with disk.named_errors(f"completing {repository.id}"):
        for file in repository.files:
            place = names.place(folder, file.name)
            part = place.with_name(place.name + names.PART)
            if part.exists():
                part.replace(place)
            place.with_name(place.name + names.SIDECAR).unlink(missing_ok=True)
            sync_folder(place.parent)
        old = read(folder)
        new = added(old, repository, sha256)
        write(folder, new)
        for name in (old.files.keys() if old else set()) - new.files.keys():
            place = names.place(folder, name)
            place.unlink(missing_ok=True)
            disk.remove_empty(place.parent, folder)
        sync_folder(folder)
