"""A model's layers over a batch of texts, one row of it per text; `engine.model` runs one text at a time.

Knows who wants it neither for sampling nor for learning: gradients flow where the caller lets them.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Protocol

import torch
from torch import Tensor, nn
from transformers import AttentionInterface
from transformers.configuration_utils import PretrainedConfig

from engine.errors import UnsupportedModel
from engine.kv_cache import head_dim
from engine.model import Model, is_mixture

BATCHED = "specexec_batched"


def _attend(
    module: nn.Module,
    query: Tensor,  # [batch, heads, rows, head_dim]
    key: Tensor,  # [batch, kv_heads, keys, head_dim]
    value: Tensor,
    attention_mask: Tensor,  # bool [batch or 1, rows, keys]: what a row sees
    scaling: float,
    dropout: float = 0.0,
    **others: object,
) -> tuple[Tensor, None]:
    """transformers' attention interface. Query heads that share a key head are folded into its rows."""
    batch, heads, rows, width = query.shape
    kv_heads = key.shape[1]
    group = heads // kv_heads
    folded = query.reshape(batch, kv_heads, group * rows, width)
    mask = attention_mask.repeat(1, group, 1)[:, None]
    found = nn.functional.scaled_dot_product_attention(folded, key, value, attn_mask=mask, scale=scaling)
    return found.view(batch, heads, rows, width).transpose(1, 2), None


AttentionInterface.register(BATCHED, _attend)


class Cache(Protocol):
    """Where attention modules put a pass's keys and values, and what they look at."""

    def update(self, keys: Tensor, values: Tensor, layer: int) -> tuple[Tensor, Tensor]: ...


class GrowingCache:
    """Keys and values one after another; gradients flow through them."""

    def __init__(self) -> None:
        self._rows: dict[int, tuple[Tensor, Tensor]] = {}

    def update(self, keys: Tensor, values: Tensor, layer: int) -> tuple[Tensor, Tensor]:
        if layer in self._rows:
            before, behind = self._rows[layer]
            keys, values = torch.cat((before, keys), dim=2), torch.cat((behind, values), dim=2)
        self._rows[layer] = keys, values
        return keys, values


class StaticCache:
    """Keys and values of `batch` texts of at most `length` tokens, one token of each at a time."""

    def __init__(self, model: Model, batch: int, length: int) -> None:
        config = model.config
        shape = (model.layers, 2, batch, config.num_key_value_heads, length, head_dim(config))
        self._store = torch.zeros(shape, dtype=model.dtype, device=model.device)
        self._texts = torch.arange(batch, device=model.device)
        self._positions = self._texts
        self._longest = 0

    def turn_to(self, positions: Tensor) -> Tensor:
        """The next pass writes each text's row at its position, int64 [batch]. Returns the mask of that
        pass, bool [batch, 1, keys]."""
        self._positions = positions
        self._longest = int(positions.max()) + 1
        return torch.arange(self._longest, device=positions.device) <= positions[:, None, None]

    def update(self, keys: Tensor, values: Tensor, layer: int) -> tuple[Tensor, Tensor]:
        found = []
        for store, rows in zip(self._store[layer], (keys, values), strict=True):
            store[self._texts, :, self._positions] = rows[:, :, 0]
            found.append(store[:, :, : self._longest])
        return found[0], found[1]


def check_trainable(model: Model, length: int) -> None:
    """Raises UnsupportedModel where `_attend` would not be what the model's attention is.

    length: tokens of the longest text; a sliding window that holds it changes nothing.
    """
    config = model.config
    window = getattr(config, "sliding_window", None)
    odd = config.model_type.startswith("gemma") or is_mixture(model.module) or model.packed
    if odd or (window is not None and window < length):
        raise UnsupportedModel(
            f"A draft for a {config.model_type} model cannot be trained here.",
            "Choose a dense llama, mistral, qwen2, qwen3 or phi3 model.",
        )


@contextmanager
def batched(config: PretrainedConfig) -> Iterator[None]:
    """Meanwhile the modules built from `config` attend over batches."""
    before = config._attn_implementation
    config._attn_implementation = BATCHED
    try:
        yield
    finally:
        config._attn_implementation = before


def run_layers(
    model: Model, tokens: Tensor, positions: Tensor, mask: Tensor, cache: Cache, levels: Sequence[int]
) -> Tensor:
    """Outputs of the layers `levels`, the last of which is the last layer, before the final norm:
    [batch, rows, levels, width]. tokens, positions: int64 [batch, rows]; mask: as `_attend`'s."""
    body: Any = model.module.model
    state = body.embed_tokens(tokens)
    rotary = body.rotary_emb(state, positions)
    found: dict[int, Tensor] = {}
    with batched(model.module.config):
        for index, layer in enumerate(body.layers):
            state = layer(state, attention_mask=mask, position_embeddings=rotary, past_key_values=cache)
            if index in levels:
                found[index] = state
    return torch.stack([found[level] for level in levels], dim=2)
