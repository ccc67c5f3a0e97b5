"""Newer files of a model that was downloaded before. Found only on request, because this contacts the Hub."""

from dataclasses import dataclass, replace
from pathlib import Path

from engine import catalog
from engine.errors import BadOption
from engine.hub import disk, names
from engine.hub.digest import digest_of
from engine.hub.item import Item, RemoteFile, Repository, item
from engine.hub.manifest import Known
from engine.hub.repository import Hub
from engine.hub.selection import choose
from engine.hub.stop import Stop
from engine.hub.stored import StoredModel


@dataclass(frozen=True, slots=True)
class Renewal:
    """The newest files of a stored model.

    Attributes: `repository`, at its newest commit, with all files of the model; `changed`, those of the files
    that differ from the stored ones.
    """

    repository: Repository
    changed: tuple[RemoteFile, ...]

    @property
    def nbytes(self) -> int:
        """The size of the download."""
        return sum(file.nbytes for file in self.changed)

    def item(self, name: str) -> Item:
        """Return what to download. The files that have not changed are found on the disk; the others replace
        the stored ones once all of them are complete and verified."""
        return item(name, self.repository)


def find_renewal(hub: Hub, model: StoredModel, stop: Stop) -> Renewal | None:
    """Ask the Hub for the newest files of `model`; return None if they are those that are stored.

    Raises `BadOption` if the model's repository is unknown; the errors of `Hub` and `choose`; `DiskProblem`,
    `Stopped`.
    """
    if not model.repository:
        raise BadOption(
            f"It is not known where {model.name} comes from.", "Download it again from the Hub to update it."
        )
    revision = next((catalog.entries()[id].revision for id in model.ids), "")
    newest = hub.repository(model.repository, revision)
    if newest.commit == model.commit:
        return None
    stored = {place.relative_to(model.home).as_posix(): known for place, known in model.known.items()}
    wanted = choose(newest, [name for name in stored if names.is_gguf(name)])
    if any(names.is_gguf(file.name) for file in wanted.files) != any(map(names.is_gguf, stored)):
        raise BadOption(
            f"{model.repository} no longer has this form of the model.",
            "Keep the stored one, or choose another.",
        )
    changed = tuple(
        file
        for file in wanted.files
        if not _is_stored(names.place(model.home, file.name), file, stored.get(file.name), stop)
    )
    return Renewal(replace(newest, files=wanted.files), changed) if changed else None


def _is_stored(place: Path, file: RemoteFile, known: Known | None, stop: Stop) -> bool:
    """Whether `file` is stored at `place`. Large files are judged by the manifest, small ones are read."""
    with disk.named_errors(f"reading {place.name}"):
        if known is None or not place.is_file() or place.stat().st_size != file.nbytes:
            return False
        if file.sha256:
            return known.sha256 == file.sha256
        return digest_of(place, file, stop, lambda nbytes: None).matches()
