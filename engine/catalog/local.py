"""Where the models of the catalogue lie on this machine, and which are meant by an id or a path."""

import difflib
import os
import sys
from contextlib import suppress
from functools import cache
from pathlib import Path

import platformdirs

from engine.catalog.listing import read_catalog
from engine.catalog.models import Catalog, Variant
from engine.errors import ModelNotFound

RESOURCES = Path(__file__).resolve().parents[2] / "resources"
MODELS_VARIABLE = "SPECEXEC_MODELS"


@cache
def catalog() -> Catalog:
    """The catalogue shipped with the program."""
    return read_catalog(RESOURCES / "catalog")


def entries() -> dict[str, Variant]:
    """All that can be asked for by id, in the order of the files."""
    return catalog().variants


def models_folder() -> Path:
    """Where downloaded models lie: $SPECEXEC_MODELS, else where they were moved to, else the user's cache."""
    if chosen := os.environ.get(MODELS_VARIABLE):
        return Path(chosen).expanduser()
    with suppress(OSError):
        return Path(_kept_folder().read_text(encoding="utf-8").strip())
    if sys.platform == "linux":
        return Path("~/.cache/specexec-desktop/models").expanduser()
    return platformdirs.user_cache_path("specexec-desktop", appauthor=False) / "models"


def keep_models_folder(folder: Path) -> None:
    """`models_folder` from now on, where no variable says otherwise. Raises OSError."""
    file = _kept_folder()
    file.parent.mkdir(parents=True, exist_ok=True)
    growing = file.with_suffix(".new")
    growing.write_text(str(folder), encoding="utf-8")
    growing.replace(file)


def _kept_folder() -> Path:
    return platformdirs.user_data_path("specexec-desktop", appauthor=False) / "models-folder.txt"


def find(variant: Variant) -> Path | None:
    """The file of `variant`, or its folder where it is no GGUF; None where it is not on this machine.

    A GGUF file may lie beside others; what is a folder lies under the repository's owner and name.
    """
    own = models_folder() / variant.repository
    if variant.file:
        places = [folder / variant.file for folder in (RESOURCES / "models", models_folder(), own)]
        return next((place for place in places if place.is_file()), None)
    return own if (own / "config.json").is_file() else None


def resolve(id_or_path: str) -> Path:
    """The file or folder of a model given by path, by its name in the models folder (owner/name), or by id: a
    variant's, or a model's for the first of its variants that is here. Raises `ModelNotFound`."""
    named = _named(id_or_path)
    if not named:
        for path in (Path(id_or_path).expanduser(), models_folder() / id_or_path):
            if id_or_path and path.exists():
                return path
        raise ModelNotFound(
            f"There is no model {id_or_path!r}, neither in the list of models nor as a file or folder.",
            f"Known ids: {', '.join(_like(id_or_path))}, and those in resources/catalog. Or give the path of "
            "a .gguf file or of a folder with .safetensors files.",
        )
    found = next(filter(None, map(find, named)), None)
    if found is None:
        first = named[0]
        folder = models_folder() if first.file else models_folder() / first.repository
        raise ModelNotFound(
            f"{first.name} ({first.file or first.repository}, {first.nbytes / 2**30:.1f} GiB) is not on this "
            "machine.",
            f"Download it: specexec pull {first.id}. Or put it into {folder}, or set {MODELS_VARIABLE} to "
            "the folder your models are in.",
        )
    return found


def default_target() -> str:
    """The id of the model to start with: the one shipped with the program."""
    embedded = [variant.id for variant in entries().values() if variant.embedded]
    return embedded[0] if embedded else next(iter(entries()))


def draft_for(target: str) -> str | None:
    """The draft the catalogue names for `target` (an id, or the path of a catalogue file).

    Its id, or its path where it lies only beside the target; None where it is nowhere, or there is none.
    """
    beside = None if _named(target) else Path(target).expanduser().parent
    named = _meant(target)
    if not named:
        return None
    pairs = catalog().drafts_for(named[0].model)
    drafts = [draft for pair in pairs for draft in catalog().models[pair.draft].variants]
    for draft in drafts:
        if find(draft) is not None:
            return draft.id
    if beside is None:
        return None
    files = [beside / draft.file for draft in drafts if draft.file]
    return next((str(file) for file in files if file.is_file()), None)


def heads_for(target: str) -> Path | None:
    """The folder of the heads that come with the program for `target`, an id or a path as in `draft_for`;
    None: there are none."""
    for variant in _meant(target):
        for config in sorted((RESOURCES / "drafts").glob(f"{variant.model}-*/config.json")):
            return config.parent
    return None


def _named(id: str) -> list[Variant]:
    """The variant of that id, or all of the model of that id."""
    if id in entries():
        return [entries()[id]]
    model = catalog().models.get(id)
    return list(model.variants) if model else []


def _meant(target: str) -> list[Variant]:
    """As `_named`, or the one whose file has the name of that path."""
    return _named(target) or [each for each in entries().values() if each.file == Path(target).name]


def _like(asked: str) -> list[str]:
    """Ids that look like it; where none does, those with short names of their own."""
    near = difflib.get_close_matches(asked, [*entries(), *catalog().models], n=5)
    return near or [id for id, variant in entries().items() if not id.startswith(variant.model)]
