"""Find the catalogue's models on this machine, by id or path."""

import difflib
import os
import re
import sys
from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from pathlib import Path

import platformdirs

from engine.assets import RESOURCES
from engine.catalog.loader import read_catalog
from engine.catalog.models import Catalog, CatalogModel, Variant
from engine.checkpoints import gguf
from engine.checkpoints.drafts import ASSISTANTS
from engine.checkpoints.gguf_parts import is_model, is_named_as_assistant
from engine.checkpoints.mistral import is_mistral_head
from engine.checkpoints.safetensors import read_json
from engine.errors import BadCheckpoint, BadOption, DiskProblem, ModelNotFound
from engine.files import named_path, write_whole

MODELS_VARIABLE = "SPECEXEC_MODELS"
MOVING = ".moving"  # a file that marks a folder to which models are being moved

_PART = re.compile(r"-\d{5}-of-\d{5}$")  # at the end of the name of a part of a GGUF file

LONGEST_PATH = 32_768  # bytes, which is what Windows allows


@cache
def catalog() -> Catalog:
    """Return the catalogue shipped with the program."""
    return read_catalog(RESOURCES / "catalog")


def entries() -> dict[str, Variant]:
    """Return all variants by id, in the order of the catalogue's files."""
    return catalog().variants


def models_folder() -> Path:
    """Return the one models folder, which holds all downloaded models.

    It is $SPECEXEC_MODELS, else the folder chosen by the user, else a folder among the user's data. As long
    as that one is empty, or a move to it has not finished, it is the folder of earlier versions, in the
    user's cache, if that holds models. Raises BadOption if the variable is not a path.
    """
    if chosen := os.environ.get(MODELS_VARIABLE):
        return named_path(chosen)
    if (kept := _chosen_folder()) is not None:
        return kept
    usual, former = _usual_folder(), _former_folder()
    is_usual = _holds_files(usual) and not (usual / MOVING).exists()
    return usual if is_usual or not _holds_files(former) else former


def left_behind() -> tuple[Path, Path] | None:
    """Return the folder of earlier versions and the folder to which its models should be moved, because
    cleaners empty caches. None if it holds no models, if the user wants to keep them there, or if
    $SPECEXEC_MODELS names the models folder."""
    former = _former_folder()
    if os.environ.get(MODELS_VARIABLE) or former.is_symlink() or not _holds_files(former):
        return None
    if (kept := _chosen_folder()) == former:
        return None
    return former, kept or _usual_folder()


def keep_models_folder(folder: Path) -> None:
    """Store `folder` as the models folder chosen by the user; $SPECEXEC_MODELS still overrides it.

    Raises DiskProblem.
    """
    file = _kept_folder()
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        write_whole(file, os.fsencode(folder.absolute()))
    except OSError as error:
        raise DiskProblem(
            f"The models folder could not be saved: {error.strerror}.", "Check the disk and its permissions."
        ) from error


def _chosen_folder() -> Path | None:
    """Return the folder stored by `keep_models_folder`, or None."""
    with suppress(OSError, BadOption):
        kept = os.fsdecode(_kept_folder().read_bytes()[:LONGEST_PATH]).strip()
        if Path(kept).is_absolute():
            return named_path(kept)
    return None


def _usual_folder() -> Path:
    return platformdirs.user_data_path("specexec-desktop", appauthor=False) / "models"


def _former_folder() -> Path:
    """Return the models folder of versions up to 0.1."""
    if sys.platform == "linux":
        return Path("~/.cache/specexec-desktop/models").expanduser()
    return platformdirs.user_cache_path("specexec-desktop", appauthor=False) / "models"


def _holds_files(folder: Path) -> bool:
    """Whether there is a file in `folder`, other than locks and the mark of a move."""
    return any(
        not name.endswith(".lock") and name != MOVING for _, _, names in os.walk(folder) for name in names
    )


def _kept_folder() -> Path:
    return platformdirs.user_data_path("specexec-desktop", appauthor=False) / "models-folder.txt"


def find(variant: Variant) -> Path | None:
    """Return the GGUF file of `variant`, or its folder for other formats; None if it is not installed.

    A GGUF file is looked for by its name in the resources and in the models folder, and where the repository
    has it in owner/name below that; a folder is owner/name in the models folder, and must contain
    config.json. Of variants whose files have one name, the one of the nearest size is meant outside
    owner/name.
    """
    own = models_folder() / variant.repository
    if variant.file:
        shared = [folder / variant.file_name for folder in (RESOURCES / "models", models_folder())]
        places = [place for place in shared if place.is_file() and _is_nearest(variant, place)]
        places += filter(Path.is_file, (own / variant.file_name, own / variant.file))
        return next(iter(places), None)
    return own if (own / "config.json").is_file() else None


def _is_nearest(variant: Variant, file: Path) -> bool:
    """Return whether no other variant whose file has this name is nearer to its size."""
    namesakes = [each for each in entries().values() if each.file_name == variant.file_name]
    if len(namesakes) == 1:
        return True
    nbytes = file.stat().st_size
    return min(namesakes, key=lambda each: abs(each.nbytes - nbytes)) is variant


