"""Items to download: files from repositories at fixed commits. A target and its draft can be one item."""

import hashlib
import re
from dataclasses import dataclass, replace
from typing import Annotated

from msgspec import Meta

from engine.hub import names
from engine.hub.errors import UnsafeName

MOST_NBYTES = 1 << 50  # of a file: more than any disk holds
Nbytes = Annotated[int, Meta(ge=0, le=MOST_NBYTES)]
_ID = re.compile(r"\w[\w.-]*/\w[\w.-]*")


@dataclass(frozen=True, slots=True)
class RemoteFile:
    """A file as the Hub lists it.

    Attributes: `name`, its path in the repository; `nbytes`, its size; `sha256`, in hexadecimal, "" for a
    small file that is stored in git itself; `blob_id`, git's SHA-1 of such a file, else "".
    """

    name: str
    nbytes: Nbytes
    sha256: str = ""
    blob_id: str = ""

    def same_content(self, other: "RemoteFile") -> bool:
        return (self.nbytes, self.sha256, self.blob_id) == (other.nbytes, other.sha256, other.blob_id)


@dataclass(frozen=True, slots=True)
class Repository:
    """A repository at one commit, with all its files or a selection of them.

    Attributes: `id`, owner/name; `commit`, in hexadecimal; `license`, as the Hub names it, or ""; `gated`,
    whether the repository requires an account and consent; `page`, the URL of its web page; `files`, all or
    some of its files. Raises `UnsafeName` if the id is not owner/name, or if a name is unsafe (`hub.names`).
    """

    id: str
    commit: str
    license: str
    gated: bool
    page: str
    files: tuple[RemoteFile, ...]

    def __post_init__(self) -> None:
        if not is_repository(self.id):
            raise UnsafeName(f"{self.id[:100]!r} is not a repository.", "Give it as OWNER/NAME.")
        names.checked_together(file.name for file in self.files)

    @property
    def nbytes(self) -> int:
        return sum(file.nbytes for file in self.files)


@dataclass(frozen=True, slots=True)
class Item:
    """The files of one download, which all get their final names together.

    Attributes: `name`, shown to the user; `repositories`, which list the files; `target` and `draft`, the
    pair of models that the download is for, as in `Load`, or "". One of the two may already be on this
    machine.
    """

    name: str
    repositories: tuple[Repository, ...]
    target: str = ""
    draft: str = ""

    @property
    def nbytes(self) -> int:
        return sum(repository.nbytes for repository in self.repositories)

    @property
    def id(self) -> str:
        """An identifier that depends on the repositories and file names but not on the commits.

        It is valid as a file name.
        """
        wanted = [
            [repository.id, *(file.name for file in repository.files)] for repository in self.repositories
        ]
        digest = hashlib.sha256(repr(wanted).encode()).hexdigest()
        return self.repositories[0].id.replace("/", "--") + "-" + digest[:12]


def is_repository(id: object) -> bool:
    """Return whether `id` is owner/name, and a safe path on every system."""
    return isinstance(id, str) and _ID.fullmatch(id) is not None and names.is_safe(id)


def item(name: str, *repositories: Repository) -> Item:
    """Return an item with the files of all `repositories`.

    Selections from the same repository, such as a target and its draft, become one.
    """
    together: dict[str, Repository] = {}
    for repository in repositories:
        known = together.get(repository.id)
        if known is not None:
            files = {file.name: file for file in (*known.files, *repository.files)}
            repository = replace(known, files=tuple(files.values()))
        together[repository.id] = repository
    return Item(name, tuple(together.values()))
