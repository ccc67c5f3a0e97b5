"""Keys and values of one token sequence, preallocated. Knows nothing of models or trees: it moves rows.

Slots [0, length) hold committed tokens, slot i that of position i. Slots [length, length + tail) hold rows
under consideration (a tree, say), in the order they were written; `keep` commits some, forgets the rest. One
more slot behind the capacity takes rows that nobody will look at.
"""

from collections.abc import Sequence
from dataclasses import dataclass

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
        # Keys and values; the 1 is transformers' batch dimension. Zeros: see `clear_behind`.
        shape = (layers, 2, 1, kv_heads, capacity + 1, head_dim)
        self._store = torch.zeros(shape, dtype=dtype, device=device)
        self.capacity = capacity
        self.length = 0
        self.tail = 0
        self._written = 0  # slots from here on hold zeros

    @property
    def nbytes(self) -> int:
        return self._store.nbytes

    @property
    def device(self) -> torch.device:
        return self._store.device

    def update(self, keys: Tensor, values: Tensor, layer: int) -> tuple[Tensor, Tensor]:
        """Write rows [1, kv_heads, rows, head_dim] behind the tail; returns views of all slots up to and with
        them.

        transformers' attention modules call this. The rows count as tail only after `extend_tail`, once every
        layer has run, so a pass that stops half-way leaves the cache as it was.
        """
        store = self._store[layer]
        start = self.length + self.tail
        stop = start + keys.shape[2]
        store[0, :, :, start:stop] = keys
        store[1, :, :, start:stop] = values
        return store[0, :, :, :stop], store[1, :, :, :stop]

    def addressed(self, slots: Tensor, keys: int) -> "AddressedSlots":
        """This cache for a pass that writes to `slots` and looks at the first `keys` slots."""
        return AddressedSlots(self._store, slots, keys)

    def reserve(self, rows: int) -> None:
        """A pass is going to write `rows` more rows. Raises PromptTooLong unless they fit."""
        if self.length + self.tail + rows > self.capacity:
            raise PromptTooLong(
                f"{self.length + self.tail + rows} tokens do not fit a context of {self.capacity}.",
                "Shorten the prompt or raise the context length.",
            )
        self._written = max(self._written, self.length + self.tail + rows)

    def clear_behind(self, rows: int) -> None:
        """Zeros behind `rows` more rows. A pass that looks at whole buckets of slots multiplies what it masks
        out, too, and forgotten rows may have overflowed."""
        stop = self.length + self.tail + rows
        if stop < self._written:
            self._store[:, :, :, :, stop : self._written] = 0
            self._written = stop

    def extend_tail(self, rows: int) -> None:
        assert self.length + self.tail + rows <= self.capacity
        self.tail += rows

    def keep(self, tail_slots: Sequence[int]) -> None:
        """Commit these slots of the tail (counted from its start, ascending), in place, and forget the
        others."""
        count = len(tail_slots)
        if list(tail_slots) != list(range(count)):
            source = torch.tensor(tail_slots, device=self._store.device) + self.length
            kept = self._store.index_select(4, source)
            self._store[:, :, :, :, self.length : self.length + count] = kept
        self.length += count
        self.tail = 0

    def truncate(self, length: int) -> None:
        """Forget the tail and every committed slot from `length` on."""
        assert 0 <= length <= self.length
        self.length = length
        self.tail = 0

    def rows(self, layer: int) -> Tensor:
        """Committed rows [2, kv_heads, length, head_dim], for tests."""
        return self._store[layer, :, 0, :, : self.length]


@dataclass(frozen=True, slots=True)
class AddressedSlots:
    """A cache as a pass sees it that can be recorded and replayed: where it writes is in a tensor, and what
    it looks at is a whole bucket of slots.

    store: [layers, 2, 1, kv_heads, slots, head_dim]; slots: int64 [rows]; keys: how many slots it looks at.
    """

    store: Tensor
    slots: Tensor
    keys: int

    def update(self, keys: Tensor, values: Tensor, layer: int) -> tuple[Tensor, Tensor]:
        """As KVCache.update."""
        found = []
        for store, rows in zip(self.store[layer], (keys, values), strict=True):
            store.index_copy_(2, self.slots, rows)
            found.append(store[:, :, : self.keys])
        return found[0], found[1]
