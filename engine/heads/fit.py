"""How an EAGLE head fits its target: the layers that it reads, and the target's ids of its tokens."""

from collections.abc import Mapping
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from engine.arrays import Array, masked
from engine.checkpoints.safetensors import DAMAGED
from engine.errors import BadCheckpoint, VocabularyMismatch
from engine.heads.files import HeadsFile
from engine.heads.interface import Allowed, Guesses
from engine.model.interface import Model, RowLayer

OTHER = "Choose heads made for this target, or run without them (--draft none)."
_LIKE_EAGLE3 = ("eagle3", "p-eagle")


class TargetSizes(Protocol):
    """What tells whether heads fit a target, and whether compiled passes run them beside it. Attributes: as
    those of `Model`."""

    @property
    def width(self) -> int: ...

    @property
    def layers(self) -> int: ...

    @property
    def vocabulary(self) -> int: ...

    @property
    def last_rows(self) -> Mapping[str, RowLayer]: ...


def settings_of(file: HeadsFile) -> dict[str, Any]:
    """Return the head's configuration as that of a llama or, for DFlash, of a qwen3."""
    settings = {
        key: value for key, value in file.config.items() if key not in ("model_type", "architectures")
    }
    if file.kind == "eagle3":
        settings["num_hidden_layers"] = 1
    if file.kind in _LIKE_EAGLE3:
        settings.pop("norm_before_residual", None)
        settings["draft_vocab_size"] = settings.get("draft_vocab_size") or settings.get("vocab_size")
    return settings


def check_fit(file: HeadsFile, vocabulary: int, width: int, target: Model) -> None:
    """Raise VocabularyMismatch or BadCheckpoint if the head was made for another target. vocabulary, width:
    those that the head's configuration names."""
    if vocabulary < target.vocabulary:
        raise VocabularyMismatch(
            f"The heads have {vocabulary:,} tokens, the target has {target.vocabulary:,}.", OTHER
        )
    reads = (file.config.get("target_hidden_size") or width) if file.kind in _LIKE_EAGLE3 else width
    if reads != target.width:
        raise BadCheckpoint(
            f"The heads read states of {str(reads)[:20]} numbers; the target's have {target.width}.", OTHER
        )


def levels(file: HeadsFile, layers: int) -> tuple[int, ...]:
    """Return the numbers of the three target layers whose outputs EAGLE-3 reads.

    layers: how many layers the target has, n. The code of EAGLE-3 reads the inputs of layers 2, n / 2 and
    n - 3, so the outputs of layers 1, n / 2 - 1 and n - 4 are read. A config.json from SpecForge may name
    three other layers; then their outputs are read.
    """
    settings = file.config.get("eagle_config")
    named = settings.get("eagle_aux_hidden_state_layer_ids") if isinstance(settings, dict) else None
    chosen = named or [1, layers // 2 - 1, layers - 4]
    if (
        not isinstance(chosen, list)
        or not all(type(layer) is int and 0 <= layer < layers for layer in chosen)
        or len(set(chosen)) != 3
    ):
        raise BadCheckpoint(
            f"The heads read layers {str(chosen)[:80]} of the target, which has {layers} layers.", OTHER
        )
    return tuple(sorted(chosen))


def norms_before_residual(file: HeadsFile) -> bool:
    """Return whether the first layer of an EAGLE-3 or P-EAGLE head adds its results to the norm of the state
    that it reads, in place of that state: so do many heads that speculators has trained."""
    said = file.config.get("norm_before_residual")
    if not (said is None or isinstance(said, bool)):
        raise BadCheckpoint(f"The heads say {str(said)[:80]} where true or false is expected.", OTHER)
    return bool(said)


def masked_guesses(logits: Array, allowed: Allowed | None, ids: NDArray[np.int64]) -> Array:
    """Return a head's logits [rows, tokens of the head] with -inf for tokens that may not follow. allowed:
    bool [rows, target's vocabulary]; ids: as `target_ids` returns them."""
    if allowed is None:
        return logits
    return masked(logits, allowed[:, np.minimum(ids, allowed.shape[-1] - 1)])


def known_tokens(guesses: Guesses, ids: NDArray[np.int64], vocabulary: int) -> Guesses:
    """Return guesses of the head's tokens as those of the target's, with -inf for ids that are not tokens of
    the target. ids: as `target_ids` returns them."""
    tokens = ids[guesses[0]]
    return tokens, np.where(tokens < vocabulary, guesses[1], np.float32(-np.inf))


def target_ids(file: HeadsFile, vocabulary: int) -> NDArray[np.int64]:
    """Return the target's id for every token of the head, int64 [draft_vocab_size]. The file's tensor d2t has
    the differences between these ids and the head's own; without it, the ids are equal. vocabulary: number of
    ids that the head's configuration allows."""
    count = settings_of(file)["draft_vocab_size"] or vocabulary
    if type(count) is not int or not 1 <= count <= vocabulary:
        raise BadCheckpoint(f"config.json is not valid: draft_vocab_size is {str(count)[:40]}.", DAMAGED)
    ids: NDArray[np.int64] = np.arange(count)
    if d2t := file.tensors.get("d2t"):
        shifts = d2t.read()
        ids = ids + shifts if shifts.shape == ids.shape and shifts.dtype.kind == "i" else ids[:0]
    elif count != vocabulary:
        ids = ids[:0]
    if not len(ids) or not 0 <= ids.min() <= ids.max() < vocabulary or len(np.unique(ids)) < len(ids):
        raise BadCheckpoint(
            "The tensor d2t does not map the heads' tokens to the target's.", "Download the heads again."
        )
    return ids
