"""DFlash heads (arXiv 2602.06036): a block of a token and masks behind it, from which one pass guesses the
tokens that the masks stand for. The layers see the target's states of the text before the block as keys and
values; embedding and output head are the target's.

The format and the pass are known from the code of github.com/z-lab/dflash, read in November 2026. It was not
run with published weights here.
"""

from collections.abc import Mapping, Sequence

import numpy as np
import torch
from torch import Tensor
from transformers.models.qwen3.modeling_qwen3 import Qwen3RotaryEmbedding

from engine.arrays import Array, masked
from engine.errors import BadCheckpoint
from engine.heads.dflash import DFlashSettings, dflash_settings
from engine.heads.files import HeadsFile
from engine.heads.fit import OTHER, check_fit
from engine.heads.interface import Allowed, BlockHead, Guesses, guesses
from engine.model.interface import Model
from engine.model.kv_cache import KVCache
from engine.torch_model.dflash_layers import DFlash, DFlashLayer
from engine.torch_model.head_config import built_from, config_of
from engine.torch_model.module_weights import choose_biases, count_of, fill, nbytes_of
from engine.torch_model.tensor_cache import TensorCache, head_dim, row_nbytes
from engine.torch_model.tensor_target import TensorTarget
from engine.torch_model.visibility import TensorRows, Visibility


class TorchDFlashHead(BlockHead):
    """A DFlash head that torch runs. Its states are tensors."""

    method = "dflash"

    def __init__(self, file: HeadsFile, target: Model, context: int) -> None:
        """Raises BadCheckpoint, UnsupportedModel or VocabularyMismatch if the head cannot run with the
        target."""
        config = config_of(file)
        check_fit(file, config.vocab_size, config.hidden_size, target)
        self._settings = settings = dflash_settings(file, target.layers)
        self._target = of = TensorTarget(target)
        with built_from(file), torch.device("meta"):
            self._module = DFlash(config, len(settings.hidden_layers))
        choose_biases(self._module, file.tensors)
        fill(self._module, file, of.products, of.device)
        with built_from(file):
            self._rotary = Qwen3RotaryEmbedding(config).to(target.device)
        self._mask = _mask_embedding(of, settings)
        of.keep_head()
        self.vocabulary = target.vocabulary
        self.positions = settings.block - 1
        self.layers = config.num_hidden_layers
        self.hidden_layers = settings.hidden_layers
        self.no_states = torch.empty(0, config.hidden_size, dtype=of.dtype, device=of.device)
        self._shape = config.num_key_value_heads, head_dim(config)
        self._slots = context + settings.block  # a block begins at the last token of a full context
        self.parameters = count_of(self._module)
        self.nbytes = nbytes_of(self._module) + self._slots * row_nbytes(config, of.products) + of.nbytes

    def new_cache(self) -> TensorCache:
        of = self._target
        return TensorCache([self._shape] * self.layers, self._slots, of.products, of.device)

    @torch.inference_mode()
    def fuse(self, hidden: Mapping[int, Array]) -> Tensor:
        read = [self._target.tensor(hidden[layer]) for layer in self.hidden_layers]
        return self._module.fuse(torch.cat(read, dim=-1))

    @torch.inference_mode()
    def guess(self, tokens: Sequence[int], states: Tensor, cache: KVCache) -> Tensor:
        assert isinstance(cache, TensorCache)
        before, block = len(states), self._settings.block
        cache.reserve(before + block)
        root = self._target.embed(np.array(tokens[-1:], np.int64))
        guessed = torch.cat([root, self._mask.expand(block - 1, -1)])[None]
        first = cache.length
        positions = torch.arange(first, first + before + block, device=guessed.device)
        rotary = self._rotary(guessed, positions[None])
        for layer in self._module.layers:
            assert isinstance(layer, DFlashLayer)
            visible = self._visible(layer, positions[before:], first + before)
            guessed = layer(guessed, states[None], rotary=rotary, visible=visible, cache=cache)
        cache.extend_tail(before + block)
        cache.keep(range(before))  # the block's rows are of guesses
        return self._target.logits(self._module.norm(guessed)[0, 1:])

    def _visible(self, layer: DFlashLayer, positions: Tensor, first: int) -> Visibility:
        """Return what the block's rows see in a layer: the text before the block and, of the block itself,
        each other, or only themselves and earlier rows. first: the first of the positions, which the host
        knows without waiting for a card."""
        settings, block = self._settings, len(positions)
        causal = layer.slides if settings.causal is None else settings.causal
        ahead = positions[None, :] - positions[:, None]
        seen = ahead < (1 if causal else layer.window or block)
        return Visibility(TensorRows(positions, positions, seen), first + block - 1, first, positions[:0])

    @torch.inference_mode()
    def best(self, logits: Tensor, count: int, allowed: Allowed | None = None) -> Guesses:
        return guesses(logits if allowed is None else masked(logits, allowed), count)


def _mask_embedding(target: TensorTarget, settings: DFlashSettings) -> Tensor:
    """Return the embedding [1, width] of the mask token: a row of the target's table that no text uses."""
    try:
        return target.embed(np.array([settings.mask], np.int64)).clone()
    except IndexError as error:
        raise BadCheckpoint(
            f"The heads' mask token {settings.mask:,} is not in the target's embedding.", OTHER
        ) from error
