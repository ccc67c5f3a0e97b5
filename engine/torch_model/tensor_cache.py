"""The KV cache of models that torch runs."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from transformers.configuration_utils import PretrainedConfig

from engine.model.kv_cache import KVCache


def row_nbytes(config: PretrainedConfig, dtype: torch.dtype) -> int:
    """Return the bytes of one token's keys and values in all layers."""
    nbytes: int = (
        2 * config.num_hidden_layers * config.num_key_value_heads * head_dim(config) * dtype.itemsize
    )
    return nbytes


def head_dim(config: PretrainedConfig) -> int:
    width: int = getattr(config, "head_dim", None) or config.hidden_size // config.num_attention_heads
    return width


class TensorCache(KVCache):
    """A cache of tensors, in the form that transformers' attention modules use. Attribute: `device`."""

    def __init__(
        self,
        layers: int,
        kv_heads: int,
        head_dim: int,
        capacity: int,
        dtype: torch.dtype,
        device: torch.device | str,
    ) -> None:
        super().__init__(capacity)
        # The 2 is for keys and values, the 1 is transformers' batch dimension. `clear_behind` relies on
        # the zeros.
        shape = (layers, 2, 1, kv_heads, capacity + 1, head_dim)
        self._store = torch.zeros(shape, dtype=dtype, device=device)
        self.device = self._store.device

    @property
    def nbytes(self) -> int:
        return self._store.nbytes

    @property
    def form(self) -> str:
        layers, sides, _, heads, _, width = self._store.shape
        return f"{self._store.dtype} {layers} {sides} {heads} {width}"

    def move(self, source: Sequence[int], first: int) -> None:
        index = torch.tensor(source, device=self.device)
        self._store[:, :, :, :, first : first + len(source)] = self._store.index_select(4, index)

    def read_rows(self, first: int, count: int) -> NDArray[np.uint8]:
        rows = self._store[:, :, :, :, first : first + count].to("cpu", copy=True).contiguous()
        flat: NDArray[np.uint8] = rows.flatten().view(torch.uint8).numpy()
        return flat

    def write_rows(self, first: int, rows: NDArray[np.uint8]) -> None:
        layers, sides, batch, heads, _, width = self._store.shape
        # Blocks from a file are read-only; torch only reads them.
        flat = torch.from_numpy(rows if rows.flags.writeable else rows.copy())
        shaped = flat.view(self._store.dtype).view(layers, sides, batch, heads, -1, width)
        self._store[:, :, :, :, first : first + shaped.shape[4]] = shaped.to(self.device)

    def update(self, keys: Tensor, values: Tensor, layer: int) -> tuple[Tensor, Tensor]:
        """Write rows [1, kv_heads, rows, head_dim] behind the tail. Return views of the keys and of the
        values in all slots up to the last of these rows.

        transformers' attention modules call this. The rows count as tail only after `extend_tail`, once every
        layer has run, so an interrupted pass leaves the cache unchanged.
        """
        store = self._store[layer]
        start = self.length + self.tail
        stop = start + keys.shape[2]
        store[0, :, :, start:stop] = keys
        store[1, :, :, start:stop] = values
        return store[0, :, :, :stop], store[1, :, :, :stop]

    def addressed(self, slots: Tensor, keys: int) -> "AddressedSlots":
        """Return this cache as seen by a pass that writes to `slots` and reads the first `keys` slots."""
        return AddressedSlots(self._store, slots, keys)

    def clear_behind(self, rows: int) -> None:
        """Zero the slots behind the next `rows` rows. They may hold dropped rows that have overflowed to
        infinity, and a pass that reads whole buckets of slots also multiplies slots that are masked."""
        stop = self.length + self.tail + rows
        if stop < self.written:
            self._store[:, :, :, :, stop : self.written] = 0
            self.written = stop

    def rows(self, layer: int) -> Tensor:
        """Return the committed rows of a layer, [2, kv_heads, length, head_dim]. For tests."""
        return self._store[layer, :, 0, :, : self.length]


@dataclass(frozen=True, slots=True)
class AddressedSlots:
    """The cache of a pass that is recorded and replayed: the pass writes to slots given by a tensor, and
    reads a whole bucket of slots.

    store: the cache's memory, [layers, 2, 1, kv_heads, slots, head_dim]; slots: where the pass writes, int64
    [rows]; keys: number of slots that it reads.
    """

    store: Tensor
    slots: Tensor
    keys: int

    def update(self, keys: Tensor, values: Tensor, layer: int) -> tuple[Tensor, Tensor]:
        """Write rows and return keys and values, as TensorCache.update does."""
        visible = []
        for store, rows in zip(self.store[layer], (keys, values), strict=True):
            store.index_copy_(2, self.slots, rows)
            visible.append(store[:, :, : self.keys])
        return visible[0], visible[1]
