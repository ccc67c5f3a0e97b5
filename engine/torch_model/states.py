"""The memory that a recurrent layer has of a text: a state for the committed tokens, and for each row of the
tail the little that is needed to advance the state along a path.

A layer has a state instead of rows: a matrix for each head (gated DeltaNet), the last inputs of a short
convolution, or both. The state is advanced only when rows are committed.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor


@dataclass(frozen=True, slots=True)
class LayerStateShape:
    """The shape of a layer's state. matrix: (heads, key width, value width), or None if the layer has only a
    convolution; inputs: (kernel - 1, channels)."""

    matrix: tuple[int, int, int] | None
    inputs: tuple[int, int]

    def zeros(self, dtype: torch.dtype, device: torch.device) -> "LayerState":
        """Return the state before the first token. dtype: that of the convolution's inputs."""
        matrix = None if self.matrix is None else torch.zeros(self.matrix, device=device)
        return LayerState(matrix, torch.zeros(self.inputs, dtype=dtype, device=device))


@dataclass(slots=True)
class LayerState:
    """A layer's state behind some token.

    matrix: float32 [heads, key width, value width], or None. inputs: the last inputs of the convolution,
    [kernel - 1, channels], the oldest first; zeros stand for those before the text.
    """

    matrix: Tensor | None
    inputs: Tensor

    @property
    def nbytes(self) -> int:
        return self.inputs.nbytes + (0 if self.matrix is None else self.matrix.nbytes)

    def copy(self) -> "LayerState":
        return LayerState(None if self.matrix is None else self.matrix.clone(), self.inputs.clone())

    def read(self) -> NDArray[np.uint8]:
        """Return the numbers as bytes, uint8 [nbytes]."""
        parts = [part for part in (self.matrix, self.inputs) if part is not None]
        return np.concatenate([part.cpu().flatten().view(torch.uint8).numpy() for part in parts])

    def like(self, stored: NDArray[np.uint8]) -> "LayerState":
        """Return the state of this shape that `read` has returned."""
        flat = torch.from_numpy(stored.copy())  # blocks from a file are read-only
        inputs = flat[len(flat) - self.inputs.nbytes :].view(self.inputs.dtype).view(self.inputs.shape)
        if self.matrix is None:
            return LayerState(None, inputs.to(self.inputs.device))
        matrix = flat[: self.matrix.nbytes].view(self.matrix.dtype).view(self.matrix.shape)
        return LayerState(matrix.to(self.matrix.device), inputs.to(self.inputs.device))


@dataclass(frozen=True, slots=True)
class DeltaRows:
    """The results of the delta rule for rows, each on its own path. All are float32.

    keys: [key heads, rows, key width]. updates: [heads, rows, value width], u of `delta_rule`.
    decays: [heads, rows], the log of each row's factor. totals: [heads, rows], the sum of `decays` on the
    path from the base's state to the row, the row among them.
    """

    keys: Tensor
    updates: Tensor
    decays: Tensor
    totals: Tensor

    def joined(self, more: "DeltaRows") -> "DeltaRows":
        pairs = zip(self._parts, more._parts, strict=True)
        return DeltaRows(*(torch.cat(pair, dim=1) for pair in pairs))

    def chosen(self, rows: Sequence[int]) -> "DeltaRows":
        index = torch.tensor(rows, dtype=torch.int64, device=self.keys.device)
        return DeltaRows(*(part.index_select(1, index) for part in self._parts))

    def advance(self, matrix: Tensor) -> None:
        """Advance the base's matrix, in place, past these rows, which are a path that starts there."""
        heads, rows, width = self.updates.shape
        last = self.totals[:, -1:]
        weighted = self.updates * (last - self.totals).exp().unsqueeze(2)
        shared = self.keys.shape[0], heads // self.keys.shape[0]
        added = self.keys.transpose(1, 2).unsqueeze(1) @ weighted.view(*shared, rows, width)
        matrix.mul_(last.exp().unsqueeze(2)).add_(added.view(matrix.shape))

    def behind(self, path: "DeltaRows") -> "DeltaRows":
        """Return these rows as seen from the end of `path`, which has become part of the base's state."""
        return replace(self, totals=self.totals - path.totals[:, -1:])

    @property
    def _parts(self) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        return self.keys, self.updates, self.decays, self.totals


@dataclass(frozen=True, slots=True)
class Tail:
    """The rows under consideration, as a layer sees them.

    base: the state from which the rows' paths start. absorbed: the first so many slots of the tail are
    part of it already, since they are plain text; `base` is a copy then, or else the committed state.
    inputs: those of the convolution, [rows, channels]. delta: of the same rows; None if there are none, or
    the layer has no matrix. saved: states behind so many slots of the tail.
    """

    base: LayerState
    inputs: Tensor
    delta: DeltaRows | None = None
    absorbed: int = 0
    saved: dict[int, LayerState] = field(default_factory=dict)

    def known(self) -> Tensor:
        """Return the convolution's inputs that rows behind these may read: [kernel - 1 + rows, channels]."""
        return torch.cat([self.base.inputs, self.inputs])


class LayerMemory:
    """One layer's memory of one text. Attributes: `state`, that of the committed tokens; `tail`."""

    def __init__(self, state: LayerState) -> None:
        self.state = state
        self._pending: Tail | None = None
        self.drop()

    def drop(self) -> None:
        """Drop the tail, and what a pass has left that did not end."""
        self.tail = Tail(self.state, self.state.inputs[:0])
        self._pending = None

    def propose(self, tail: Tail) -> None:
        """Take the tail with the rows of the pass that runs, for `extend`."""
        self._pending = tail

    def extend(self) -> None:
        """Make what the pass has proposed the tail."""
        assert self._pending is not None
        self.tail, self._pending = self._pending, None

    def keep(self, slots: Sequence[int], survivors: Sequence[int]) -> None:
        """Advance the state past these slots of the tail, which are a path from its start. `survivors`, which
        lie behind the last of them, become the tail; see `KVCache.keep`."""
        tail, absorbed = self.tail, self.tail.absorbed
        if not slots and absorbed:
            assert not survivors
            self.drop()
            return
        assert list(slots[:absorbed]) == list(range(absorbed)), "the rows of a text are kept from the first"
        self.state = tail.base
        path = [slot - absorbed for slot in slots[absorbed:]]
        rest = [slot - absorbed for slot in survivors]
        delta = tail.delta
        if path:
            if delta is not None:
                taken = delta.chosen(path)
                assert self.state.matrix is not None
                taken.advance(self.state.matrix)
                delta = delta.behind(taken)
            inputs = torch.cat([self.state.inputs, tail.inputs[path]])
            self.state.inputs = inputs[len(path) :].clone()
        self.drop()
        if rest:
            self.tail = Tail(self.state, tail.inputs[rest], None if delta is None else delta.chosen(rest))

    def restore(self, state: LayerState) -> None:
        """Go back to an earlier state, which is copied."""
        self.state = state.copy()
        self.drop()
