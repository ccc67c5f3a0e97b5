"""EAGLE's head: a decoder layer that guesses the target's next state from its last one and the token chosen
there. Its own keys and values are cached, as a model's are.

EAGLE-1 and -2 (arXiv 2401.15077, 2406.16858) guess the state that the target's head reads, so that head gives
the logits. EAGLE-3 (arXiv 2503.01840) begins with states of a low, a middle and a high layer, and has a head
of its own, often over a part of the vocabulary.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor, nn
from transformers import LlamaConfig
from transformers.models.llama.modeling_llama import LlamaRotaryEmbedding

from engine.checkpoints.safetensors import DAMAGED
from engine.checkpoints.sizes import check_sizes
from engine.errors import BadCheckpoint, VocabularyMismatch
from engine.heads.borrowed import TargetHead, best
from engine.heads.eagle_layers import Eagle, Eagle3
from engine.heads.files import HeadsFile, Unread, fill
from engine.kv_cache import KVCache, head_dim, row_nbytes
from engine.model import ATTENTION, Model
from engine.rows import Rows, Visibility

OTHER = "Choose heads made for this target, or run without them (--draft none)."


class EagleHead:
    """Attributes: `method`, the drafter it is for; `hidden_layers`, what it reads of the target; `layers`;
    `parameters`; `nbytes` of weights and one cache; `no_states`, [0, width]."""

    method = "eagle"

    def __init__(self, file: HeadsFile, target: Model, context: int) -> None:
        """Raises BadCheckpoint or VocabularyMismatch where it does not fit the target."""
        config = _config(file)
        _check_fit(file, config, target)
        weights = dict(file.tensors)
        d2t, _ = weights.pop("d2t", None), weights.pop("t2d", None)
        if config.hidden_size == target.config.hidden_size:
            weights.pop("embed_tokens.weight", None)  # a copy of the target's, with which it was trained
        with _built_from(file), torch.device("meta"):
            three = file.kind == "eagle3"
            self._module: Any = Eagle3(config, target.config.hidden_size) if three else Eagle(config)
        _choose_biases(self._module, weights)
        fill(self._module, replace(file, tensors=weights), target.dtype, target.device)
        self._embed: Any = getattr(self._module, "embed_tokens", target.module.get_input_embeddings())
        self._target_head = None if three else TargetHead(target)
        self._ids = _target_ids(config, d2t).to(target.device) if three else None
        self._vocabulary = target.vocabulary
        with _built_from(file):
            self._rotary = LlamaRotaryEmbedding(config).to(target.device)
        self.layers = config.num_hidden_layers
        self.hidden_layers = _levels(file, target.layers) if three else (target.layers,)
        self.no_states = torch.empty(0, config.hidden_size, dtype=target.dtype, device=target.device)
        self.parameters = sum(weight.numel() for weight in self._module.parameters())
        self.nbytes = self.parameters * target.dtype.itemsize + context * row_nbytes(config, target.dtype)
        self.nbytes += self._target_head.nbytes if self._target_head else 0
        self._config = config
        self._kv_heads: int = config.num_key_value_heads  # type: ignore[assignment]
        self._context = context

    def new_cache(self) -> KVCache:
        """For one text, with room for `context` tokens."""
        like = self.no_states
        return KVCache(
            self.layers, self._kv_heads, head_dim(self._config), self._context, like.dtype, like.device
        )

    @torch.inference_mode()
    def fuse(self, hidden: Mapping[int, Tensor]) -> Tensor:
        """What `forward` begins with, [rows, width], from the target's states: layer -> [rows, width]."""
        states: Tensor = self._module.fuse(torch.cat([hidden[layer] for layer in self.hidden_layers], dim=-1))
        return states

    @torch.inference_mode()
    def forward(self, rows: Rows, states: Tensor, cache: KVCache) -> Tensor:
        """The guessed next states [rows, width]; the rows join the cache's tail.

        states: [rows, width], fused ones of the target, or guessed ones, at each row's position; the row's
        token is the one chosen there.
        """
        cache.reserve(len(rows))
        last = int(rows.positions.max())
        rows = rows.to(states.device)
        found: Tensor = self._module(
            self._embed(rows.tokens)[None],
            states[None],
            attention_mask=Visibility(rows, last, cache.length, rows.positions[:0]),
            position_embeddings=self._rotary(states, rows.positions[None]),
            past_key_values=cache,
        )
        cache.extend_tail(len(rows))
        return found[0]

    @torch.inference_mode()
    def best(self, states: Tensor, count: int) -> tuple[Tensor, Tensor]:
        """The likeliest tokens after guessed states [rows, width]: ids, and log-probabilities, -inf for what
        is no token of the target; both [rows, count]."""
        if self._ids is None:
            assert self._target_head is not None
            return best(self._target_head(states), count)
        rows, log_probs = best(self._module.logits(states), count)
        tokens = self._ids[rows]
        return tokens, log_probs.masked_fill(tokens >= self._vocabulary, -torch.inf)


