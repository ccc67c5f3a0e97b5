"""Models installed on this machine, singly and as pairs of a target and its draft. Imports no Qt."""

from collections.abc import Container, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path

from engine import catalog, hub, machine, planner
from engine.assets import RESOURCES
from engine.errors import SpecExecError
from engine.hub import StoredModel
from engine.planner import Plan
from engine.protocol.messages import Helps, Memory


@dataclass(frozen=True, slots=True)
class LocalModel:
    """A model on this machine.

    name: the model's id in the catalogue or, if it has none, its path as in `Load`. A path inside the models
        folder is relative to that folder, so that the folder may be moved.
    text: the name shown to the user.
    about: what the model is and what it is good at, in English, or "".
    path: the file or folder that is loaded.
    stored: the model in the models folder; None if it comes with the program.
    """

    name: str
    text: str
    nbytes: int
    about: str = ""
    path: Path | None = field(default=None, compare=False)
    stored: StoredModel | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class LocalPair:
    """A target with its draft. draft: None if this machine has no draft for the target."""

    target: LocalModel
    draft: LocalModel | None

    @property
    def nbytes(self) -> int:
        return self.target.nbytes + (self.draft.nbytes if self.draft else 0)


def models_here() -> list[LocalModel]:
    """Return the models in the models folder and in the program's resources, the largest first."""
    models: dict[str, LocalModel] = {}
    for folder in (catalog.models_folder(), RESOURCES / "models"):
        for stored in hub.stored(folder):
            id = next(iter(stored.ids), "")
            known = catalog.model_for(id)
            model = LocalModel(
                id or _path(stored.path),
                _text(id) if id else stored.name,
                stored.nbytes,
                known.about if known else "",
                stored.path,
                stored if folder == catalog.models_folder() else None,
            )
            models.setdefault(model.name, model)
    return sorted(models.values(), key=lambda model: -model.nbytes)


def pairs_here() -> list[LocalPair]:
    """Return a pair for each model, the largest first: the model and the draft that "auto" selects for it."""
    models = {model.name: model for model in models_here()}
    return [
        LocalPair(model, _heads(catalog.companion_for(name)) or _draft(name, models))
        for name, model in models.items()
        if not (model.path and catalog.is_companion(model.path))
    ]


def is_here(target: str | None, known: Container[str] | None = None) -> bool:
    """Return whether a target, named as in `Load`, is on this machine. known: the names of the models here,
    if they have been read already."""
    if target is None or Path(target).exists():
        return True
    return target in ({model.name for model in models_here()} if known is None else known)


def text_of(target: str | None) -> str:
    """Return the name shown to the user of a target that is named as in `Load`."""
    target = target or catalog.default_target()
    found = (model.text for model in models_here() if model.name == target)
    return next(found, Path(target).name)


def is_demo(target: str | None) -> bool:
    """Return whether a target, named as in `Load` or by its path, is the model included with the program."""
    if target is None or target == catalog.default_target():
        return True
    return Path(target).parent == RESOURCES / "models"


def _draft(target: str, models: Mapping[str, LocalModel]) -> LocalModel | None:
    """Return the draft model for a target or, if there is none, the trained heads that the program includes
    for it, or None."""
    return models.get(catalog.draft_for(target) or "") or _heads(catalog.heads_for(target))


def _heads(path: Path | None) -> LocalModel | None:
    """Return the heads, or the assistant, in a folder or a file."""
    if path is None:
        return None
    files = path.iterdir() if path.is_dir() else [path]
    return LocalModel(str(path), path.name, sum(file.stat().st_size for file in files))


def _path(path: Path) -> str:
    folder = catalog.models_folder()
    return path.relative_to(folder).as_posix() if path.is_relative_to(folder) else str(path)


def _text(id: str) -> str:
    variant = catalog.entries()[id]
    return f"{variant.name} · {variant.mix or variant.format.upper()}"


def plan(target: str, draft: str, context: int | None, held: Memory | None, helps: Helps) -> Plan | None:
    """Plan how a pair would be loaded; return None if its files cannot be read.

    held: memory of the loaded models, which would be freed first. helps: whether the processor may multiply
    by weights in RAM beside a graphics card, as in `Load`.

    Not to be called on the GUI thread: reading the headers of the files takes tenths of a second.
    """
    available = planner.profile_of(machine.probe(catalog.models_folder()), planner.cards())
    if held:
        available = replace(available, vram=available.vram + held.vram, ram=available.ram + held.ram)
    try:
        pair = outline(target, draft)
        pair = planner.with_stored_heads(pair, target) if draft == "auto" else pair
        asked = planner.asked_for(available, pair.target, helps)
        asked = replace(asked, context=context or asked.context)
        return planner.fastest(available, [pair], asked, ())[0]
    except SpecExecError:
        return None


@lru_cache(maxsize=64)
def outline(target: str, draft: str) -> planner.PairOutline:
    """Return the outline of a pair, without heads in folders. It is cached, since making it reads the headers
    of the files."""
    return planner.pair_named(target, draft)
