"""Runs a model's layers over a batch of texts; `engine.torch_model.forward` runs one text at a time.

Both sampling and learning use this module: gradients flow if the caller enables them.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Protocol

import torch
from torch import Tensor, nn
from transformers import AttentionInterface
from transformers.configuration_utils import PretrainedConfig

from engine.errors import UnsupportedModel
from engine.torch_model.attention import refuse_unknown
from engine.torch_model.forward import TorchModel, is_mixture
from engine.torch_model.tensor_cache import head_dim

BATCHED = "specexec_batched"
_TRAINABLE = ("llama", "mistral", "qwen2", "qwen3", "phi3")


def _attend(
    module: nn.Module,
    query: Tensor,  # [batch, heads, rows, head_dim]
    key: Tensor,  # [batch, kv_heads, keys, head_dim]
    value: Tensor,
    attention_mask: Tensor,  # bool [batch or 1, rows, keys], true for the keys that a row sees
    scaling: float,
    dropout: float = 0.0,
    sliding_window: int | None = None,  # of no effect: `check_trainable`
    **others: object,
) -> tuple[Tensor, None]:
    """Compute attention, with the signature that transformers requires. The query heads that share a key head
    are treated as further rows of one head."""
    refuse_unknown(module, others)
    batch, heads, rows, width = query.shape
    kv_heads = key.shape[1]
    group = heads // kv_heads
    folded = query.reshape(batch, kv_heads, group * rows, width)
    mask = attention_mask.repeat(1, group, 1)[:, None]
    attended = nn.functional.scaled_dot_product_attention(folded, key, value, attn_mask=mask, scale=scaling)
    return attended.view(batch, heads, rows, width).transpose(1, 2), None


AttentionInterface.register(BATCHED, _attend)


class Cache(Protocol):
    """What attention modules expect of a cache: `update` stores a pass's keys and values of one layer, number
    `layer`, and returns all keys and values of that layer that the pass attends to."""

    def update(self, keys: Tensor, values: Tensor, layer: int) -> tuple[Tensor, Tensor]: ...


class GrowingCache:
    """A cache that appends each pass's keys and values to the earlier ones; gradients flow through it."""

    def __init__(self) -> None:
        self._rows: dict[int, tuple[Tensor, Tensor]] = {}

    def update(self, keys: Tensor, values: Tensor, layer: int) -> tuple[Tensor, Tensor]:
        if layer in self._rows:
            before, behind = self._rows[layer]
            keys, values = torch.cat((before, keys), dim=2), torch.cat((behind, values), dim=2)
        self._rows[layer] = keys, values
        return keys, values


class StaticCache:
    """A cache for `batch` texts of at most `length` tokens, which grow by one token per pass."""

    def __init__(self, model: TorchModel, batch: int, length: int) -> None:
        config = model.config
        shape = (model.layers, 2, batch, config.num_key_value_heads, length, head_dim(config))
        self._store = torch.zeros(shape, dtype=model.dtype, device=model.device)
        self._texts = torch.arange(batch, device=model.device)
        self._positions = self._texts
        self._longest = 0

    def move_to(self, positions: Tensor) -> Tensor:
        """Set the texts' positions in the next pass, int64 [batch], and return the mask of that pass, bool
        [batch, 1, keys]."""
        self._positions = positions
        self._longest = int(positions.max()) + 1
        return torch.arange(self._longest, device=positions.device) <= positions[:, None, None]

    def update(self, keys: Tensor, values: Tensor, layer: int) -> tuple[Tensor, Tensor]:
        visible = []
        for store, rows in zip(self._store[layer], (keys, values), strict=True):
            store[self._texts, :, self._positions] = rows[:, :, 0]
            visible.append(store[:, :, : self._longest])
        return visible[0], visible[1]


def check_trainable(model: TorchModel, length: int) -> None:
    """Raise UnsupportedModel if the model's attention may differ from `_attend`, if the model is a mixture of
    experts, or if its weights are packed.

    length: number of tokens of the longest text; a sliding window of at least that size has no effect.
    """
    config = model.config
    window = getattr(config, "sliding_window", None)
    odd = config.model_type not in _TRAINABLE or is_mixture(model.module) or model.packed
    if odd or (window is not None and window < length):
        raise UnsupportedModel(
            f"Drafts for {config.model_type} models cannot be trained.",
            "Choose a dense llama, mistral, qwen2, qwen3 or phi3 model.",
        )


@contextmanager
def batched(config: PretrainedConfig) -> Iterator[None]:
    """Make the modules built from `config` use `_attend` inside the `with` block."""
    before = config._attn_implementation
    config._attn_implementation = BATCHED
    try:
        yield
    finally:
        config._attn_implementation = before


def run_layers(
    model: TorchModel, tokens: Tensor, positions: Tensor, mask: Tensor, cache: Cache, levels: Sequence[int]
) -> Tensor:
    """Run all layers, and return the outputs of those in `levels`, before the final norm: [batch, rows,
    levels, width].

    tokens, positions: int64 [batch, rows]. mask: as for `_attend`. levels: indices of layers, ascending; the
    last one is the last layer."""
    body: Any = model.module.model
    state = body.embed_tokens(tokens)
    rotary = body.rotary_emb(state, positions)
    outputs: dict[int, Tensor] = {}
    with batched(model.module.config):
        for index, layer in enumerate(body.layers):
            state = layer(state, attention_mask=mask, position_embeddings=rotary, past_key_values=cache)
            if index in levels:
                outputs[index] = state
    return torch.stack([outputs[level] for level in levels], dim=2)
