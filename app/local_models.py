"""The models that lie on this machine, and the pairs they make. Knows no Qt."""

from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path

from engine import catalog, hub, machine, planner
from engine.errors import SpecExecError
from engine.planner import Plan
from engine.protocol.messages import Memory


@dataclass(frozen=True, slots=True)
class LocalModel:
    """name: the catalogue's id, or the path as `Load` takes it; in the models folder, from there on, for
    that may be moved. text: for a person."""

    name: str
    text: str
    nbytes: int


@dataclass(frozen=True, slots=True)
class LocalPair:
    """draft: None where there is none for this target."""

    target: LocalModel
    draft: LocalModel | None

    @property
    def nbytes(self) -> int:
        return self.target.nbytes + (self.draft.nbytes if self.draft else 0)


def models_here() -> list[LocalModel]:
    """In the models folder and in the program's own, the largest first."""
    folders = [catalog.models_folder(), catalog.RESOURCES / "models"]
    found: dict[str, LocalModel] = {}
    for stored in (each for folder in folders for each in hub.stored(folder)):
        id = next(iter(stored.ids), "")
        text = _text(id) if id else stored.name
        model = LocalModel(id or _path(stored.path), text, stored.nbytes)
        found.setdefault(model.name, model)
    return sorted(found.values(), key=lambda model: -model.nbytes)


def pairs_here() -> list[LocalPair]:
    """Every model as a target, with the draft that "auto" stands for; the largest first."""
    here = {model.name: model for model in models_here()}
    return [
        LocalPair(model, here.get(catalog.draft_for(name) or "") or _heads(name))
        for name, model in here.items()
    ]


def _heads(target: str) -> LocalModel | None:
    """Those that come with the program."""
    folder = catalog.heads_for(target)
    if folder is None:
        return None
    return LocalModel(str(folder), folder.name, sum(file.stat().st_size for file in folder.iterdir()))


def _path(path: Path) -> str:
    own = catalog.models_folder()
    return path.relative_to(own).as_posix() if path.is_relative_to(own) else str(path)


def _text(id: str) -> str:
    variant = catalog.entries()[id]
    return f"{variant.name} · {variant.mix or variant.format.upper()}"


def plan(target: str, draft: str, context: int | None, held: Memory | None) -> Plan | None:
    """What would come of loading it; None where its files cannot be read. held: what is loaded now, which
    would make room. Reads the headers of the files: not for the GUI thread."""
    here = planner.of_probed(machine.probe(catalog.models_folder()), planner.cards())
    if held:
        here = replace(here, vram=here.vram + held.vram, ram=here.ram + held.ram)
    try:
        return planner.plan_for(here, _outlined(target, draft), planner.Asked(context or planner.CONTEXT))
    except SpecExecError:
        return None


@lru_cache(maxsize=64)
def _outlined(target: str, draft: str) -> planner.Pair:
    return planner.pair_named(target, draft)
