"""The KV cache of models that torch runs."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from transformers.configuration_utils import PretrainedConfig

from engine.model.kv_cache import KVCache
from engine.torch_model.visibility import TensorRows, Visibility

# The key-value heads of a layer, and their width; None for a layer that has no rows of its own.
RowShape = tuple[int, int] | None
# Types of layers that have no rows: those with states, and Nemotron-H's MLPs and mixtures.
_WITHOUT_ROWS = ("linear_attention", "conv", "mlp", "moe")


def row_shapes(config: PretrainedConfig) -> list[RowShape]:
    """Return the shape of each layer's rows. Layers that share the keys and values of an earlier one have
    none of their own (Gemma 3n and 4)."""
    every = [None] * config.num_hidden_layers
    shared = getattr(config, "kv_sharing_modes", None) or every
    types = getattr(config, "layer_types", None) or every
    return [
        None if mode == "reuse" or kind in _WITHOUT_ROWS else (of.num_key_value_heads, head_dim(of))
        for mode, kind, of in zip(shared, types, config.per_layer_config, strict=True)
    ]


def row_nbytes(config: PretrainedConfig, dtype: torch.dtype) -> int:
    """Return the bytes of one token's keys and values in all layers."""
    return sum(2 * heads * width * dtype.itemsize for heads, width in filter(None, row_shapes(config)))


def head_dim(config: PretrainedConfig) -> int:
    width: int = getattr(config, "head_dim", None) or config.hidden_size // config.num_attention_heads
    return width


