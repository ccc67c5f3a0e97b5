"""Assistants of Gemma 4: small transformers, trained for one target, that guess its next token from its last
state and the token chosen there, as EAGLE does. Their layers have no keys and values of their own: they read
those of the target's last layers, with a window and with full attention, so an assistant keeps nothing of a
text. Every row of a tree reads the committed text alone, from the position of the root: what lies between the
root and a node is only in the state that is handed on.

A token's embedding, as the target has it, and a state are projected to the assistant's width; behind its
layers, one matrix gives logits, and another the state for the next token. The output head may be limited to
the tokens of those clusters whose centroids are most like the state.

Format and arithmetic are known from transformers (models/gemma4_assistant, and
SinglePositionMultiTokenCandidateGenerator in generation/candidate_generator.py), and agree with vLLM's
gemma4_mtp.py; both read in November 2026. Where these differ, this follows transformers: a row has the
position of the root, and where there is a window, it sees one token more than the window behind the last one.
vLLM says whose keys and values are read where no layer of the target shares any. No published assistant was
run here. In GGUF files, names are others (`engine.checkpoints.gguf_assistant`).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.arrays import Array, masked, on_host
from engine.checkpoints import Checkpoint, names
from engine.checkpoints.drafts import ASSISTANTS
from engine.checkpoints.limits import COUNT_LIMIT, VOCABULARY_LIMIT, WIDTH_LIMIT
from engine.errors import BadCheckpoint, UnsupportedModel, VocabularyMismatch
from engine.heads.files import HeadsFile
from engine.heads.fit import OTHER, TargetSizes
from engine.heads.interface import Allowed, Guessed, Guesses, guesses
from engine.model.configuration import Configuration
from engine.model.description import Description, describe, described
from engine.model.fields import WITHOUT_EFFECT, refuse_unknown_fields
from engine.model.interface import RowLayer
from engine.model.rope_parameters import FULL, SLIDING

EMBEDDING, HEAD = "model.embed_tokens.weight", "lm_head.weight"
CENTROIDS, ORDER = "masked_embedding.centroids.weight", "masked_embedding.token_ordering"
INTO, OUT_OF, LAST_NORM = "pre_projection.weight", "post_projection.weight", "model.norm.weight"
NORMS = (
    *("input_layernorm", "post_attention_layernorm"),
    *("pre_feedforward_layernorm", "post_feedforward_layernorm"),
)

_DEFAULTS = {  # of transformers' configuration class
    "use_ordered_embeddings": False,
    "num_centroids": 2048,
    "centroid_intermediate_top_k": 32,
    "tie_word_embeddings": True,
}
# Fields of the whole that are read otherwise, or that change nothing.
_NOTES = WITHOUT_EFFECT | {"model_type", "text_config", "backbone_hidden_size"}
# Fields of the layers that an assistant has one value for. All of its layers share keys and values.
_FIXED: dict[str, tuple[object, ...]] = {
    "hidden_size_per_layer_input": (None, 0),
    "vocab_size_per_layer_input": (None, 0),
    "use_double_wide_mlp": (None, False),
    "enable_moe_block": (None, False),
    "final_logit_softcapping": (None,),
}


@dataclass(frozen=True, slots=True)
class Assistant:
    """An assistant that fits its target.

    description: of its layers, as if each had rows of its own. reads: for each, the layer of the target whose
    rows it reads. windows: for each, how many of the last rows it reads; None: all. backbone: the width of
    the target's states. head: the name of the matrix that gives logits. clusters: the tokens of each cluster,
    int64 [clusters, tokens], or None. chosen: how many clusters give logits.
    """

    description: Description
    reads: tuple[RowLayer, ...]
    windows: tuple[int | None, ...]
    backbone: int
    head: str
    clusters: NDArray[np.int64] | None
    chosen: int

    @property
    def shapes(self) -> dict[str, tuple[int, ...]]:
        """The shapes of the tensors that are multiplied by, without biases."""
        width, inner = self.description.width, self.description.inner
        found: dict[str, tuple[int, ...]] = {
            INTO: (width, 2 * self.backbone),
            OUT_OF: (self.backbone, width),
            LAST_NORM: (width,),
            self.head: (self.description.rows, width),
        }
        if self.clusters is not None:
            found[CENTROIDS] = (len(self.clusters), width)
        for number, rows in enumerate(self.reads):
            path, queries = f"model.layers.{number}", self.description.heads * rows.width
            found |= {f"{path}.{name}.weight": (width,) for name in NORMS}
            found |= {
                f"{path}.self_attn.q_proj.weight": (queries, width),
                f"{path}.self_attn.q_norm.weight": (rows.width,),
                f"{path}.self_attn.o_proj.weight": (width, queries),
                f"{path}.mlp.gate_proj.weight": (inner, width),
                f"{path}.mlp.up_proj.weight": (inner, width),
                f"{path}.mlp.down_proj.weight": (width, inner),
                f"{path}.layer_scalar": (1,),
            }
        return found


def is_assistant_of(file: HeadsFile, target: Checkpoint) -> bool:
    """Return whether the assistant in `file` reads states as `target` has them, and knows its tokens.
    Whether all of it fits, `assistant_for` finds."""
    form = describe(target)
    text = file.config.get("text_config")
    rows = text.get("vocab_size") if isinstance(text, dict) else None
    knows = isinstance(rows, int) and rows >= form.rows
    return knows and file.config.get("backbone_hidden_size") == form.width


def assistant_for(file: HeadsFile, target: TargetSizes) -> Assistant:
    """Return what an assistant's configuration says of it, beside its target.

    Raises BadCheckpoint if the configuration is invalid or the assistant is for another target;
    UnsupportedModel if it asks for what is not computed here; VocabularyMismatch if it lacks tokens.
    """
    kind = file.config["model_type"]
    given = Configuration(file.path.name, kind, {**_DEFAULTS, **file.config})
    refuse_unknown_fields(kind, _NOTES | _DEFAULTS.keys(), file.config)
    backbone = given.whole("backbone_hidden_size", WIDTH_LIMIT)
    description = _layers(file.path.name, kind, given.part("text_config"))
    if description.rows < target.vocabulary:
        raise VocabularyMismatch(
            f"The assistant has {description.rows:,} tokens, the target has {target.vocabulary:,}.", OTHER
        )
    if backbone != target.width:
        raise BadCheckpoint(
            f"The assistant reads states of {backbone:,} numbers; the target's have {target.width:,}.", OTHER
        )
    clusters, chosen = None, 0
    if given.flag("use_ordered_embeddings"):
        count = given.whole("num_centroids", min(VOCABULARY_LIMIT, description.rows))
        chosen = given.whole("centroid_intermediate_top_k", min(COUNT_LIMIT, count))
        clusters = _clusters(file, description.rows, count)
    return Assistant(
        description,
        tuple(_read(target, description, layer) for layer in range(description.layers)),
        tuple(None if window is None else window + 1 for window in description.windows),
        backbone,
        EMBEDDING if given.flag("tie_word_embeddings") else HEAD,
        clusters,
        chosen,
    )


def unused(assistant: Assistant) -> set[str]:
    """Return the names of tensors that a file may have, and that nothing is multiplied by."""
    parts = ("k_proj", "v_proj", "k_norm", "v_norm")
    own = (f"model.layers.{layer}.self_attn" for layer in range(assistant.description.layers))
    return {ORDER, EMBEDDING, HEAD, *(f"{path}.{part}.weight" for path in own for part in parts)} - {
        assistant.head
    }


def best_of(guessed: Guessed, count: int, allowed: Allowed | None, vocabulary: int) -> Guesses:
    """Return the `count` most likely tokens after each guess, as `AssistantHead.best` does. vocabulary: the
    number of the target's tokens."""
    if guessed.tokens is None:
        logits = guessed.logits[:, :vocabulary]
        return guesses(logits if allowed is None else masked(logits, allowed), count)
    ids = on_host(guessed.tokens)
    may = ids < vocabulary
    if allowed is not None:
        may &= np.take_along_axis(allowed, np.minimum(ids, vocabulary - 1), axis=1)
    columns, log_probs = guesses(masked(guessed.logits, may), count)
    tokens = np.take_along_axis(ids, columns, axis=1)
    log_probs = np.where(np.take_along_axis(may, columns, axis=1), log_probs, np.float32(-np.inf))
    return tokens, log_probs