def resolve(id_or_path: str) -> Path:
    """Return the path of a model's file or folder.

    id_or_path: a variant's id; a model's id, which stands for the first of its variants that is installed; a
    path; or a path below the models folder, such as owner/name. Raises `ModelNotFound`; `BadOption`
    if nothing can have such a path.
    """
    named = _named(id_or_path)
    if not named:
        for place in (id_or_path, models_folder() / id_or_path):
            if id_or_path and (path := named_path(place)).exists():
                return path
        raise ModelNotFound(
            f"No model {id_or_path!r} was found, neither in the catalogue nor as a file or folder.",
            f"Use an id such as {', '.join(_similar_ids(id_or_path))} (resources/catalog lists all), or the "
            "path of a .gguf file or of a folder with .safetensors files.",
        )
    installed = next(filter(None, map(find, named)), None)
    if installed is None:
        first = named[0]
        folder = models_folder() if first.file else models_folder() / first.repository
        raise ModelNotFound(
            f"{first.name} ({first.file_name or first.repository}, {first.nbytes / 2**30:.1f} GiB) is not "
            "installed.",
            f"Download it with specexec pull {first.id}, copy it into {folder}, or set {MODELS_VARIABLE} to "
            "the folder of your models.",
        )
    return installed


def default_target() -> str:
    """Return the id of the default target, the variant that is shipped with the program.

    If none is, returns the catalogue's first id.
    """
    embedded = [variant.id for variant in entries().values() if variant.embedded]
    return embedded[0] if embedded else next(iter(entries()))


def draft_for(target: str) -> str | None:
    """Return the best installed draft that the catalogue knows for `target`, or None.

    target: an id, or a path whose file name is in the catalogue. Returns the draft's id, or its path if the
    draft exists only in the folder of the path `target`.
    """
    beside = None if _named(target) else named_path(target).parent
    named = _matching(target)
    if not named:
        return None
    pairs = catalog().drafts_for(named[0].model)
    drafts = [draft for pair in pairs for draft in catalog().models[pair.draft].variants]
    for draft in drafts:
        if find(draft) is not None:
            return draft.id
    if beside is None:
        return None
    files = [beside / draft.file_name for draft in drafts if draft.file]
    return next((str(file) for file in files if file.is_file()), None)


def model_for(target: str) -> CatalogModel | None:
    """Return the catalogue's model of which `target`, as for `draft_for`, is a variant; None if it knows
    none."""
    named = _matching(target)
    return catalog().models[named[0].model] if named else None


def companion_for(target: str) -> Path | None:
    """Return the folder, or the GGUF file, of what the maker of `target` trained to draft for it; None if
    there is none.

    target: an id or a path. The catalogue's is looked for in the models folder, as owner/name; then any that
    lies beside the target. There is none for a model of the catalogue that names none.
    """
    models = [catalog().models[variant.model] for variant in _matching(target)]
    known = [model.companion for model in models if model.companion]
    places = [models_folder() / companion.repository for companion in known]
    if known or not models:
        places += _beside(target, is_named=bool(known))
    return next(filter(is_companion, places), None)


def _beside(target: str, is_named: bool) -> Iterator[Path]:
    """Yield where a companion may lie beside a target: in a folder `assistant` or `eagle` in the target's
    folder, or beside its file; in a GGUF file mtp-… there; or in a folder called as that one with
    -assistant or -EAGLE behind it.

    Models of the same sizes cannot be told apart by a companion's files. So beside a file, unless the
    catalogue names a companion of its model (`is_named`), the folder must hold no other model; and it is not
    the models folder, where models of all kinds lie.
    """
    with suppress(ModelNotFound):
        path = resolve(target).absolute()
        folder = path if path.is_dir() else path.parent
        if folder == models_folder().absolute():
            return
        if is_named or path.is_dir() or len(_models_in(folder)) == 1:
            yield from (folder / name for name in ("assistant", "eagle"))
            yield from sorted(file for file in folder.glob("*.gguf") if is_named_as_assistant(file.name))
            yield from (folder.parent / f"{folder.name}-{ending}" for ending in ("assistant", "EAGLE"))


def _models_in(folder: Path) -> set[str]:
    """Return the names of the models in a folder's GGUF files, those of the parts of one model as one."""
    names = (file.name for file in folder.glob("*.gguf"))
    models = (name for name in names if is_model(name) and not is_named_as_assistant(name))
    return {_PART.sub("", Path(name).stem) for name in models}


def heads_for(target: str) -> Path | None:
    """Return the folder of the heads shipped for `target`; None if there are none.

    target: as for `draft_for`.
    """
    for variant in _matching(target):
        for config in sorted((RESOURCES / "drafts").glob(f"{variant.model}-*/config.json")):
            return config.parent
    return None


def is_companion(folder: Path) -> bool:
    """Return whether `folder` holds an assistant or a head of Mistral AI, which drafts and cannot answer; or
    whether it is the GGUF file of an assistant."""
    if gguf.is_assistant(folder):
        return True
    with suppress(BadCheckpoint):
        if is_mistral_head(folder):
            return True
        if not (folder / "config.json").is_file() or not (folder / "model.safetensors").is_file():
            return False
        return read_json(folder / "config.json").get("model_type") in ASSISTANTS
    return False


def _named(id: str) -> list[Variant]:
    """Return the variant with this id, or all variants of the model with this id, or an empty list."""
    if id in entries():
        return [entries()[id]]
    model = catalog().models.get(id)
    return list(model.variants) if model else []


def _matching(target: str) -> list[Variant]:
    """Return what `_named` finds, or else the variants whose file has the same name as the path `target`."""
    name = Path(target).name  # "" of the current folder, as is the file name of variants without a file
    return _named(target) or [each for each in entries().values() if name and each.file_name == name]


def _similar_ids(id: str) -> list[str]:
    """Return ids similar to `id`; if there are none, the short ids (not made of model and format)."""
    similar = difflib.get_close_matches(id, [*entries(), *catalog().models], n=5)
    return similar or [id for id, variant in entries().items() if not id.startswith(variant.model)]
