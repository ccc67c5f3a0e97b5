"""Names of files that a repository offers, as places below one folder.

One rule for every system: what any of them would understand as more than a plain name is refused everywhere.
"""

import re
import unicodedata
from collections.abc import Iterable
from pathlib import Path

from engine.hub.errors import UnsafeName

MANIFEST = "specexec.json"
PART = ".part"
SIDECAR = ".part.json"

# Windows: drive letters and alternate streams (:), its separator (\), wildcards. Control characters anywhere.
_FORBIDDEN = re.compile(r'[<>:"|?*\\\x00-\x1f\x7f]')
# Windows' devices, with any extension too ("nul.json"); superscript digits count as digits.
_DEVICE = re.compile(r"(con|prn|aux|nul|conin\$|conout\$|(com|lpt)[0-9¹²³]) *(\..*)?", re.IGNORECASE)
_LONGEST_PART = 200  # bytes; file systems take 255, and ours get an ending
_LONGEST = 240


def checked(name: str) -> str:
    """`name`, relative and with "/" between its parts. Raises `UnsafeName`."""
    try:
        encoded = [part.encode() for part in name.split("/")]
    except UnicodeEncodeError:
        raise _unsafe(name, "it is no text") from None
    if any(len(part) > _LONGEST_PART for part in encoded) or len(name.encode()) > _LONGEST:
        raise _unsafe(name, "it is too long")
    for part in name.split("/"):
        if part in ("", ".", ".."):
            raise _unsafe(name, "it leads out of the model's folder")
        if _FORBIDDEN.search(part) or part[-1] in ". " or part[0] == " ":
            raise _unsafe(name, "not every system can have it")
        if _DEVICE.fullmatch(part):
            raise _unsafe(name, "it is a device of Windows")
    last = name.rpartition("/")[2].lower()
    if last == MANIFEST or last.endswith((PART, SIDECAR)):
        raise _unsafe(name, "this program keeps its own files under such names")
    return name


def checked_together(names: Iterable[str]) -> None:
    """No two names may be one file where case or the form of accents does not count, and no file may be
    another's folder. Raises `UnsafeName`."""
    seen: dict[str, str] = {}
    for name in names:
        key = unicodedata.normalize("NFC", checked(name)).casefold()
        if key in seen:
            raise _unsafe(name, f"it is {seen[key]} on some systems")
        seen[key] = name
    for key, name in seen.items():
        parts = key.split("/")
        if any("/".join(parts[:end]) in seen for end in range(1, len(parts))):
            raise _unsafe(name, "its folder is a file")


def place(folder: Path, name: str) -> Path:
    """Where the file `name` of a repository lies below `folder`. Raises `UnsafeName`."""
    return folder.joinpath(*checked(name).split("/"))


def _unsafe(name: str, reason: str) -> UnsafeName:
    return UnsafeName(
        f"The repository offers a file {name[:100]!r}: {reason}.",
        "Nothing was written. Choose the model from another repository.",
    )