def _config(file: HeadsFile) -> LlamaConfig:
    said = {key: value for key, value in file.config.items() if key not in ("model_type", "architectures")}
    if file.kind == "eagle3":
        said["num_hidden_layers"] = 1
        said["draft_vocab_size"] = said.get("draft_vocab_size") or said.get("vocab_size")
    with _built_from(file):
        config = LlamaConfig(**said)
    check_sizes(config.to_dict())  # with the defaults of what it does not say
    rows = config.draft_vocab_size if file.kind == "eagle3" else 1
    if type(rows) is not int or not 1 <= rows <= config.vocab_size:
        raise BadCheckpoint(f"config.json is not valid: draft_vocab_size is {str(rows)[:40]}.", DAMAGED)
    if config.num_hidden_layers > len(file.tensors):
        raise BadCheckpoint(
            f"config.json says {config.num_hidden_layers} layers, but there are {len(file.tensors)} tensors.",
            DAMAGED,
        )
    config._attn_implementation = ATTENTION
    return config


@contextmanager
def _built_from(file: HeadsFile) -> Iterator[None]:
    """transformers refuses a senseless configuration in many ways; here they become one."""
    try:
        yield
    except Exception as error:
        raise BadCheckpoint(
            f"The configuration of {file.path.name} makes no EAGLE head: {str(error)[:400]}",
            "Download the heads again, or choose others.",
        ) from error


def _choose_biases(module: nn.Module, weights: Mapping[str, Unread]) -> None:
    """A linear layer has a bias where the file has one for it: no setting says so for all of them."""
    for name, layer in module.named_modules():
        if isinstance(layer, nn.Linear):
            bias = nn.Parameter(torch.empty(layer.out_features, device="meta"))
            layer.register_parameter("bias", bias if f"{name}.bias" in weights else None)


def _check_fit(file: HeadsFile, config: LlamaConfig, target: Model) -> None:
    if config.vocab_size < target.vocabulary:
        raise VocabularyMismatch(
            f"The heads have {config.vocab_size:,} tokens, the target {target.vocabulary:,}.", OTHER
        )
    width, reads = target.config.hidden_size, config.hidden_size
    if file.kind == "eagle3":
        reads = getattr(config, "target_hidden_size", None) or reads
    if reads != width:
        raise BadCheckpoint(f"The heads read states of {reads} numbers; the target's have {width}.", OTHER)


def _levels(file: HeadsFile, layers: int) -> tuple[int, ...]:
    """The three layers of a target whose outputs EAGLE-3 reads. Its own code takes what goes into layers
    2, n / 2 and n - 3; SpecForge's config.json may name others, by their outputs."""
    said = file.config.get("eagle_config")
    said = said.get("eagle_aux_hidden_state_layer_ids") if isinstance(said, dict) else None
    found = said or [1, layers // 2 - 1, layers - 4]
    if (
        not isinstance(found, list)
        or not all(type(layer) is int and 0 <= layer < layers for layer in found)
        or len(set(found)) != 3
    ):
        raise BadCheckpoint(
            f"The heads read layers {str(found)[:80]} of the target, which has {layers} layers.", OTHER
        )
    return tuple(sorted(found))


def _target_ids(config: LlamaConfig, d2t: Unread | None) -> Tensor:
    """int64 [draft_vocab_size]: the target's id of each token of the head. d2t: how much larger it is
    than the head's own; without it they are the same."""
    ids = torch.arange(config.draft_vocab_size)
    if d2t is not None:
        shifts = d2t.read()
        ids = ids + shifts if shifts.shape == ids.shape and not shifts.is_floating_point() else ids[:0]
    elif len(ids) != config.vocab_size:
        ids = ids[:0]
    if (
        not len(ids)
        or not 0 <= int(ids.min()) <= int(ids.max()) < config.vocab_size
        or len(set(ids.tolist())) < len(ids)
    ):
        raise BadCheckpoint(
            "The tensor d2t does not say which tokens the heads guess.", "Download the heads again."
        )
    return ids
