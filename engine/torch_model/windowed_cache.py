"""The cache of a model that torch runs, some of whose layers see only a window of the text."""

from collections.abc import Sequence

import torch
from torch import Tensor

from engine.checkpoints.windows import kept_slots
from engine.model.windowed_cache import WindowedCache, widest
from engine.torch_model.tensor_cache import RowShape, TensorCache
from engine.torch_model.visibility import TensorRows, Visibility


class WindowedTensorCache(WindowedCache, TensorCache):
    """A `WindowedCache` of tensors."""

    narrow: TensorCache

    def __init__(
        self,
        shapes: Sequence[RowShape],
        windows: Sequence[int | None],
        capacity: int,
        dtype: torch.dtype,
        device: torch.device | str,
    ) -> None:
        """shapes: as for `TensorCache`. windows: that of each layer, or None. They narrow."""
        pairs = list(zip(shapes, windows, strict=True))
        super().__init__([None if window else shape for shape, window in pairs], capacity, dtype, device)
        of_windows = [shape if window else None for shape, window in pairs]
        slots = kept_slots(widest(windows), capacity, apart=torch.device(device).type != "cpu")
        self._begin(TensorCache(of_windows, slots, dtype, device), widest(windows))

    @property
    def parts(self) -> tuple[TensorCache, ...]:
        return tuple(part for part in (self, self.narrow) if part.layers)

    def update(self, keys: Tensor, values: Tensor, layer: int) -> tuple[Tensor, Tensor]:
        if layer in self.narrow.layers:
            return self.narrow.update(keys, values, layer)
        return super().update(keys, values, layer)

    def visibility(self, rows: TensorRows, last: int, tail_positions: Tensor) -> Visibility:
        every = super().visibility(rows, last, tail_positions)
        every.narrow = Visibility(rows, last, self.length, tail_positions, self.dropped)
        return every

    def clear_behind(self, rows: int) -> None:
        super().clear_behind(rows)
        self.narrow.clear_behind(rows)

    def rows(self, layer: int) -> Tensor:
        return self.narrow.rows(layer) if layer in self.narrow.layers else super().rows(layer)
