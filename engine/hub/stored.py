"""What models lie in the models folder, whoever put them there."""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from engine import catalog
from engine.errors import BadOption, ModelNotFound
from engine.hub import manifest, names
from engine.hub.gguf_names import is_gguf, model_of
from engine.hub.manifest import Known


@dataclass(frozen=True, slots=True)
class Stored:
    """One model on this machine: a folder in Hugging Face's layout, or a GGUF file with all its parts.

    Attributes: `name`: where it lies below the models folder, with "/"; `ids`: what the catalogue calls it;
    `path`: the folder, or the (first) file, to be loaded; `files` of it that are here; `nbytes`; `known`:
    what the manifest says of each of its files, also of one that is missing; `home`: the folder of that
    manifest; `repository`, `commit` and `license`, "" where no manifest says them.
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


def stored(models: Path) -> list[Stored]:
    """All models below `models`, by name."""
    found = []
    for place, folders, files in os.walk(models):
        folders[:] = [name for name in folders if not name.startswith(".")]
        folder = Path(place)
        whole = [folder / name for name in sorted(files) if not _is_ours(name)]
        found += [_described(models, *model) for model in _models(folder, whole)]
    return sorted(found, key=lambda model: model.name)


def find_stored(models: Path, name: str) -> Stored:
    """The model of that name, catalogue id or repository. Raises `ModelNotFound`, and `BadOption` where
    several could be meant."""
    here = stored(models)
    named = [model for model in here if name in (model.name, *model.ids)]
    meant = named or [model for model in here if model.repository == name]
    if len(meant) > 1:
        listed = ", ".join(model.name for model in meant)
        raise BadOption(f"{name} may be several models.", f"Name one of them: {listed}.")
    if not meant:
        listed = ", ".join(model.name for model in here) or "none"
        raise ModelNotFound(f"There is no model {name} in {models}.", f"Here are: {listed}.")
    return meant[0]


def _is_ours(name: str) -> bool:
    return name == names.MANIFEST or name.startswith(".") or name.endswith((names.PART, names.SIDECAR))


def _models(folder: Path, files: list[Path]) -> Iterator[tuple[Path, list[Path]]]:
    """What to load, and the files it is made of."""
    if any(file.name == "config.json" for file in files) and any(
        file.suffix == ".safetensors" for file in files
    ):
        yield folder, [file for file in files if not is_gguf(file.name)]
    models: dict[str, list[Path]] = {}
    for file in files:
        if is_gguf(file.name):
            models.setdefault(model_of(file.name), []).append(file)
    for parts in models.values():
        yield parts[0], parts


def _described(models: Path, path: Path, files: list[Path]) -> Stored:
    name = path.relative_to(models).as_posix()
    home, said = _manifest(models, path if path.is_dir() else path.parent)
    known = {}
    if said is not None:
        entries = {names.place(home, entry): said.files[entry] for entry in said.files}
        known = {place: entry for place, entry in entries.items() if _belongs(place, path)}
    here = said if known else None
    commits = {entry.commit for entry in known.values()}
    return Stored(
        name=name,
        ids=tuple(
            variant.id
            for variant in catalog.entries().values()
            if name == f"{variant.repository}/{variant.file}".rstrip("/") or name == variant.file
        ),
        path=path,
        files=tuple(files),
        nbytes=sum(file.stat().st_size for file in files),
        known=known,
        home=home,
        repository=here.repository if here else "",
        commit=commits.pop() if len(commits) == 1 else "",
        license=here.license if here else "",
    )


def _belongs(file: Path, model: Path) -> bool:
    """Whether `file` is of the model that is loaded from `model`."""
    if is_gguf(model.name):
        return file.parent == model.parent and model_of(file.name) == model_of(model.name)
    return file.is_relative_to(model) and not is_gguf(file.name)


def _manifest(models: Path, folder: Path) -> tuple[Path, manifest.Manifest | None]:
    """The next one from `folder` upwards, and where it lies."""
    place = folder
    while place.is_relative_to(models):
        found = manifest.read(place)
        if found is not None:
            return place, found
        place = place.parent
    return folder, None
