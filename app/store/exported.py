"""Files to which presets and prompts are exported."""

from pathlib import Path
from typing import Protocol, TypeVar

from app.store.errors import BadImport
from engine.documents import read_json

VERSION = 1


class Versioned(Protocol):
    """The content of such a file. A later version may add fields; an incompatible format will have a higher
    number than VERSION."""

    version: int


File = TypeVar("File", bound=Versioned)


def read_exported(path: Path, kind: type[File], fault: str, hint: str) -> File:
    """Read an exported file. fault: what is wrong with a file of another kind; hint: what to choose instead.

    Raises BadImport if the file cannot be read, or is of another kind or a newer version.
    """
    try:
        file = read_json(path, kind)
    except OSError as error:
        raise BadImport(
            f"{path} cannot be read: {error.strerror}.", "Check the file's permissions."
        ) from error
    except ValueError as error:
        raise BadImport(f"{path.name} {fault}: {error}.", hint) from error
    if file.version > VERSION:
        raise BadImport(f"{path.name} was written by a newer version.", "Update SpecExec Desktop.")
    return file