def chosen_tokens(scores: Array, assistant: Assistant) -> NDArray[np.int64]:
    """Return the tokens of the clusters with the best scores [rows, clusters], int64 [rows, tokens]."""
    assert assistant.clusters is not None
    best, _ = guesses(scores, assistant.chosen)
    return assistant.clusters[best].reshape(len(best), -1)


def _layers(name: str, kind: str, config: Mapping[str, Any]) -> Description:
    for key, plain in _FIXED.items():
        if config.get(key) not in plain:
            raise _refused(name, key, config[key])
    layers = config.get("num_hidden_layers")
    if config.get("num_kv_shared_layers") not in (None, 0, layers):
        raise _refused(name, "num_kv_shared_layers", config["num_kv_shared_layers"])
    if config.get("model_type") not in (None, ASSISTANTS[kind]):
        raise _refused(name, "model_type", config["model_type"])
    own = {key: value for key, value in config.items() if key not in _FIXED}
    settings = names.usual_config(own | {"model_type": ASSISTANTS[kind]})
    fixed = {"hidden_size_per_layer_input": 0, "num_kv_shared_layers": 0}
    return described(name, settings.pop("model_type"), settings | fixed)


def _refused(name: str, key: str, value: object) -> UnsupportedModel:
    return UnsupportedModel(
        f"The assistant {name} asks for {key[:60]}, which is not supported: {str(value)[:40]}.",
        "Choose another assistant, or run without one (--draft none).",
    )


def _read(target: TargetSizes, description: Description, layer: int) -> RowLayer:
    """Return the layer of the target whose rows a layer of the assistant reads."""
    kind = FULL if description.windows[layer] is None else SLIDING
    rows, heads = target.last_rows.get(kind), description.heads_of(layer)
    if rows is None or (rows.kv_heads, rows.width) != heads:
        there = f"{rows.kv_heads} heads of width {rows.width}" if rows else "none"
        raise BadCheckpoint(
            f"The assistant reads keys of {heads[0]} heads of width {heads[1]} in layers of the type {kind}; "
            f"the target has {there} there.",
            OTHER,
        )
    return rows


def _clusters(file: HeadsFile, rows: int, count: int) -> NDArray[np.int64]:
    """Return the tokens of each cluster."""
    order = file.tensors.get(ORDER)
    tokens = order.read() if order and order.shape == (rows,) else np.empty(0, np.int64)
    if rows % count or tokens.dtype.kind != "i" or not np.array_equal(np.sort(tokens), np.arange(rows)):
        raise BadCheckpoint(
            f"The tensor {ORDER} of {file.path.name} does not put {rows:,} tokens into {count:,} clusters.",
            "Download the assistant again, with all its files.",
        )
    return tokens.astype(np.int64).reshape(count, -1)
