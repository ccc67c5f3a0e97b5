"""EAGLE heads: decoder layers that guess the target's next state from its last state and the token chosen
there. They have a KV cache, like a model.

EAGLE-1 and -2 (arXiv 2401.15077, 2406.16858) guess the input of the target's output head, which then computes
the logits. EAGLE-3 (arXiv 2503.01840) starts from states of a low, a middle and a high layer, and has its own
output head, often over a part of the vocabulary.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from transformers import LlamaConfig
from transformers.models.llama.modeling_llama import LlamaRotaryEmbedding

from engine.arrays import Array, on_host
from engine.checkpoints.limits import check_sizes
from engine.checkpoints.safetensors import DAMAGED
from engine.errors import BadCheckpoint, VocabularyMismatch
from engine.heads.eagle_layers import Eagle, Eagle3
from engine.heads.files import HeadsFile, Unread, fill
from engine.heads.tensor_target import TensorTarget
from engine.model.interface import Model
from engine.model.kv_cache import KVCache
from engine.model.rows import Rows
from engine.sampling import best_tokens
from engine.torch_model.forward import ATTENTION
from engine.torch_model.tensor_cache import TensorCache, head_dim, row_nbytes
from engine.torch_model.visibility import TensorRows, Visibility

OTHER = "Choose heads made for this target, or run without them (--draft none)."


class EagleHead:
    """An EAGLE head bound to a target.

    Attributes: `method`, the drafter that uses the head; `hidden_layers`, the target's layers whose states it
    reads; `layers` and `parameters`, how many of each it has; `nbytes`, the bytes of its weights and of one
    cache; `no_states`, an empty tensor of states, [0, width]."""

    method = "eagle"

    def __init__(self, file: HeadsFile, target: Model, context: int) -> None:
        """Raises BadCheckpoint or VocabularyMismatch if the head does not fit the target."""
        config = config_of(file)
        check_fit(file, config, target)
        self._target = of = TensorTarget(target)
        weights = dict(file.tensors)
        d2t, _ = weights.pop("d2t", None), weights.pop("t2d", None)
        if config.hidden_size == target.width:
            weights.pop("embed_tokens.weight", None)  # a copy of the target's, used in training
        with built_from(file), torch.device("meta"):
            three = file.kind == "eagle3"
            self._module: Any = Eagle3(config, target.width) if three else Eagle(config)
        _choose_biases(self._module, weights)
        fill(self._module, replace(file, tensors=weights), of.dtype, of.device)
        self._embed: Any = getattr(self._module, "embed_tokens", of.embed)
        if not three:
            of.keep_head()
        self._ids = target_ids(config, d2t) if three else None
        self._vocabulary = target.vocabulary
        with built_from(file):
            self._rotary = LlamaRotaryEmbedding(config).to(target.device)
        self.layers = config.num_hidden_layers
        self.hidden_layers = levels(file, target.layers) if three else (target.layers,)
        self.no_states = torch.empty(0, config.hidden_size, dtype=of.dtype, device=of.device)
        self.parameters = sum(weight.numel() for weight in self._module.parameters())
        self.nbytes = self.parameters * of.dtype.itemsize + context * row_nbytes(config, of.dtype) + of.nbytes
        self._config = config
        self._kv_heads: int = config.num_key_value_heads  # type: ignore[assignment]
        self._context = context

    def new_cache(self) -> TensorCache:
        """Return a cache for one text of up to `context` tokens."""
        like = self.no_states
        return TensorCache(
            self.layers, self._kv_heads, head_dim(self._config), self._context, like.dtype, like.device
        )

    @torch.inference_mode()
    def fuse(self, hidden: Mapping[int, Array]) -> Tensor:
        """Return the states [rows, width] with which `forward` starts. hidden: the target's states,
        layer -> [rows, width]."""
        levels = [self._target.tensor(hidden[layer]) for layer in self.hidden_layers]
        states: Tensor = self._module.fuse(torch.cat(levels, dim=-1))
        return states

    @torch.inference_mode()
    def forward(self, rows: Rows, states: Tensor, cache: KVCache) -> Tensor:
        """Return the guessed next states [rows, width]; the rows join the cache's tail.

        states: [rows, width], one per row: the target's, as `fuse` returns them, or guessed ones. The token
        of a row is the one that was chosen from its state.
        """
        cache.reserve(len(rows))
        last = int(rows.positions.max())
        tensors = TensorRows.of(rows, self._target.device)
        guessed: Tensor = self._module(
            self._embed(tensors.tokens)[None],
            states[None],
            attention_mask=Visibility(tensors, last, cache.length, tensors.positions[:0]),
            position_embeddings=self._rotary(states, tensors.positions[None]),
            past_key_values=cache,
        )
        cache.extend_tail(len(rows))
        return guessed[0]

    @torch.inference_mode()
    def best(self, states: Tensor, count: int) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
        """Return the `count` most likely tokens after each of the guessed states [rows, width]: ids and
        log-probabilities, both [rows, count]. Ids that are not tokens of the target have -inf."""
        logits = self._target.logits(states) if self._ids is None else self._module.logits(states)
        rows, log_probs = (on_host(part) for part in best_tokens(logits, count))
        return (
            (rows, log_probs)
            if self._ids is None
            else known_tokens(self._ids[rows], log_probs, self._vocabulary)
        )


def config_of(file: HeadsFile) -> LlamaConfig:
    settings = {
        key: value for key, value in file.config.items() if key not in ("model_type", "architectures")
    }
    if file.kind == "eagle3":
        settings["num_hidden_layers"] = 1
        settings["draft_vocab_size"] = settings.get("draft_vocab_size") or settings.get("vocab_size")
    with built_from(file):
        config = LlamaConfig(**settings)
    check_sizes(config.to_dict())  # including defaults for missing keys
    rows = config.draft_vocab_size if file.kind == "eagle3" else 1
    if type(rows) is not int or not 1 <= rows <= config.vocab_size:
        raise BadCheckpoint(f"config.json is not valid: draft_vocab_size is {str(rows)[:40]}.", DAMAGED)
    if config.num_hidden_layers > len(file.tensors):
        raise BadCheckpoint(
            f"config.json claims {config.num_hidden_layers} layers, but there are only "
            f"{len(file.tensors)} tensors.",
            DAMAGED,
        )
    config._attn_implementation = ATTENTION
    return config


@contextmanager
def built_from(file: HeadsFile) -> Iterator[None]:
    """Turn the many errors with which transformers rejects an invalid configuration into BadCheckpoint."""
    try:
        yield
    except Exception as error:
        raise BadCheckpoint(
            f"The configuration of {file.path.name} is not that of an EAGLE head: {str(error)[:400]}",
            "Download the heads again, or choose others.",
        ) from error


def _choose_biases(module: nn.Module, weights: Mapping[str, Unread]) -> None:
    """Give each linear layer a bias exactly if the file has one for it: no setting covers all layers."""
    for name, layer in module.named_modules():
        if isinstance(layer, nn.Linear):
            bias = nn.Parameter(torch.empty(layer.out_features, device="meta"))
            layer.register_parameter("bias", bias if f"{name}.bias" in weights else None)


def check_fit(file: HeadsFile, config: LlamaConfig, target: Model) -> None:
    if config.vocab_size < target.vocabulary:
        raise VocabularyMismatch(
            f"The heads have {config.vocab_size:,} tokens, the target has {target.vocabulary:,}.", OTHER
        )
    width, reads = target.width, config.hidden_size
    if file.kind == "eagle3":
        reads = getattr(config, "target_hidden_size", None) or reads
    if reads != width:
        raise BadCheckpoint(f"The heads read states of {reads} numbers; the target's have {width}.", OTHER)


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


def known_tokens(
    tokens: NDArray[np.int64], log_probs: NDArray[np.float32], vocabulary: int
) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
    """Return both with a log-probability of -inf for ids that are not tokens of the target."""
    return tokens, np.where(tokens < vocabulary, log_probs, np.float32(-np.inf))


def target_ids(config: LlamaConfig, d2t: Unread | None) -> NDArray[np.int64]:
    """Return the target's id for every token of the head, int64 [draft_vocab_size]. d2t: the differences
    between these ids and the head's own; without it, the ids are equal."""
    ids: NDArray[np.int64] = np.arange(config.draft_vocab_size)
    if d2t is not None:
        shifts = d2t.read().numpy()
        ids = ids + shifts if shifts.shape == ids.shape and shifts.dtype.kind == "i" else ids[:0]
    elif len(ids) != config.vocab_size:
        ids = ids[:0]
    if (
        not len(ids)
        or not 0 <= int(ids.min()) <= int(ids.max()) < config.vocab_size
        or len(set(ids.tolist())) < len(ids)
    ):
        raise BadCheckpoint(
            "The tensor d2t does not map the heads' tokens to the target's.", "Download the heads again."
        )
    return ids
