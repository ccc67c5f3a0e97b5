"""A draft for a model that the catalogue does not know: proposed by its name, checked by its vocabulary.

Before anything large is downloaded only `tokenizer.json` can be compared; all else (special tokens, chat
template) the engine checks when it loads the pair. Knows no Qt.
"""

import re
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Literal

import msgspec

from engine import hub
from engine.catalog import Catalog, Variant
from engine.errors import SpecExecError
from engine.hub import Download, Hub, RemoteFile, Repository, Stop, Stopped

TOKENIZER = "tokenizer.json"
# A draft that takes more than this share of the target's bytes costs more time than it saves.
LARGEST_SHARE = 0.2
LARGEST_TOKENIZER = 64 << 20
_UNUSED = re.compile(r"[<\[]\W*(unused|pad|empty|reserved|extra|dummy)[\w -]*\W*[>\]]", re.IGNORECASE)
_LOOK_S = 0.1


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether a draft fits. `says`: "unknown" where it cannot be told before the download."""

    says: Literal["fits", "differs", "unknown"]
    message: str
    hint: str = ""


class _Bpe(msgspec.Struct):
    vocab: dict[str, int] | list[tuple[str, float]]


class _Added(msgspec.Struct):
    id: int
    content: str


class _Tokenizer(msgspec.Struct):
    """As `tokenizers` writes it."""

    model: _Bpe
    added_tokens: list[_Added] = []


def proposed(known: Catalog, target: Repository, nbytes: int) -> list[Variant]:
    """The catalogue's drafts for models of the family that the repository's name speaks of, best first, in
    their smallest form. nbytes: of the target."""
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


def check(source: Hub, known: Catalog, target: Repository, draft: Variant, stop: Stop) -> Verdict:
    """target: with all its files. Raises what `Hub` raises, and `Stopped`."""
    ours = _tokenizer(target)
    if ours is None:
        return Verdict(
            "unknown",
            f"{target.id} has no {TOKENIZER}, so whether {draft.name} fits shows only when both are loaded.",
            "If it does not fit, the model can still be loaded without a draft.",
        )
    home = _home(source, known, draft)
    theirs = _tokenizer(home) if home else None
    if home is None or theirs is None:
        return Verdict("unknown", f"Whether {draft.name} fits shows only when both are loaded.")
    if ours.same_content(theirs):
        return Verdict("fits", f"{draft.name} fits: both models share one vocabulary.")
    return compared(draft.name, _fetched(source, target, ours, stop), _fetched(source, home, theirs, stop))


def compared(name: str, target: dict[int, str], draft: dict[int, str]) -> Verdict:
    """target, draft: tokens by their numbers."""
    differing = [
        index
        for index in sorted(target.keys() | draft.keys())
        if target.get(index) != draft.get(index)
        and not (_is_unused(target.get(index)) and _is_unused(draft.get(index)))
    ]
    if not differing:
        return Verdict("fits", f"{name} fits: it numbers every token as the target does.")
    first = differing[0]
    return Verdict(
        "differs",
        f"{name} does not fit: it numbers {len(differing):,} of {len(target):,} tokens differently. "
        f"Token {first:,} is {_shown(target.get(first))} in the target and "
        f"{_shown(draft.get(first))} in the draft.",
        "Choose another draft, or none.",
    )


def vocabulary(content: bytes) -> dict[int, str]:
    """Tokens by their numbers, of a `tokenizer.json`. Raises msgspec.MsgspecError."""
    read = msgspec.json.decode(content, type=_Tokenizer)
    vocab = read.model.vocab
    tokens = (
        {index: token for token, index in vocab.items()}
        if isinstance(vocab, dict)
        else {index: token for index, (token, _) in enumerate(vocab)}
    )
    return tokens | {added.id: added.content for added in read.added_tokens}


def _home(source: Hub, known: Catalog, draft: Variant) -> Repository | None:
    """A repository of the draft, in whatever form, that has its tokenizer and asks for no account."""
    for variant in known.models[draft.model].variants:
        if variant.format != "gguf" and not variant.gated:
            found = source.repository(variant.repository, variant.revision)
            if _tokenizer(found):
                return found
    return None


def _tokenizer(repository: Repository) -> RemoteFile | None:
    files = {file.name: file for file in repository.files if file.nbytes <= LARGEST_TOKENIZER}
    return files.get(TOKENIZER)


def _fetched(source: Hub, repository: Repository, file: RemoteFile, stop: Stop) -> dict[int, str]:
    with TemporaryDirectory(prefix="specexec-") as folder:
        wanted = hub.item(repository.id, replace(repository, files=(file,)))
        download = Download(wanted, Path(folder), source)
        download.start()
        while (seen := download.wait(_LOOK_S)).state == "running":
            if stop.asked:
                download.pause()
        if stop.asked:
            raise Stopped
        if seen.state != "done":
            raise download.error or SpecExecError(f"{file.name} did not come.", "Try again.")
        try:
            return vocabulary((Path(folder) / repository.id / file.name).read_bytes())
        except msgspec.MsgspecError as error:
            raise SpecExecError(
                f"{file.name} of {repository.id} cannot be read.", "Choose another repository."
            ) from error


def _is_unused(token: str | None) -> bool:
    return token is None or _UNUSED.fullmatch(token) is not None


def _shown(token: str | None) -> str:
    return "missing" if token is None else repr(token)


def _squashed(name: str) -> str:
    return re.sub(r"[^a-z0-9]", "", name.lower())
