"""Assistants of Gemma 4 that torch runs. What they compute, and how that is known, stands in
`engine.heads.assistant`."""

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from engine.arrays import Array
from engine.heads.assistant import assistant_for, best_of, chosen_tokens, unused
from engine.heads.files import HeadsFile
from engine.heads.interface import Allowed, AssistantHead, Guessed, Guesses
from engine.model.interface import Model, RowLayer
from engine.model.kv_cache import HostCache, KVCache
from engine.model.rotary import RotaryFactors
from engine.torch_model.assistant_layers import AssistantModule, Rotation, Text
from engine.torch_model.module_weights import count_of, fill, nbytes_of, without
from engine.torch_model.tensor_cache import TensorCache
from engine.torch_model.tensor_target import TensorTarget


class TorchAssistantHead(AssistantHead):
    """An assistant that torch runs. Its states are tensors."""

    def __init__(self, file: HeadsFile, target: Model, context: int) -> None:
        """Raises BadCheckpoint, UnsupportedModel or VocabularyMismatch if the assistant cannot run with the
        target."""
        self._assistant = assistant = assistant_for(file, target)
        self._target = of = TensorTarget(target)
        with torch.device("meta"):
            self._module = AssistantModule(assistant)
        fill(self._module, without(file, *unused(assistant)), of.products, of.device)
        self._rotary = RotaryFactors(assistant.description.rotary, context)
        self._texts: list[Text] = []
        self._rotations: list[Rotation] = []
        self.vocabulary = target.vocabulary
        self.layers = assistant.description.layers
        self.hidden_layers = (target.layers,)
        self.parameters = count_of(self._module)
        self.nbytes = nbytes_of(self._module)

    @torch.inference_mode()
    def read(self, cache: KVCache) -> None:
        of = self._assistant
        sights = list(zip(of.reads, of.windows, strict=True))
        texts: dict[tuple[RowLayer, int | None], Text] = {}
        for rows, window in set(sights):
            keys, values = self._rows(cache, rows)
            first = max(0, keys.shape[1] - window) if window else 0
            texts[rows, window] = keys[None, :, first:], values[None, :, first:]
        self._texts = [texts[sight] for sight in sights]
        factors = torch.from_numpy(self._rotary.at(np.array([cache.length]))[:, :, 0])
        factors = factors.to(self._target.device, self._target.dtype)
        pairs = zip(factors, self._rotary.pairs_of, strict=True)
        kinds = [(cos[:count], sin[:count]) for (cos, sin), count in pairs]
        self._rotations = [kinds[kind] for kind in of.description.rotary_of_layer]

    @torch.inference_mode()
    def forward(self, tokens: NDArray[np.int64], states: Array) -> Guessed:
        embedded, states = self._target.embed(tokens), self._target.tensor(states)
        inner, guessed = self._module(embedded, states, self._texts, self._rotations)
        if self._assistant.clusters is None:
            return Guessed(guessed, self._module.head(inner), None)
        chosen = chosen_tokens(self._module.masked_embedding(inner), self._assistant)
        rows = self._module.head_rows(torch.from_numpy(chosen).to(inner.device))  # [rows, tokens, width]
        return Guessed(guessed, (rows @ inner[..., None])[..., 0], chosen)

    @torch.inference_mode()
    def best(self, guessed: Guessed, count: int, allowed: Allowed | None = None) -> Guesses:
        return best_of(guessed, count, allowed, self.vocabulary)

    def _rows(self, cache: KVCache, rows: RowLayer) -> Tensor:
        """Return the committed rows of a layer, [2, kv_heads, rows, width]: those that it has not dropped."""
        if isinstance(cache, TensorCache):
            return cache.rows(rows.number)
        assert isinstance(cache, HostCache)
        return torch.from_numpy(_unpacked(cache.rows(rows.number), rows.width))


def _unpacked(rows: NDArray[np.uint8], width: int) -> NDArray[np.float32]:
    """Return rows of `engine.compiled.cache_rows` [..., bytes] as numbers [..., width]."""
    if rows.shape[-1] == 2 * width:
        return np.ascontiguousarray(rows).view(np.float16).astype(np.float32)
    quants = np.ascontiguousarray(rows[..., :width]).view(np.int8).astype(np.float32)
    scales = np.ascontiguousarray(rows[..., width:]).view(np.float16).astype(np.float32)
    return quants * scales.repeat(width // scales.shape[-1], axis=-1)
