"""Import models that this program did not download into the models folder."""

import re
from collections.abc import Callable
from pathlib import Path

from engine import catalog
from engine.checkpoints import open_checkpoint
from engine.errors import BadOption
from engine.hub import disk, manifest, names
from engine.hub.digest import digest_of
from engine.hub.item import RemoteFile, Repository
from engine.hub.lock import locked
from engine.hub.names import model_of
from engine.hub.selection import choose
from engine.hub.stop import Stop
from engine.hub.stored import StoredModel, find_stored

OWNER = "imported"  # the owner in owner/name of an imported model whose repository is unknown
_CACHED = re.compile(r".*/models--([\w.-]+?)--([\w.-]+)/snapshots/([0-9a-f]{40})")  # huggingface_hub's cache


def import_model(models: Path, source: Path, stop: Stop, progress: Callable[[int, int], None]) -> StoredModel:
    """Import the model at `source` into the folder `models`, and return it.

    source: a .gguf file, whose other parts are imported with it; or a folder, which may be in
    huggingface_hub's cache. If `source` is on the same file system, the imported files are hard links, which
    take no space; deleting either name leaves the other intact. progress: called with (bytes done, bytes in
    all). Raises the errors of `open_checkpoint` if `source` is not a model; `BadOption` if one of its files
    already exists in `models`; `DiskFull`, `DiskProblem`, `Stopped`.
    """
    source = source.absolute()
    open_checkpoint(source)
    repository = _described(source)
    home = names.place(models, repository.id)
    places = {file: names.place(home, file.name) for file in repository.files}
    if taken := [place for place in places.values() if place.exists()]:
        raise BadOption(f"{taken[0]} already exists.", "Delete it first: specexec models delete.")
    with locked(models, [repository.id]), disk.named_errors(f"importing {source.name}"):
        if source.stat().st_dev != models.stat().st_dev:
            disk.check_free(models, repository.nbytes)
        try:
            sha256 = _bring(source if source.is_dir() else source.parent, places, stop, progress)
        except BaseException:
            for place in places.values():
                place.unlink(missing_ok=True)
            disk.remove_empty(home, models)
            raise
        manifest.write(home, manifest.added(manifest.read(home), repository, sha256))
    loaded = home if (home / "config.json") in places.values() else min(places.values())
    return find_stored(models, loaded.relative_to(models).as_posix())


def _described(source: Path) -> Repository:
    """Return a `Repository` that lists only the files of the model at `source`."""
    folder = source if source.is_dir() else source.parent
    cached = _CACHED.fullmatch(folder.as_posix())
    id = f"{cached[1]}/{cached[2]}" if cached else _known(source) or f"{OWNER}/{_plain(source)}"
    with disk.named_errors(f"reading {folder}"):
        files = [file for file in folder.iterdir() if file.is_file()]
        if source.is_file():
            files = [file for file in files if model_of(file.name) == model_of(source.name)]
        listed = tuple(RemoteFile(file.name, file.stat().st_size) for file in files)
    return choose(Repository(id, cached[3] if cached else "", "", False, "", listed))


def _known(source: Path) -> str | None:
    """Return the repository (owner/name) in which the catalogue lists a file of this name, or None."""
    named = (variant for variant in catalog.entries().values() if variant.file_name == source.name)
    return next((variant.repository for variant in named), None)


def _plain(source: Path) -> str:
    return (
        re.sub(r"[^\w.-]+|^[^\w]+", "-", source.stem if source.is_file() else source.name).strip("-.")
        or "model"
    )


def _bring(
    folder: Path, places: dict[RemoteFile, Path], stop: Stop, progress: Callable[[int, int], None]
) -> dict[str, str]:
    """Link or copy the files in `folder` to their `places`; return the SHA-256 of each by its name."""
    total = sum(file.nbytes for file in places)
    sha256 = {}
    done = 0
    for file, place in places.items():
        begun = done

        def read(nbytes: int, begun: int = begun) -> None:
            progress(begun + nbytes, total)

        origin = (folder / file.name).resolve()
        sha256[file.name] = digest_of(origin, file, stop, read).sha256()
        disk.link_or_copy(origin, place, stop, lambda nbytes: None)
        done += file.nbytes
    return sha256
