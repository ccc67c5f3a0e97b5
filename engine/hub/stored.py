"""List, verify and delete the models in the models folder, wherever they came from."""

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from engine import catalog
from engine.checkpoints.mistral import PARAMS
from engine.errors import BadOption, ModelNotFound
from engine.hub import disk, manifest, names
from engine.hub.digest import digest_of
from engine.hub.item import RemoteFile
from engine.hub.lock import locked
from engine.hub.manifest import Known
from engine.hub.names import is_gguf, model_of
from engine.hub.stop import Stop
from engine.routing import RoutingFile


@dataclass(frozen=True, slots=True)
class StoredModel:
    """One model on this machine: a folder in Hugging Face's layout, or a GGUF file with all its parts.

    Attributes: `name`, its path below the models folder, with "/"; `ids`, the ids of the variants in the
    catalogue that it matches; `path`, the folder or (first) file to load; `files`, those that exist;
    `nbytes`, their size; `known`, the manifest's entries for its files, including missing files; `home`, the
    folder of that manifest; `repository`, `commit` and `license`, from the manifest, or ""; `faults`, what
    is wrong with the manifest, in sentences.
    """

    name: str
    ids: tuple[str, ...]
    path: Path
    files: tuple[Path, ...]
    nbytes: int
    known: dict[Path, Known]
    home: Path
    repository: str
    commit: str
    license: str
    faults: tuple[str, ...]


def stored(models: Path) -> list[StoredModel]:
    """Return all models below `models`, sorted by name."""
    listed = []
    for place, folders, files in os.walk(models):
        folders[:] = [name for name in folders if not name.startswith(".")]
        folder = Path(place)
        # A link to nowhere is no file.
        whole = [folder / name for name in sorted(files) if not _is_ours(name) and (folder / name).is_file()]
        listed += [_described(models, *model) for model in _models(folder, whole)]
    return sorted(listed, key=lambda model: model.name)


def find_stored(models: Path, name: str) -> StoredModel:
    """Return the model below `models` whose name, catalogue id or repository is `name`.

    Raises `ModelNotFound` if there is none; `BadOption` if there are several.
    """
    here = stored(models)
    named = [model for model in here if name in (model.name, *model.ids)]
    meant = named or [model for model in here if model.repository == name]
    if len(meant) > 1:
        listed = ", ".join(model.name for model in meant)
        raise BadOption(f"{name} matches several models.", f"Choose one of them: {listed}.")
    if not meant:
        listed = ", ".join(model.name for model in here) or "none"
        raise ModelNotFound(f"There is no model {name} in {models}.", f"The models there: {listed}.")
    return meant[0]


@dataclass(frozen=True, slots=True)
class Verified:
    """The result of verifying one file. `state`: "unknown" if no manifest lists the file's checksum."""

    path: Path
    nbytes: int
    sha256: str
    state: Literal["ok", "damaged", "missing", "unknown"]


def verify(model: StoredModel, stop: Stop, progress: Callable[[int, int], None]) -> list[Verified]:
    """Read every file of `model` and compare its SHA-256 with the manifest; return a result for each.

    progress: called with (bytes done, bytes in all). Raises `DiskProblem`, `Stopped`.
    """
    done = 0
    results = []
    for path in model.files:
        begun = done

        def read(nbytes: int, begun: int = begun) -> None:
            progress(begun + nbytes, model.nbytes)

        known = model.known.get(path)
        expected = RemoteFile(path.name, known.nbytes if known else 0, known.sha256 if known else "")
        with disk.named_errors(f"reading {path.name}"):
            digest = digest_of(path, expected, stop, read)
            nbytes = path.stat().st_size
        state: Literal["ok", "damaged", "unknown"] = "unknown"
        if known is not None:
            state = "ok" if digest.matches() else "damaged"
        results.append(Verified(path, nbytes, digest.sha256(), state))
        done += nbytes
    missing = [path for path in model.known if path not in model.files]
    return results + [Verified(path, 0, "", "missing") for path in missing]


def delete(models: Path, model: StoredModel) -> int:
    """Delete the files of `model`, its entries in the manifest, and what is kept of its routing. Return the
    bytes freed.

    Raises `DownloadRunning` if another process or download is working on the model; `DiskProblem`.
    """
    freed = 0
    with locked(models, [model.repository or model.name]), disk.named_errors(f"deleting {model.name}"):
        routing = RoutingFile(model.path)  # known by the files
        for path in model.files:
            nbytes = path.stat().st_size
            path.unlink()
            freed += nbytes
        old = manifest.read(model.home)
        if old is not None and model.known:
            left = {
                name: known
                for name, known in old.files.items()
                if names.place(model.home, name) not in model.known
            }
            manifest.write(model.home, replace(old, files=left))
        for folder in {path.parent for path in model.files} | {model.home}:
            disk.remove_empty(folder, models)
        routing.delete()
    return freed


def _is_ours(name: str) -> bool:
    return name == names.MANIFEST or name.startswith(".") or name.endswith((names.PART, names.SIDECAR))


def _models(folder: Path, files: list[Path]) -> Iterator[tuple[Path, list[Path]]]:
    """Yield (path to load, its files) for each model in `folder`. files: all files to consider there."""
    configured = any(file.name in ("config.json", PARAMS) for file in files)
    if configured and any(file.suffix == ".safetensors" for file in files):
        yield folder, [file for file in files if not is_gguf(file.name)]
    models: dict[str, list[Path]] = {}
    for file in files:
        if is_gguf(file.name):
            models.setdefault(model_of(file.name), []).append(file)
    for parts in models.values():
        yield parts[0], parts


def _described(models: Path, path: Path, files: list[Path]) -> StoredModel:
    name = path.relative_to(models).as_posix()
    home, nearest = _manifest(models, path if path.is_dir() else path.parent)
    known = {}
    if nearest is not None:
        entries = {names.place(home, entry): nearest.files[entry] for entry in nearest.files}
        known = {place: entry for place, entry in entries.items() if _belongs(place, path)}
    own = nearest if known else None
    commits = {entry.commit for entry in known.values()}
    return StoredModel(
        name=name,
        ids=tuple(
            variant.id
            for variant in catalog.entries().values()
            if name == f"{variant.repository}/{variant.file}".rstrip("/") or name == variant.file_name
        ),
        path=path,
        files=tuple(files),
        nbytes=sum(file.stat().st_size for file in files),
        known=known,
        home=home,
        repository=own.repository if own else "",
        commit=commits.pop() if len(commits) == 1 else "",
        license=own.license if own else "",
        faults=nearest.faults if nearest else (),
    )


def _belongs(file: Path, model: Path) -> bool:
    """Whether `file` is one of the files of a model. model: the file or folder that it is loaded from."""
    if is_gguf(model.name):
        return file.parent == model.parent and model_of(file.name) == model_of(model.name)
    return file.is_relative_to(model) and not is_gguf(file.name)


def _manifest(models: Path, folder: Path) -> tuple[Path, manifest.Manifest | None]:
    """Return the manifest in `folder` or in the nearest folder above it, and the folder where it is.

    Looks no higher than `models`. Returns (`folder`, None) if there is none.
    """
    place = folder
    while place.is_relative_to(models):
        nearest = manifest.read(place)
        if nearest is not None:
            return place, nearest
        place = place.parent
    return folder, None
