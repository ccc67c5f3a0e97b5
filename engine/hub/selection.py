"""Select the files of one model from a repository that may hold the same weights in several forms.

Pickle files are never selected: unpickling runs code.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from engine.catalog import Variant
from engine.checkpoints import gguf_parts
from engine.errors import BadOption, ModelNotFound, UnsupportedModel
from engine.hub.item import Item, RemoteFile, Repository, item
from engine.hub.names import is_gguf, model_of
from engine.hub.repository import Hub

_PICKLES = (".bin", ".pt", ".pth", ".ckpt", ".pkl", ".pickle", ".h5", ".msgpack")
_INDEX = "model.safetensors.index.json"
_SINGLE = "model.safetensors"
_SHARD = re.compile(r"model-\d{5}-of-\d{5}\.safetensors")
_BESIDE = (".json", ".jinja")  # files needed beside the weights: configuration, tokenizer, chat template


@dataclass(frozen=True, slots=True)
class RepositoryModel:
    """A model in a repository: a GGUF file with all its parts, or a folder in Hugging Face's layout.

    `name`: the name of the GGUF file or its first part; "" for a folder.
    """

    name: str
    files: tuple[RemoteFile, ...]

    @property
    def nbytes(self) -> int:
        return sum(file.nbytes for file in self.files)


def offers(repository: Repository) -> list[RepositoryModel]:
    """Return all models in `repository` to choose from: the folder in Hugging Face's layout first, then GGUF
    files by size. All parts of a split GGUF file are one model; an assistant beside others is none."""
    models = _models(repository)
    return [offer for offer in models if not gguf_parts.is_named_as_assistant(offer.name)] or models


def _models(repository: Repository) -> list[RepositoryModel]:
    weights = _weights(repository.files)
    folder = []
    if weights:
        beside = [file for file in repository.files if "/" not in file.name and file.name.endswith(_BESIDE)]
        folder.append(RepositoryModel("", (*weights, *beside)))
    models: dict[str, list[RemoteFile]] = {}
    for file in sorted(repository.files, key=lambda file: file.name):
        if is_gguf(file.name) and gguf_parts.is_model(file.name):
            models.setdefault(model_of(file.name), []).append(file)
    ggufs = [RepositoryModel(files[0].name, tuple(files)) for files in models.values()]
    return folder + sorted(ggufs, key=lambda offer: offer.nbytes)


def choose(repository: Repository, files: Sequence[str] = ()) -> Repository:
    """Return `repository` with only the files of the chosen models.

    files: names of GGUF files, of which any part stands for all parts. If empty, the folder in Hugging Face's
    layout is chosen, or else the only GGUF model. Raises `BadOption` if the user must choose between several
    GGUF models; `ModelNotFound` if a name in `files` is unknown; `UnsupportedModel` if there is no model, or
    a name is a pickle.
    """
    models = offers(repository)
    if files:
        chosen = [_named(repository, _models(repository), name) for name in files]
        wanted = {file.name: file for offer in chosen for file in offer.files}
        return replace(repository, files=tuple(wanted.values()))
    if not models:
        pickled = any(file.name.endswith(_PICKLES) for file in repository.files)
        raise UnsupportedModel(
            f"{repository.id} has {'its weights only as pickles' if pickled else 'no model'}.",
            "Choose a repository with .safetensors or .gguf files.",
        )
    if models[0].name and len(models) > 1:
        listed = ", ".join(f"{offer.name} ({offer.nbytes / 2**30:.1f} GiB)" for offer in models)
        raise BadOption(f"{repository.id} holds {len(models)} models.", f"Choose one with --file: {listed}.")
    return replace(repository, files=models[0].files)


def item_of(hub: Hub, variants: Sequence[Variant]) -> Item:
    """Return one item with the files of all `variants`, such as a target and its draft.

    Raises the errors of `Hub` and `choose`.
    """
    return item(
        " + ".join(variant.name for variant in variants),
        *(
            choose(
                hub.repository(variant.repository, variant.revision),
                variant.files if variant.format == "gguf" else (),
            )
            for variant in variants
        ),
    )


def _named(repository: Repository, models: list[RepositoryModel], name: str) -> RepositoryModel:
    if name.lower().endswith(_PICKLES):
        raise UnsupportedModel(f"{name} is a pickle.", "Choose .safetensors or .gguf files.")
    for offer in models:
        if offer.name and any(file.name == name for file in offer.files):
            return offer
    listed = ", ".join(offer.name for offer in models if offer.name) or "none"
    raise ModelNotFound(f"{repository.id} has no GGUF file {name!r}.", f"It has: {listed}.")


def _weights(files: Sequence[RemoteFile]) -> list[RemoteFile]:
    """Return the .safetensors files that `checkpoints.safetensors` would read.

    These are the shards if there is an index, else model.safetensors, else the only .safetensors file; an
    empty list if none of these exists.
    """
    weights = [file for file in files if "/" not in file.name and file.name.endswith(".safetensors")]
    if any(file.name == _INDEX for file in files):
        shards = [file for file in weights if _SHARD.fullmatch(file.name)]
        if shards:
            return shards
    single = [file for file in weights if file.name == _SINGLE]
    return single or (weights if len(weights) == 1 else [])
