"""Which files of a repository are one model: no second form of the same weights, and no pickles.

Pickle files are never taken: unpickling runs code.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from engine.errors import BadOption, ModelNotFound, UnsupportedModel
from engine.hub.gguf_names import is_gguf, model_of
from engine.hub.item import RemoteFile, Repository

_PICKLES = (".bin", ".pt", ".pth", ".ckpt", ".pkl", ".pickle", ".h5", ".msgpack")
_INDEX = "model.safetensors.index.json"
_SINGLE = "model.safetensors"
_SHARD = re.compile(r"model-\d{5}-of-\d{5}\.safetensors")
_BESIDE = (".json", ".jinja")  # configuration, tokenizer, chat template
_NO_MODEL = ("mmproj", "imatrix")  # projectors for pictures and statistics, in GGUF files too


@dataclass(frozen=True, slots=True)
class Offer:
    """A model in a repository. `name`: its (first) GGUF file, or "" for the folder in Hugging Face's
    layout."""

    name: str
    files: tuple[RemoteFile, ...]

    @property
    def nbytes(self) -> int:
        return sum(file.nbytes for file in self.files)


def offers(repository: Repository) -> list[Offer]:
    """All models in `repository`: the folder first, then GGUF files by size; a model in parts is one."""
    weights = _weights(repository.files)
    folder = []
    if weights:
        beside = [file for file in repository.files if "/" not in file.name and file.name.endswith(_BESIDE)]
        folder.append(Offer("", (*weights, *beside)))
    models: dict[str, list[RemoteFile]] = {}
    for file in sorted(repository.files, key=lambda file: file.name):
        if is_gguf(file.name) and not file.name.rpartition("/")[2].lower().startswith(_NO_MODEL):
            models.setdefault(model_of(file.name), []).append(file)
    found = [Offer(files[0].name, tuple(files)) for files in models.values()]
    return folder + sorted(found, key=lambda offer: offer.nbytes)


def choose(repository: Repository, files: Sequence[str] = ()) -> Repository:
    """`repository` with the files of one model only: those that `files` name (GGUF files; any part stands for
    all), or of the only model there. Raises `BadOption` where there is a choice, `ModelNotFound` for a name
    that is not there, `UnsupportedModel` where there is no model."""
    found = offers(repository)
    if files:
        chosen = [_named(repository, found, name) for name in files]
        wanted = {file.name: file for offer in chosen for file in offer.files}
        return replace(repository, files=tuple(wanted.values()))
    if not found:
        pickled = any(file.name.endswith(_PICKLES) for file in repository.files)
        raise UnsupportedModel(
            f"{repository.id} has {'its weights as pickles only' if pickled else 'no model'}.",
            "Choose a repository with .safetensors or .gguf files.",
        )
    if found[0].name and len(found) > 1:
        listed = ", ".join(f"{offer.name} ({offer.nbytes / 2**30:.1f} GiB)" for offer in found)
        raise BadOption(f"{repository.id} holds {len(found)} models.", f"Choose one with --file: {listed}.")
    return replace(repository, files=found[0].files)


def _named(repository: Repository, found: list[Offer], name: str) -> Offer:
    if name.lower().endswith(_PICKLES):
        raise UnsupportedModel(f"{name} is a pickle.", "Choose .safetensors or .gguf files.")
    for offer in found:
        if offer.name and any(file.name == name for file in offer.files):
            return offer
    listed = ", ".join(offer.name for offer in found if offer.name) or "none"
    raise ModelNotFound(f"{repository.id} has no GGUF file {name!r}.", f"It has: {listed}.")


def _weights(files: Sequence[RemoteFile]) -> list[RemoteFile]:
    """As `checkpoints.safetensors` reads them: what the index names, else the single file, else the only
    one."""
    here = [file for file in files if "/" not in file.name and file.name.endswith(".safetensors")]
    if any(file.name == _INDEX for file in files):
        shards = [file for file in here if _SHARD.fullmatch(file.name)]
        if shards:
            return shards
    single = [file for file in here if file.name == _SINGLE]
    return single or (here if len(here) == 1 else [])
