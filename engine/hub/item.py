"""What can be downloaded: files of repositories, pinned to a commit; a pair of models is one item."""

import hashlib
import re
from dataclasses import dataclass, replace

from engine.hub import names
from engine.hub.errors import UnsafeName

_ID = re.compile(r"\w[\w.-]*/\w[\w.-]*")


@dataclass(frozen=True, slots=True)
class RemoteFile:
    """A file as the Hub lists it.

    Attributes: `name` in its repository; `nbytes`; `sha256` in hexadecimal, or "" for a small file that lies
    in git itself: then `blob_id`, git's SHA-1 of it.
    """

    name: str
    nbytes: int
    sha256: str = ""
    blob_id: str = ""

    def same_content(self, other: "RemoteFile") -> bool:
        return (self.nbytes, self.sha256, self.blob_id) == (other.nbytes, other.sha256, other.blob_id)


@dataclass(frozen=True, slots=True)
class Repository:
    """A repository at one commit, with all its files or those that are wanted.

    Attributes: `id` (owner/name); `commit` (40 digits); `license`, as the Hub names it, "" where it does not;
    `gated`: asks for an account and consent; `page` for a person. Raises `UnsafeName` for an id or a file
    name that would not stay in its folder.
    """

    id: str
    commit: str
    license: str
    gated: bool
    page: str
    files: tuple[RemoteFile, ...]

    def __post_init__(self) -> None:
        if not _ID.fullmatch(self.id):
            raise UnsafeName(f"{self.id[:100]!r} is no repository.", "Give it as OWNER/NAME.")
        names.checked(self.id)
        names.checked_together(file.name for file in self.files)

    @property
    def nbytes(self) -> int:
        return sum(file.nbytes for file in self.files)


@dataclass(frozen=True, slots=True)
class Item:
    """What one download brings: all of it or nothing that looks like it.

    Attributes: `name`, for a person; `target`, `draft`: what it is for, as `Load` takes them, one of which
    may be here already; "" where nobody said.
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
        """The same for the same files of the same repositories, whatever the commit; fit for a file name."""
        wanted = [
            [repository.id, *(file.name for file in repository.files)] for repository in self.repositories
        ]
        digest = hashlib.sha256(repr(wanted).encode()).hexdigest()
        return self.repositories[0].id.replace("/", "--") + "-" + digest[:12]


def item(name: str, *repositories: Repository) -> Item:
    """Files of one repository that were chosen apart (a target and a draft of it) come together."""
    together: dict[str, Repository] = {}
    for repository in repositories:
        known = together.get(repository.id)
        if known is not None:
            files = {file.name: file for file in (*known.files, *repository.files)}
            repository = replace(known, files=tuple(files.values()))
        together[repository.id] = repository
    return Item(name, tuple(together.values()))
