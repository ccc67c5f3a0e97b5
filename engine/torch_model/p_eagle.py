"""P-EAGLE heads (arXiv 2602.01469): EAGLE-3 heads of several layers that guess several tokens in one pass.
Behind the text stand rows of a mask token with a learnt state; each guesses one token further ahead.

The format and the pass are known from the code of vLLM (llama_eagle3.py, which loads mask_hidden) and of
vllm-project/speculators (models/peagle); the names of the layers behind the first from nkipy's description of
AWS' head for gpt-oss 20B. All were read in November 2026. No published head was run here.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from transformers import LlamaConfig
from transformers.models.llama.modeling_llama import LlamaDecoderLayer, LlamaRMSNorm, LlamaRotaryEmbedding

from engine.arrays import Array
from engine.errors import BadCheckpoint
from engine.heads.files import HeadsFile
from engine.heads.fit import (
    OTHER,
    check_fit,
    known_tokens,
    levels,
    masked_guesses,
    norms_before_residual,
    target_ids,
)
from engine.heads.interface import Allowed, BlockHead, Guesses, guesses
from engine.heads.p_eagle import p_eagle_settings
from engine.model.interface import Model
from engine.model.kv_cache import KVCache
from engine.model.rows import Rows
from engine.torch_model.eagle_layers import MidLayer
from engine.torch_model.head_config import built_from, config_of
from engine.torch_model.module_weights import choose_biases, count_of, fill, nbytes_of, without
from engine.torch_model.tensor_cache import TensorCache, head_dim, row_nbytes
from engine.torch_model.tensor_target import TensorTarget
from engine.torch_model.visibility import TensorRows, Visibility


class PEagle(nn.Module):
    """The layers, with the names used in the files: the first is EAGLE-3's, the others are a llama's."""

    def __init__(self, config: LlamaConfig, target_width: int, embeds: bool, normed: bool) -> None:
        """embeds: whether the head has an embedding of its own. normed: as for `MidLayer`."""
        super().__init__()
        width = config.hidden_size
        self.embed_tokens = nn.Embedding(config.vocab_size, width) if embeds else None
        self.mask_hidden = nn.Parameter(torch.empty(1, 1, 3 * target_width))
        self.fc = nn.Linear(3 * target_width, width)
        self.midlayer = MidLayer(config, normed)
        others = range(1, config.num_hidden_layers)
        self.layers = nn.ModuleDict({str(n): LlamaDecoderLayer(config, n) for n in others})
        self.norm = LlamaRMSNorm(width, config.rms_norm_eps)
        self.lm_head = nn.Linear(width, config.draft_vocab_size)

    def forward(self, tokens: Tensor, states: Tensor, **attention: Any) -> Tensor:
        """Return the guessed states. tokens: their embeddings; tokens, states: [1, rows, width]."""
        states = self.midlayer(tokens, states, **attention)
        for layer in self.layers.values():
            states = layer(states, **attention)
        return states


class TorchPEagleHead(BlockHead):
    """A P-EAGLE head that torch runs. Its states are tensors."""

    method = "p-eagle"

    def __init__(self, file: HeadsFile, target: Model, context: int) -> None:
        """Raises BadCheckpoint, UnsupportedModel or VocabularyMismatch if the head cannot run with the
        target."""
        self.positions, self._mask = p_eagle_settings(file)
        config = config_of(file)
        check_fit(file, config.vocab_size, config.hidden_size, target)
        self._target = of = TensorTarget(target)
        embeds = "embed_tokens.weight" in file.tensors
        if not embeds and config.hidden_size != target.width:
            raise BadCheckpoint(
                "The heads are narrower or wider than the target, but have no embedding.", OTHER
            )
        self._rows: int = config.vocab_size  # of that embedding
        weights = without(file, "d2t", "t2d")
        with built_from(file), torch.device("meta"):
            self._module = PEagle(config, target.width, embeds, norms_before_residual(file))
        choose_biases(self._module, weights.tensors)
        fill(self._module, weights, of.products, of.device)
        self._ids = target_ids(file, config.vocab_size)
        with built_from(file):
            self._rotary = LlamaRotaryEmbedding(config).to(target.device)
        self._check_mask()
        self.vocabulary = target.vocabulary
        self.layers = config.num_hidden_layers
        self.hidden_layers = levels(file, target.layers)
        self.no_states = torch.empty(0, config.hidden_size, dtype=of.dtype, device=of.device)
        self._shape = config.num_key_value_heads, head_dim(config)
        self._slots = context + self.positions  # masks may stand behind a full context
        self.parameters = count_of(self._module)
        self.nbytes = nbytes_of(self._module) + self._slots * row_nbytes(config, of.products)

    def new_cache(self) -> TensorCache:
        of = self._target
        return TensorCache([self._shape] * self.layers, self._slots, of.products, of.device)

    @torch.inference_mode()
    def fuse(self, hidden: Mapping[int, Array]) -> Tensor:
        read = [self._target.tensor(hidden[layer]) for layer in self.hidden_layers]
        states: Tensor = self._module.fc(torch.cat(read, dim=-1))
        return states

    @torch.inference_mode()
    def guess(self, tokens: Sequence[int], states: Tensor, cache: KVCache) -> Tensor:
        before, masks = len(states), self.positions - 1
        cache.reserve(before + masks)
        rows = Rows.text([*tokens, *[self._mask] * masks], cache.length)
        tensors = TensorRows.of(rows, self._target.device)
        masked = self._module.fc(self._module.mask_hidden[0]).expand(masks, -1)
        states = torch.cat([states, masked])[None]
        last = cache.length + len(rows) - 1
        guessed: Tensor = self._module(
            self._embedded(rows.tokens)[None],
            states,
            attention_mask=Visibility(tensors, last, cache.length, tensors.positions[:0]),
            position_embeddings=self._rotary(states, tensors.positions[None]),
            past_key_values=cache,
        )
        cache.extend_tail(len(rows))
        cache.keep(range(before))
        logits: Tensor = self._module.lm_head(self._module.norm(guessed[0, before - 1 :]))
        return logits

    def _embedded(self, tokens: np.ndarray[Any, np.dtype[np.int64]]) -> Tensor:
        own = self._module.embed_tokens
        if own is None:
            return self._target.embed(tokens)
        if int(tokens.max()) >= self._rows:  # a card would stop for good
            raise IndexError(f"The token {tokens.max()} is not in the embedding.")
        embedded: Tensor = own(torch.from_numpy(tokens).to(self._target.device))
        return embedded

    def _check_mask(self) -> None:
        try:
            self._embedded(np.array([self._mask], np.int64))
        except IndexError as error:
            raise BadCheckpoint(
                f"The heads' mask token {self._mask:,} is not in the embedding that they use.", OTHER
            ) from error

    @torch.inference_mode()
    def best(self, logits: Tensor, count: int, allowed: Allowed | None = None) -> Guesses:
        logits = masked_guesses(logits, allowed, self._ids)
        return known_tokens(guesses(logits, count), self._ids, self.vocabulary)
