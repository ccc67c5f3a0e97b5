"""What the build wrote about the package that this program came in: package.json in the program's folder."""

from pathlib import Path
from typing import Annotated, Literal

from msgspec import Meta, Struct

from engine.documents import read_json
from engine.launch import interpreter

Kind = Literal["setup", "appimage", "run", "deb"]
FILE = "package.json"


class Package(Struct, frozen=True):
    """The content of package.json.

    Attributes: `kind`, the kind of package; `version`; `releases`, the address of the release index;
    `public_key`, with which the index is verified, in hexadecimal. The last two are "" in a build without a
    signing key: such a program does not look for newer versions.
    """

    kind: Kind
    version: str
    releases: str = ""
    public_key: Annotated[str, Meta(pattern="^([0-9a-f]{64})?$")] = ""

    @property
    def can_look(self) -> bool:
        """Whether this program can look for newer versions."""
        return bool(self.releases and self.public_key)


def this_package() -> Package | None:
    """Return the package of the running program; None in a checkout, or if the file is damaged."""
    return package_in(interpreter.ROOT)


def package_in(folder: Path) -> Package | None:
    """Return the package whose program is in `folder`; None if nothing there says so."""
    try:
        return read_json(folder / FILE, Package)
    except (OSError, ValueError):
        return None
