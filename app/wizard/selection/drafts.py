"""Drafts for models that are not in the catalogue: proposed by name, checked by vocabulary.

Before a large download, only `tokenizer.json` can be compared; the engine checks everything else (special
tokens, chat template) when it loads the pair. Uses no Qt.
"""

import re
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Literal

import msgspec

from engine import hub
from engine.catalog import Catalog, Variant
from engine.checkpoints.vocabulary import ANOTHER_DRAFT, Vocabulary, vocabulary_difference
from engine.documents import json_of
from engine.errors import SpecExecError
from engine.hub import Download, Hub, RemoteFile, Repository, Stop, Stopped

TOKENIZER = "tokenizer.json"
# A draft larger than this share of the target's bytes costs more time than it saves.
LARGEST_SHARE = 0.2
LARGEST_TOKENIZER = 64 << 20
_LOOK_S = 0.1


@dataclass(frozen=True, slots=True)
class DraftCheck:
    """Whether a draft fits a target. `says` is "unknown" if only loading both can tell."""

    says: Literal["fits", "differs", "unknown"]
    message: str
    hint: str = ""


class _Bpe(msgspec.Struct):
    vocab: dict[str, int] | list[tuple[str, float]]


class _Added(msgspec.Struct):
    id: int
    content: str
    special: bool = False


class _Tokenizer(msgspec.Struct):
    """The parts of a `tokenizer.json` that define the vocabulary."""

    model: _Bpe
    added_tokens: list[_Added] = []


def propose(known: Catalog, target: Repository, nbytes: int) -> list[Variant]:
    """Return the catalogue's drafts, largest first, for the model family named in the repository's name.

    Each draft is in its smallest format, and left out if even that exceeds `LARGEST_SHARE` of `nbytes`.

    Args:
        nbytes: the size of the target.
    """
    named = _squashed(target.id.rpartition("/")[2])
    families = {model.family for model in known.models.values() if _squashed(model.family) in named}
    if not families:
        return []
    family = max(families, key=len)
    drafts = [pair.draft for pair in known.pairs if known.models[pair.draft].family == family]
    smallest = [
        min(known.models[id].variants, key=lambda variant: variant.nbytes) for id in dict.fromkeys(drafts)
    ]
    fitting = [variant for variant in smallest if variant.nbytes <= LARGEST_SHARE * nbytes]
    return sorted(fitting, key=lambda variant: -variant.nbytes)


def check(source: Hub, known: Catalog, target: Repository, draft: Variant, stop: Stop) -> DraftCheck:
    """Check whether a draft shares the target's vocabulary.

    Args:
        target: the target's repository, with all its files.

    Raises the errors of `Hub`; SpecExecError if a tokenizer cannot be downloaded or read; Stopped after a
    request to stop.
    """
    ours = _tokenizer(target)
    if ours is None:
        return DraftCheck(
            "unknown",
            f"{target.id} has no {TOKENIZER}, so {draft.name} can only be checked when both are loaded.",
            "If it does not fit, the model can still be loaded without a draft.",
        )
    home = _home(source, known, draft)
    theirs = _tokenizer(home) if home else None
    if home is None or theirs is None:
        return DraftCheck("unknown", f"{draft.name} can only be checked when both models are loaded.")
    if ours.same_content(theirs):
        return DraftCheck("fits", f"{draft.name} fits: both models have the same vocabulary.")
    return compared(
        draft.name,
        _fetch_vocabulary(source, target, ours, stop),
        _fetch_vocabulary(source, home, theirs, stop),
    )


def compared(name: str, target: Vocabulary, draft: Vocabulary) -> DraftCheck:
    """Return whether the draft numbers every token as the target does."""
    difference = vocabulary_difference(target, draft)
    if difference is None:
        return DraftCheck("fits", f"{name} fits: it numbers every token as the target does.")
    return DraftCheck("differs", f"{name} does not fit. {difference}", ANOTHER_DRAFT)


def vocabulary(content: bytes) -> Vocabulary:
    """Return the vocabulary of a `tokenizer.json`. Raises ValueError if it is invalid."""
    read = json_of(content, _Tokenizer)
    vocab = read.model.vocab
    tokens = (
        {index: token for token, index in vocab.items()}
        if isinstance(vocab, dict)
        else {index: token for index, (token, _) in enumerate(vocab)}
    )
    special = frozenset(added.id for added in read.added_tokens if added.special)
    return Vocabulary(tokens | {added.id: added.content for added in read.added_tokens}, special)


def _home(source: Hub, known: Catalog, draft: Variant) -> Repository | None:
    """Return a repository of the draft that has its `tokenizer.json` and requires no account, or None.

    It may contain the draft in any format except GGUF.
    """
    for variant in known.models[draft.model].variants:
        if variant.format != "gguf" and not variant.gated:
            repository = source.repository(variant.repository, variant.revision)
            if _tokenizer(repository):
                return repository
    return None


def _tokenizer(repository: Repository) -> RemoteFile | None:
    files = {file.name: file for file in repository.files if file.nbytes <= LARGEST_TOKENIZER}
    return files.get(TOKENIZER)


def _fetch_vocabulary(source: Hub, repository: Repository, file: RemoteFile, stop: Stop) -> Vocabulary:
    with TemporaryDirectory(prefix="specexec-") as folder:
        wanted = hub.item(repository.id, replace(repository, files=(file,)))
        download = Download(wanted, Path(folder), source)
        download.start()
        while (progress := download.wait(_LOOK_S)).state == "running":
            if stop.asked:
                download.pause()
        if stop.asked:
            raise Stopped
        if progress.state != "done":
            raise download.error or SpecExecError(f"{file.name} could not be downloaded.", "Try again.")
        try:
            return vocabulary((Path(folder) / repository.id / file.name).read_bytes())
        except ValueError as error:
            raise SpecExecError(
                f"{file.name} of {repository.id} cannot be read.", "Choose another repository."
            ) from error


def _squashed(name: str) -> str:
    return re.sub(r"[^a-z0-9]", "", name.lower())
