"""Check the names of a repository's files, and turn them into paths below one folder.

The rules are the same on every system: a name that is unsafe on one of them, such as a device name on
Windows, is refused on all.
"""

import re
import unicodedata
from collections.abc import Iterable
from pathlib import Path

from engine.checkpoints import gguf_parts
from engine.hub.errors import UnsafeName

MANIFEST = "specexec.json"
PART = ".part"
SIDECAR = ".part.json"

# Special on Windows: the mark of drive letters and alternate streams (:), the separator (\), wildcards and
# others. Control characters are unsafe anywhere.
_FORBIDDEN = re.compile(r'[<>:"|?*\\\x00-\x1f\x7f]')
# Control characters and marks of direction, which let a name look like another one.
_MISLEADING = re.compile("[\x80-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]")
# Names of devices on Windows, also with an extension ("nul.json"); superscript digits count as digits.
_DEVICE = re.compile(r"(con|prn|aux|nul|conin\$|conout\$|(com|lpt)[0-9¹²³]) *(\..*)?", re.IGNORECASE)
_LONGEST_PART = 200  # bytes; file systems allow 255, but partial downloads add an ending to the name
_LONGEST = 240


def checked(name: str) -> str:
    """Return `name` unchanged if it is a safe relative path with "/" between its parts.

    Raises `UnsafeName` otherwise.
    """
    try:
        encoded = [part.encode() for part in name.split("/")]
    except UnicodeEncodeError:
        raise _unsafe(name, "it is not valid text") from None
    if any(len(part) > _LONGEST_PART for part in encoded) or len(name.encode()) > _LONGEST:
        raise _unsafe(name, "it is too long")
    for part in name.split("/"):
        if part in ("", ".", ".."):
            raise _unsafe(name, "it leads out of the model's folder")
        if _FORBIDDEN.search(part) or part[-1] in ". " or part[0] == " ":
            raise _unsafe(name, "not every system allows it")
        if _MISLEADING.search(part):
            raise _unsafe(name, "it does not look like what it is")
        if _DEVICE.fullmatch(part):
            raise _unsafe(name, "it is a device name on Windows")
    last = name.rpartition("/")[2].lower()
    if last == MANIFEST or last.endswith((PART, SIDECAR)):
        raise _unsafe(name, "this program uses such names for its own files")
    return name


def is_safe(name: str) -> bool:
    """Return whether `checked` accepts `name`."""
    try:
        checked(name)
    except UnsafeName:
        return False
    return True


def checked_together(names: Iterable[str]) -> None:
    """Check all `names`, alone and against each other.

    Raises `UnsafeName` if a name is unsafe, if two are the same file on a system that ignores case or the
    Unicode form, or if one is the folder of another.
    """
    seen: dict[str, str] = {}
    for name in names:
        key = unicodedata.normalize("NFC", checked(name)).casefold()
        if key in seen:
            raise _unsafe(name, f"it is the same file as {seen[key]} on some systems")
        seen[key] = name
    for key, name in seen.items():
        parts = key.split("/")
        if any("/".join(parts[:end]) in seen for end in range(1, len(parts))):
            raise _unsafe(name, "its folder is also listed as a file")


def place(folder: Path, name: str) -> Path:
    """Return the path of the repository's file `name` below `folder`. Raises `UnsafeName`."""
    return folder.joinpath(*checked(name).split("/"))


def is_gguf(name: str) -> bool:
    return name.lower().endswith(".gguf")


def model_of(name: str) -> str:
    """Return a key that identifies the model of the GGUF file `name`.

    All parts of a split model (name-00001-of-00003.gguf) have the same key.
    """
    match = gguf_parts.PART.fullmatch(name)
    return f"{match[1]}-of-{match[3]}" if match else name


def _unsafe(name: str, reason: str) -> UnsafeName:
    return UnsafeName(
        f"The repository has a file with the unsafe name {name[:100]!r}: {reason}.",
        "Nothing was written. Choose another repository of this model.",
    )
