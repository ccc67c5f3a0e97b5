"""The models under the names that clients give them: the one that is loaded, and those that are installed."""

from dataclasses import dataclass, field, replace
from pathlib import Path

from engine import catalog, hub
from engine.assets import RESOURCES
from engine.protocol import Loaded


@dataclass(frozen=True, slots=True)
class ServedModel:
    """A model that may be asked for.

    name: the name that the server lists. others: further names. target: the model as in `Load`. path: its
    file or folder. context: tokens; None: it is not loaded.
    """

    name: str
    others: tuple[str, ...]
    target: str
    path: Path
    context: int | None = field(default=None, compare=False)

    def is_called(self, name: str) -> bool:
        return name.lower() in {each.lower() for each in (self.name, *self.others)}


def installed() -> list[ServedModel]:
    """Return all models on this machine."""
    models: dict[str, ServedModel] = {}
    for folder in (catalog.models_folder(), RESOURCES / "models"):
        for stored in hub.stored(folder):
            id = next(iter(stored.ids), "")
            name = id or stored.name
            others = (stored.name, stored.path.stem, str(stored.path), stored.repository)
            model = ServedModel(name, tuple(filter(None, others)), id or str(stored.path), stored.path)
            models.setdefault(name, model)
    return list(models.values())


def loaded_model(loaded: Loaded, models: list[ServedModel]) -> ServedModel:
    """Return the loaded model under the same name as the installed one with its path."""
    path = Path(loaded.target.path)
    for model in models:
        if model.path == path or path in model.path.parents or model.path in path.parents:
            return replace(model, context=loaded.context)
    return ServedModel(loaded.target.name, (path.stem, str(path)), str(path), path, loaded.context)
