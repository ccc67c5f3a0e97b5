"""The memory that a recurrent layer has of a text: a state for the committed tokens, and for each row of the
tail the little that is needed to advance the state along a path.

A layer has a state instead of rows: a matrix for each head (gated DeltaNet), the last inputs of a short
convolution, or both. The state is advanced only when rows are committed.
"""

import math
from collections.abc import Mapping, Sequence
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

    def record_nbytes(self, dtype: torch.dtype) -> int:
        """Return the bytes of what a row of the tail leaves: see `Tail`. dtype: as for `zeros`."""
        _, channels = self.inputs
        nbytes = channels * dtype.itemsize
        if self.matrix is not None:
            heads, _, width = self.matrix
            keys = (channels - heads * width) // 2  # the inputs are values, keys and as many queries
            nbytes += (keys + heads * (width + 2)) * torch.float32.itemsize
        return nbytes

    def within(self, block: Tensor, start: int, dtype: torch.dtype) -> "LayerState":
        """Return the state whose numbers are those of a block, uint8, from byte `start` on: the matrix, and
        behind it the inputs. dtype: as for `zeros`."""
        matrix = None
        if self.matrix is not None:
            stop = start + math.prod(self.matrix) * torch.float32.itemsize
            matrix, start = block[start:stop].view(torch.float32).view(self.matrix), stop
        stop = start + math.prod(self.inputs) * dtype.itemsize
        return LayerState(matrix, block[start:stop].view(dtype).view(self.inputs))


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

    def fill(self, state: "LayerState") -> None:
        """Take over the numbers of a state, which may be on another device. The host does not wait for them
        if memory of its own is pinned."""
        self.inputs.copy_(state.inputs, non_blocking=True)
        if self.matrix is not None:
            assert state.matrix is not None
            self.matrix.copy_(state.matrix, non_blocking=True)

    def clear(self) -> None:
        """Make it the state before the first token."""
        self.inputs.zero_()
        if self.matrix is not None:
            self.matrix.zero_()


class SavedStates:
    """The states of all layers behind one place of a text, in one block of RAM. Attributes: `layers`, the
    part of the block that has the state of each layer, by its number; `nbytes`, of the block."""

    def __init__(self, block: Tensor, shapes: Mapping[int, LayerStateShape], dtype: torch.dtype) -> None:
        """block: uint8 [bytes of all states]. shapes: of the states, by layer. dtype: of the convolutions'
        inputs."""
        self.layers: dict[int, LayerState] = {}
        self.nbytes = 0
        for layer, shape in shapes.items():
            self.layers[layer] = part = shape.within(block, self.nbytes, dtype)
            self.nbytes += part.nbytes
        self._block = block

    def read(self) -> NDArray[np.uint8]:
        """Return a copy of the block, uint8 [nbytes]. The device's copies into it must be over."""
        return self._block.numpy().copy()


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
    the layer has no matrix. saved: the states of all layers behind so many slots of the tail.
    """

    base: LayerState
    inputs: Tensor
    delta: DeltaRows | None = None
    absorbed: int = 0
    saved: dict[int, SavedStates] = field(default_factory=dict)

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
        self.forget_pass()

    def forget_pass(self) -> None:
        """Drop what a pass has left that did not end, with its savepoints."""
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

    def restore(self, state: LayerState | None) -> None:
        """Go back to an earlier state, which is copied; None: that before the first token."""
        self.drop()
        if state is None:
            self.state.clear()
        else:
            self.state.fill(state)
