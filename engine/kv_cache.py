"""Keys and values of one token sequence, preallocated. Knows nothing of models or trees: it moves rows.

Slots [0, length) hold committed tokens, slot i that of position i. Slots [length, length + tail) hold rows
under consideration (a tree, say), in the order they were written; `keep` commits some, forgets the rest.
"""

from collections.abc import Sequence

import torch
from torch import Tensor
from transformers.configuration_utils import PretrainedConfig

from engine.errors import PromptTooLong


def row_nbytes(config: PretrainedConfig, dtype: torch.dtype) -> int:
    """Bytes that one token's keys and values take in all layers."""
    nbytes: int = (
        2 * config.num_hidden_layers * config.num_key_value_heads * head_dim(config) * dtype.itemsize
    )
    return nbytes


def head_dim(config: PretrainedConfig) -> int:
    found: int = getattr(config, "head_dim", None) or config.hidden_size // config.num_attention_heads
    return found


class KVCache:
    """Attributes: `length` (committed slots), `tail` (slots under consideration), `capacity` (slots in
    all)."""

    def __init__(
        self,
        layers: int,
        kv_heads: int,
        head_dim: int,
        capacity: int,
        dtype: torch.dtype,
        device: torch.device,
    ) -> None:
        shape = (
            2,
            1,
            kv_heads,
            capacity,
            head_dim,
        )  # keys and values; the 1 is transformers' batch dimension
        self._layers = [torch.empty(shape, dtype=dtype, device=device) for _ in range(layers)]
        self.capacity = capacity
        self.length = 0
        self.tail = 0

    @property
    def nbytes(self) -> int:
        return sum(layer.nbytes for layer in self._layers)

    def update(self, keys: Tensor, values: Tensor, layer: int) -> tuple[Tensor, Tensor]:
        """Write rows [1, kv_heads, rows, head_dim] behind the tail; returns views of all slots up to and with
        them.

        transformers' attention modules call this. The rows count as tail only after `extend_tail`, once every
        layer has run, so a pass that stops half-way leaves the cache as it was.
        """
        store = self._layers[layer]
        start = self.length + self.tail
        stop = start + keys.shape[2]
        store[0, :, :, start:stop] = keys
        store[1, :, :, start:stop] = values
        return store[0, :, :, :stop], store[1, :, :, :stop]

    def reserve(self, rows: int) -> None:
        """Raises PromptTooLong unless `rows` more rows fit."""
        if self.length + self.tail + rows > self.capacity:
            raise PromptTooLong(
                f"{self.length + self.tail + rows} tokens do not fit a context of {self.capacity}.",
                "Shorten the prompt or raise the context length.",
            )

    def extend_tail(self, rows: int) -> None:
        assert self.length + self.tail + rows <= self.capacity
        self.tail += rows

    def keep(self, tail_slots: Sequence[int]) -> None:
        """Commit these slots of the tail (counted from its start, ascending), in place, and forget the
        others."""
        count = len(tail_slots)
        if list(tail_slots) != list(range(count)):
            source = torch.tensor(tail_slots, device=self._layers[0].device) + self.length
            for store in self._layers:
                store[:, :, :, self.length : self.length + count] = store.index_select(3, source)
        self.length += count
        self.tail = 0

    def truncate(self, length: int) -> None:
        """Forget the tail and every committed slot from `length` on."""
        assert 0 <= length <= self.length
        self.length = length
        self.tail = 0

    def rows(self, layer: int) -> Tensor:
        """Committed rows [2, kv_heads, length, head_dim], for tests."""
        return self._layers[layer][:, 0, :, : self.length]
