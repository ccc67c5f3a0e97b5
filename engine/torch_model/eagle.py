"""EAGLE heads: decoder layers that guess the target's next state from its last state and the token chosen
there. They have a KV cache, like a model.

EAGLE-1 and -2 (arXiv 2401.15077, 2406.16858) guess the input of the target's output head, which then computes
the logits; so do heads of Mistral AI (`engine.heads.mistral`). EAGLE-3 (arXiv 2503.01840) starts from states
of a low, a middle and a high layer, and has its own output head, often over a part of the vocabulary. The
layer for multi-token prediction that comes with some targets (`engine.torch_model.mtp`) works like EAGLE-1.
"""

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor, nn
from transformers.models.llama.modeling_llama import LlamaRotaryEmbedding

from engine.arrays import Array, masked
from engine.heads.files import EMBEDDING, LAST_NORM, HeadsFile
from engine.heads.fit import (
    check_fit,
    known_tokens,
    levels,
    masked_guesses,
    norms_before_residual,
    target_ids,
)
from engine.heads.interface import Allowed, EagleHead, Guesses, guesses
from engine.model.interface import Model
from engine.model.kv_cache import KVCache
from engine.model.rows import Rows
from engine.torch_model.eagle_layers import Eagle, Eagle3
from engine.torch_model.head_config import built_from, config_of
from engine.torch_model.module_weights import choose_biases, count_of, fill, nbytes_of, without
from engine.torch_model.mtp import load_mtp
from engine.torch_model.tensor_cache import TensorCache, head_dim, row_nbytes
from engine.torch_model.tensor_target import TensorTarget
from engine.torch_model.visibility import TensorRows, Visibility


class TorchEagleHead(EagleHead):
    """An EAGLE head that torch runs. Its states are tensors."""

    def __init__(self, file: HeadsFile, target: Model, context: int) -> None:
        """Raises BadCheckpoint or VocabularyMismatch if the head does not fit the target."""
        self._target = of = TensorTarget(target)
        three = file.kind == "eagle3"
        config: Any
        if file.layer:
            self._module: Any = load_mtp(file.layer, of.products, target.device)
            config = self._module.config
            self._rotary: Any = self._module.rotary_emb
            self.parameters = sum(weight.numel for weight in file.layer.weights.values())
        else:
            config = config_of(file)
            check_fit(file, config.vocab_size, config.hidden_size, target)
            self._module = _filled(file, config, target, of)
            with built_from(file):
                self._rotary = LlamaRotaryEmbedding(config).to(target.device)
            self.parameters = count_of(self._module)
        self._embed: Any = getattr(self._module, "embed_tokens", None)
        if not three:
            of.keep_head()
        self._ids = target_ids(file, config.vocab_size) if three else None
        self.vocabulary = target.vocabulary
        self.layers = config.num_hidden_layers
        self.hidden_layers = levels(file, target.layers) if three else (target.layers,)
        self.no_states = torch.empty(0, config.hidden_size, dtype=of.dtype, device=of.device)
        self.nbytes = nbytes_of(self._module) + context * row_nbytes(config, of.products) + of.nbytes
        self._config = config
        self._kv_heads: int = config.num_key_value_heads
        self._context = context

    @property
    def module(self) -> nn.Module:
        """The one with its weights."""
        module: nn.Module = self._module
        return module

    def new_cache(self) -> TensorCache:
        shapes = [(self._kv_heads, head_dim(self._config))] * self.layers
        return TensorCache(shapes, self._context, self._target.products, self._target.device)

    @torch.inference_mode()
    def fuse(self, hidden: Mapping[int, Array]) -> Tensor:
        levels = [self._target.tensor(hidden[layer]) for layer in self.hidden_layers]
        states: Tensor = self._module.fuse(torch.cat(levels, dim=-1))
        return states

    @torch.inference_mode()
    def forward(self, rows: Rows, states: Tensor, cache: KVCache) -> Tensor:
        cache.reserve(len(rows))
        last = int(rows.positions.max())
        tensors = TensorRows.of(rows, self._target.device)
        own = self._embed is not None
        embedded = self._embed(tensors.tokens) if own else self._target.embed(rows.tokens)
        guessed: Tensor = self._module(
            embedded[None],
            states[None],
            attention_mask=Visibility(tensors, last, cache.length, tensors.positions[:0]),
            position_embeddings=self._rotary(states, tensors.positions[None]),
            past_key_values=cache,
        )
        cache.extend_tail(len(rows))
        return guessed[0]

    @torch.inference_mode()
    def best(self, states: Tensor, count: int, allowed: Allowed | None = None) -> Guesses:
        if self._ids is None:
            logits = self._target.logits(states)
            return guesses(logits if allowed is None else masked(logits, allowed), count)
        logits = masked_guesses(self._module.logits(states), allowed, self._ids)
        return known_tokens(guesses(logits, count), self._ids, self.vocabulary)


def _filled(file: HeadsFile, config: Any, target: Model, of: TensorTarget) -> nn.Module:
    """Return the module of an EAGLE head with its weights."""
    copied = [EMBEDDING] if config.hidden_size == target.width else []  # used in training
    weights = without(file, "d2t", "t2d", *copied)
    with built_from(file), torch.device("meta"):
        three = file.kind == "eagle3"
        module: nn.Module
        if three:
            module = Eagle3(config, target.width, norms_before_residual(file))
        else:
            module = Eagle(config, LAST_NORM in weights.tensors)
    choose_biases(module, weights.tensors)
    fill(module, weights, of.products, of.device)
    return module
