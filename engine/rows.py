"""What goes into one forward pass and what comes out: rows, what each of them sees, and the answer.

Knows no layers, no weights and no cache.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

import torch
from torch import Tensor

# Attention works on this many rows at a time, so that a mask is never larger than this times the context.
ROWS_PER_PIECE = 256


@dataclass(frozen=True, slots=True)
class Rows:
    """What one pass runs over. On the CPU, or on the model's device.

    tokens:    int64 [rows]
    positions: int64 [rows]  depth positions: those of a node count along its path
    visible:   bool [rows, tail + rows], or None. Which slots of the cache's tail, and which of these rows, a
    row sees.
               None: there is no tail, and each row sees itself and the rows before it (plain text).
               Every committed slot is seen by every row, unless a sliding window cuts it off.
    """

    tokens: Tensor
    positions: Tensor
    visible: Tensor | None = None

    def __len__(self) -> int:
        return len(self.tokens)

    @staticmethod
    def text(tokens: Sequence[int], start: int, device: torch.device | None = None) -> "Rows":
        """Rows of plain text whose first token stands at position `start`."""
        return Rows(
            torch.tensor(tokens, dtype=torch.int64, device=device),
            torch.arange(start, start + len(tokens), device=device),
        )

    def to(self, device: torch.device) -> "Rows":
        visible = None if self.visible is None else self.visible.to(device)
        return Rows(self.tokens.to(device), self.positions.to(device), visible)

    def among(self, start: int, stop: int) -> Tensor:
        """`visible` of rows start..stop; for plain text only as far as their last one: bool [stop - start,
        stop]."""
        if self.visible is None:
            return self.positions[None, :stop] <= self.positions[start:stop, None]
        return self.visible[start:stop]


@dataclass(frozen=True, slots=True)
class Output:
    """logits [rows asked for, vocabulary] in the model's dtype; hidden: layer -> its output [rows, width],
    and where asked for, number of layers -> what the head reads: the last one's output after the final
    norm."""

    logits: Tensor
    hidden: dict[int, Tensor]


@dataclass(slots=True)
class Visibility:
    """Makes attention masks from positions, piece by piece and for each attention kind (full, or a sliding
    window)."""

    rows: Rows
    last: int  # no row's position is larger
    length: int  # committed slots; slot i holds position i
    tail_positions: Tensor  # [tail] of the rows cached behind them
    _kept: dict[int | None, Tensor] = field(default_factory=dict)

    def mask(
        self, start: int, stop: int, window: int | None, group: int, dtype: torch.dtype
    ) -> Tensor | None:
        """What to add to the scores of rows start..stop, 0 or -inf: [group * (stop - start), keys], the same
        for each of `group` query heads; keys = slots up to the last one they may see.

        None where they see all of these. `window`: a row sees positions above its own less the window.
        """
        if window is not None and window > self.last:
            window = None
        if len(self.rows) <= ROWS_PER_PIECE and window in self._kept:
            return self._kept[window]
        if self.rows.visible is None and window is None and stop - start == 1:
            return None
        seen = self._seen(start, stop, window)
        bias = torch.zeros(seen.shape, dtype=dtype, device=seen.device)
        mask = bias.masked_fill_(~seen, float("-inf")).repeat(group, 1)
        self._kept[window] = mask
        return mask

    def _seen(self, start: int, stop: int, window: int | None) -> Tensor:
        """bool [stop - start, keys]"""
        positions = self.rows.positions
        among = self.rows.among(start, stop)
        seen = torch.cat([among.new_ones(stop - start, self.length), among], dim=1)
        if window is not None:
            committed = torch.arange(self.length, device=positions.device)
            keys = torch.cat([committed, self.tail_positions, positions])[: seen.shape[1]]
            seen &= keys[None, :] > positions[start:stop, None] - window
        return seen
