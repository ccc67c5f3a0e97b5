"""Rows and attention masks as tensors on the model's device."""

from dataclasses import dataclass, field

import torch
from torch import Tensor

from engine.model.rows import Rows

# Number of rows that attention processes at a time: a mask is never larger than this times the context.
ROWS_PER_PIECE = 256


@dataclass(frozen=True, slots=True)
class TensorRows:
    """`Rows` as tensors."""

    tokens: Tensor
    positions: Tensor
    visible: Tensor | None = None

    def __len__(self) -> int:
        return len(self.tokens)

    @staticmethod
    def of(rows: Rows, device: torch.device | str = "cpu") -> "TensorRows":
        visible = None if rows.visible is None else torch.from_numpy(rows.visible).to(device)
        tokens, positions = torch.from_numpy(rows.tokens), torch.from_numpy(rows.positions)
        return TensorRows(tokens.to(device), positions.to(device), visible)

    def among(self, start: int, stop: int) -> Tensor:
        """Return the rows start..stop of `visible`. For plain text, its columns end with the last of these
        rows: bool [stop - start, stop]."""
        if self.visible is None:
            return self.positions[None, :stop] <= self.positions[start:stop, None]
        return self.visible[start:stop]


@dataclass(slots=True)
class Visibility:
    """Makes attention masks from positions, piece by piece, for full attention and for sliding windows."""

    rows: TensorRows
    last: int  # at least the largest position of a row
    length: int  # committed tokens
    tail_positions: Tensor  # [tail], positions of the rows in the cache's tail
    dropped: int = 0  # tokens whose rows are not in the cache: slot i holds position dropped + i
    narrow: "Visibility | None" = None  # in layers with a window, if these have dropped rows
    _kept: dict[tuple[int | None, int], Tensor] = field(default_factory=dict)  # by window and group

    def mask(
        self, start: int, stop: int, window: int | None, group: int, dtype: torch.dtype
    ) -> Tensor | None:
        """Return the mask of 0 and -inf to add to the scores of rows start..stop: [group * (stop - start),
        keys]. keys: the number of slots up to the last visible one. The mask is repeated for each of `group`
        query heads. Returns None if the rows see all of these slots.

        window: a row sees only positions above its own minus the window; None: no such limit.
        """
        if window is not None and self.narrow is not None:
            return self.narrow.mask(start, stop, window, group, dtype)
        if window is not None and window > self.last:
            window = None
        if len(self.rows) <= ROWS_PER_PIECE and (window, group) in self._kept:
            return self._kept[window, group]
        if self.rows.visible is None and window is None and stop - start == 1:
            return None
        seen = self._seen(start, stop, window)
        bias = torch.zeros(seen.shape, dtype=dtype, device=seen.device)
        mask = bias.masked_fill_(~seen, float("-inf")).repeat(group, 1)
        self._kept[window, group] = mask
        return mask

    def _seen(self, start: int, stop: int, window: int | None) -> Tensor:
        """Return which slots rows start..stop see: bool [stop - start, keys]."""
        positions = self.rows.positions
        among = self.rows.among(start, stop)
        held = self.length - self.dropped
        seen = torch.cat([among.new_ones(stop - start, held), among], dim=1)
        if window is not None:
            committed = torch.arange(self.dropped, self.length, device=positions.device)
            keys = torch.cat([committed, self.tail_positions, positions])[: seen.shape[1]]
            seen &= keys[None, :] > positions[start:stop, None] - window
        return seen
