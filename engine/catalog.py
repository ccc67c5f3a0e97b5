"""Models known by name, where their files lie, and which draft goes with which target.

The list is resources/catalog.toml. Reads no model file; free of torch.
"""

import os
import sys
import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import platformdirs

from engine.errors import BadOption, ModelNotFound

RESOURCES = Path(__file__).resolve().parent.parent / "resources"
MODELS_VARIABLE = "SPECEXEC_MODELS"


@dataclass(frozen=True, slots=True)
class Entry:
    """One known model. `file` is a plain file name, `nbytes` its size in bytes, `draft` another entry's id
    or None; `embedded`: shipped with the program."""

    id: str
    name: str
    file: str
    sha256: str
    nbytes: int
    license: str
    draft: str | None = None
    embedded: bool = False


@cache
def entries() -> dict[str, Entry]:
    """All entries by id, in the order of the file."""
    file = RESOURCES / "catalog.toml"
    try:
        return parse(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise BadOption(
            "The list of models, resources/catalog.toml, is missing.", "Install the program again."
        ) from error


def parse(text: str) -> dict[str, Entry]:
    """The entries of a catalogue in TOML. Raises `BadOption` naming the faulty entry."""
    try:
        found = {key: Entry(id=key, **value) for key, value in tomllib.loads(text).items()}
    except (tomllib.TOMLDecodeError, TypeError) as error:
        raise BadOption(
            f"The list of models is not valid: {error}.", "Correct resources/catalog.toml."
        ) from error
    for entry in found.values():
        if Path(entry.file).name != entry.file:
            raise BadOption(
                f"The list of models is not valid: {entry.id}: file is no plain file name.", "Correct it."
            )
        if entry.draft is not None and entry.draft not in found:
            raise BadOption(
                f"The list of models is not valid: {entry.id}: no entry {entry.draft!r}.", "Correct it."
            )
    return found


def models_folder() -> Path:
    """Where downloaded models lie: $SPECEXEC_MODELS, else the user's cache folder."""
    if chosen := os.environ.get(MODELS_VARIABLE):
        return Path(chosen).expanduser()
    if sys.platform == "linux":
        return Path("~/.cache/specexec-desktop/models").expanduser()
    return platformdirs.user_cache_path("specexec-desktop", appauthor=False) / "models"


def find(entry: Entry) -> Path | None:
    """The file of `entry`, or None where it is not on this machine."""
    for folder in (RESOURCES / "models", models_folder()):
        if (folder / entry.file).is_file():
            return folder / entry.file
    return None


def resolve(id_or_path: str) -> Path:
    """The file or folder of a model given by catalogue id, or by path. Raises `ModelNotFound`."""
    entry = entries().get(id_or_path)
    if entry is None:
        path = Path(id_or_path).expanduser()
        if id_or_path and path.exists():
            return path
        known = ", ".join(entries())
        raise ModelNotFound(
            f"There is no model {id_or_path!r}, neither in the list of models nor as a file or folder.",
            f"Known ids: {known}. Or give the path of a .gguf file or of a folder with .safetensors files.",
        )
    found = find(entry)
    if found is None:
        raise ModelNotFound(
            f"The file of {entry.id} ({entry.file}, {entry.nbytes / 2**30:.1f} GiB) is not on this machine.",
            f"Put it into {models_folder()}, or set {MODELS_VARIABLE} to the folder it is in.",
        )
    return found


def default_target() -> str:
    """The id of the model to start with: the one shipped with the program."""
    embedded = [entry.id for entry in entries().values() if entry.embedded]
    return embedded[0] if embedded else next(iter(entries()))


def draft_for(target: str) -> str | None:
    """The draft the catalogue names for `target` (an id, or the path of a catalogue file).

    Its id, or its path where it lies only beside the target; None where it is nowhere, or there is none.
    """
    entry = entries().get(target) or _entry_of_file(Path(target).name)
    if entry is None or entry.draft is None:
        return None
    draft = entries()[entry.draft]
    if find(draft) is not None:
        return draft.id
    beside = Path(target).expanduser().parent / draft.file
    return str(beside) if target not in entries() and beside.is_file() else None


def _entry_of_file(name: str) -> Entry | None:
    return next((entry for entry in entries().values() if entry.file == name), None)