class TensorCache(KVCache):
    """A cache of tensors, in the form that transformers' attention modules use. Attributes: `dtype` of the
    rows; `device`; `layers`, the rows of each layer that has any, [2, 1, kv_heads, slots, head_dim]."""

    def __init__(
        self,
        shapes: Sequence[RowShape],
        capacity: int,
        dtype: torch.dtype,
        device: torch.device | str,
    ) -> None:
        """shapes: those of each layer's rows. Layers with rows of one shape are in one tensor."""
        super().__init__(capacity)
        layers: dict[tuple[int, int], list[int]] = {}
        for layer, shape in enumerate(shapes):
            if shape is not None:
                layers.setdefault(shape, []).append(layer)
        # The 2 is for keys and values, the 1 is transformers' batch dimension. `clear_behind` relies on
        # the zeros.
        self._stores = [
            torch.zeros((len(alike), 2, 1, heads, capacity + 1, width), dtype=dtype, device=device)
            for (heads, width), alike in layers.items()
        ]
        self.layers: dict[int, Tensor] = {
            layer: rows
            for store, alike in zip(self._stores, layers.values(), strict=True)
            for layer, rows in zip(alike, store, strict=True)
        }
        self.dtype = dtype
        self.device = torch.empty(0, device=device).device

    @property
    def nbytes(self) -> int:
        return sum(store.nbytes for store in self._stores)

    @property
    def form(self) -> str:
        shapes = [(*store.shape[:2], store.shape[3], store.shape[5]) for store in self._stores]
        return " ".join(map(str, [self.dtype, *(number for shape in shapes for number in shape)]))

    def move(self, source: Sequence[int], first: int) -> None:
        index = torch.tensor(source, device=self.device)
        for store in self._stores:
            store[:, :, :, :, first : first + len(source)] = store.index_select(4, index)

    def drop_first(self, count: int) -> None:
        # Layer by layer: a copy of all rows may be more than a card has memory for.
        stop = self.length + self.tail
        for rows in self.layers.values():
            rows[:, :, :, : stop - count] = rows[:, :, :, count:stop].clone()
        self.length -= count

    def read_rows(self, first: int, count: int) -> NDArray[np.uint8]:
        parts = [store[:, :, :, :, first : first + count].cpu().flatten() for store in self._stores]
        if not parts:
            return np.empty(0, np.uint8)
        flat: NDArray[np.uint8] = torch.cat(parts).view(torch.uint8).numpy()
        return flat

    def write_rows(self, first: int, rows: NDArray[np.uint8]) -> None:
        if not rows.size:  # torch has no view of nothing
            return
        # Blocks from a file are read-only; torch only reads them.
        flat = torch.from_numpy(rows if rows.flags.writeable else rows.copy()).view(self.dtype)
        slots = [store[:, :, :, :, 0].numel() for store in self._stores]  # numbers of one row in each
        count = len(flat) // sum(slots)
        parts = torch.split(flat, [count * each for each in slots])
        for store, part in zip(self._stores, parts, strict=True):
            layers, sides, batch, heads, _, width = store.shape
            shaped = part.view(layers, sides, batch, heads, count, width)
            store[:, :, :, :, first : first + count] = shaped.to(self.device)

    def update(self, keys: Tensor, values: Tensor, layer: int) -> tuple[Tensor, Tensor]:
        """Write rows [1, kv_heads, rows, head_dim] behind the tail. Return views of the keys and of the
        values in all slots up to the last of these rows.

        transformers' attention modules call this. The rows count as tail only after `extend_tail`, once every
        layer has run, so an interrupted pass leaves the cache unchanged.
        """
        store = self.layers[layer]
        start = self.length + self.tail
        stop = start + keys.shape[2]
        store[0, :, :, start:stop] = keys
        store[1, :, :, start:stop] = values
        return store[0, :, :, :stop], store[1, :, :, :stop]

    @property
    def parts(self) -> "tuple[TensorCache, ...]":
        """The caches of rows: this one, and the one of layers with a window if they drop rows. One of them
        alone if no layer has rows in the other."""
        return (self,)

    def visibility(self, rows: TensorRows, last: int, tail_positions: Tensor) -> Visibility:
        """Return what the rows of the next pass see. last, tail_positions: as in `Visibility`."""
        return Visibility(rows, last, self.length, tail_positions)

    def addressed(self, slots: Tensor, keys: int) -> "dict[int, AddressedSlots]":
        """Return each layer as seen by a pass that writes to `slots` and reads the first `keys` slots."""
        return {layer: AddressedSlots(rows, slots, keys) for layer, rows in self.layers.items()}

    def clear_behind(self, rows: int) -> None:
        """Zero the slots behind the next `rows` rows. They may hold dropped rows that have overflowed to
        infinity, and a pass that reads whole buckets of slots also multiplies slots that are masked."""
        stop = self.length + self.tail + rows
        if stop < self.written:
            for store in self._stores:
                store[:, :, :, :, stop : self.written] = 0
            self.written = stop

    def rows(self, layer: int) -> Tensor:
        """Return the committed rows of a layer, [2, kv_heads, length, head_dim]; no numbers if it has none of
        its own."""
        if layer not in self.layers:
            return torch.empty(0)
        return self.layers[layer][:, 0, :, : self.length]


@dataclass(frozen=True, slots=True)
class AddressedSlots:
    """The rows of a layer in a pass that is recorded and replayed: the pass writes to slots given by a
    tensor, and reads a whole bucket of slots.

    rows: the layer's memory, [2, 1, kv_heads, slots, head_dim]; slots: where the pass writes, int64 [rows];
    keys: number of slots that it reads.
    """

    rows: Tensor
    slots: Tensor
    keys: int


@dataclass(frozen=True, slots=True)
class AddressedCache:
    """The cache of a pass that is recorded and replayed."""

    layers: Mapping[int, AddressedSlots]

    def update(self, keys: Tensor, values: Tensor, layer: int) -> tuple[Tensor, Tensor]:
        """Write rows and return keys and values, as TensorCache.update does."""
        of = self.layers[layer]
        visible = []
        for store, rows in zip(of.rows, (keys, values), strict=True):
            store.index_copy_(2, of.slots, rows.to(store.dtype))
            visible.append(store[:, :, : of.keys])
        return visible[0], visible[1]
