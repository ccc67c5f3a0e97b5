"""What a model's folder holds, beside the files themselves: which commit they are of, their SHA-256, the
licence."""

from dataclasses import dataclass
from pathlib import Path

import msgspec

from engine.hub import disk, names
from engine.hub.gguf_names import is_gguf
from engine.hub.item import Repository


@dataclass(frozen=True, slots=True)
class Known:
    """A file that was found right when it came."""

    name: str
    nbytes: int
    sha256: str
    commit: str


@dataclass(frozen=True, slots=True)
class Manifest:
    """Attributes: `repository` (owner/name), "" for what was imported; `license`; `files` by name in the
    folder."""

    repository: str
    license: str
    files: dict[str, Known]


def read(folder: Path) -> Manifest | None:
    """None where there is none that can be understood."""
    try:
        return msgspec.json.decode((folder / names.MANIFEST).read_bytes(), type=Manifest)
    except (OSError, msgspec.MsgspecError):
        return None


def write(folder: Path, manifest: Manifest) -> None:
    """Raises OSError. A manifest that names no file is removed."""
    if manifest.files:
        disk.write_whole(folder / names.MANIFEST, msgspec.json.format(msgspec.json.encode(manifest)))
    else:
        (folder / names.MANIFEST).unlink(missing_ok=True)


def added(old: Manifest | None, repository: Repository, sha256: dict[str, str]) -> Manifest:
    """`old` with the files of `repository`; `sha256` by name.

    A GGUF file is a model of its own and stays beside them. What else came with another commit is no longer
    part of the model.
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
