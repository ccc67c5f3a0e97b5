"""The cache of a model in which only some layers attend: keys and values of those, and states of the others,
with their savepoints."""

from collections.abc import Mapping, Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from engine.checkpoints.recurrent import COPIES
from engine.model.savepoints import WINDOW, Savepoints
from engine.quantization import states_dtype
from engine.torch_model.paths import RowPaths
from engine.torch_model.states import LayerMemory, LayerState, LayerStateShape
from engine.torch_model.tensor_cache import RowShape, TensorCache
from engine.torch_model.visibility import Visibility


class HybridCache(TensorCache):
    """A `TensorCache` with states. Attribute: `paths`, those of the pass that runs, or None."""

    rows_suffice = False

    def __init__(
        self,
        rows: Sequence[RowShape],
        shapes: Mapping[int, LayerStateShape],
        capacity: int,
        dtype: torch.dtype,
        device: torch.device | str,
    ) -> None:
        """rows: the shapes of the attending layers' rows. shapes: those of the states, by the number of the
        layer."""
        super().__init__(rows, capacity, dtype, device)
        self._shapes = dict(shapes)
        self._memories = {layer: LayerMemory(state) for layer, state in self._empty().items()}
        self._savepoints: Savepoints[dict[int, LayerState]] = Savepoints()  # of each: layer -> state
        self._paths: RowPaths | None = None

    @property
    def nbytes(self) -> int:
        """Bytes of memory, with as many savepoints as there may be, and the copy that reads a prompt."""
        return super().nbytes + COPIES * self.state_nbytes

    @property
    def row_nbytes(self) -> int:
        return super().nbytes // (self.capacity + 1)

    @property
    def state_nbytes(self) -> int:
        return sum(memory.state.nbytes for memory in self._memories.values())

    @property
    def saved_lengths(self) -> list[int]:
        return sorted({*self._savepoints.states, self.length} - {0})

    @property
    def savepoints(self) -> dict[int, int]:
        """The bytes of each savepoint, by the number of tokens that it lies behind."""
        return {
            length: sum(state.nbytes for state in states.values())
            for length, states in self._savepoints.states.items()
        }

    @property
    def form(self) -> str:
        return f"{super().form} states"

    def read_states(self, length: int) -> NDArray[np.uint8]:
        if length == self.length:
            states = [memory.state for memory in self._memories.values()]
        else:
            states = [self._savepoints.states[length][layer] for layer in self._memories]
        return np.concatenate([state.read() for state in states])

    @torch.inference_mode()
    def write_states(self, states: NDArray[np.uint8]) -> None:
        start = 0
        for memory in self._memories.values():
            stop = start + memory.state.nbytes
            memory.restore(memory.state.like(states[start:stop]))
            start = stop

    def memory(self, layer: int) -> LayerMemory:
        """Return the memory of a layer that has a state."""
        return self._memories[layer]

    def rows(self, layer: int) -> Tensor:
        """Return the committed rows of a layer, or the inputs that its convolution remembers. For tests."""
        if layer in self._memories:
            return self._memories[layer].state.inputs
        return super().rows(layer)

    def reserve(self, rows: int) -> None:
        super().reserve(rows)
        self._paths = None

    def paths(self, visibility: Visibility) -> RowPaths:
        """Return the paths of the rows of the pass that runs."""
        if self._paths is None:
            self._paths = self._paths_of(visibility)
        return self._paths

    def extend_tail(self, rows: int) -> None:
        super().extend_tail(rows)
        for memory in self._memories.values():
            memory.extend()

    @torch.inference_mode()
    def keep(self, tail_slots: Sequence[int], survivors: Sequence[int] = ()) -> None:
        before = self.length
        passed: dict[int, dict[int, LayerState]] = {}
        for layer, memory in self._memories.items():
            for slots, state in memory.tail.saved.items():
                if slots <= len(tail_slots):
                    passed.setdefault(before + slots, {})[layer] = state
            memory.keep(tail_slots, survivors)
        super().keep(tail_slots, survivors)
        self._savepoints.states |= passed
        if self._savepoints.is_due(self.length):
            self.save()

    def keepable(self, length: int) -> int:
        return self.length if length >= self.length else self._savepoints.before(length)

    @torch.inference_mode()
    def save(self) -> None:
        length, saved = self.length, self._savepoints
        if length and length not in saved.states:
            saved.make_room([length], length)
            saved.states[length] = {layer: memory.state.copy() for layer, memory in self._memories.items()}

    def expect_branch(self, length: int) -> None:
        branch = length // WINDOW * WINDOW  # where a window ends
        if branch - self.length >= WINDOW:
            self._savepoints.branch = branch

    @torch.inference_mode()
    def truncate(self, length: int) -> None:
        assert length == self.keepable(length)
        if length == self.length:
            for memory in self._memories.values():
                memory.drop()
        else:
            states = self._savepoints.states.get(length) or self._empty()
            for layer, memory in self._memories.items():
                memory.restore(states[layer])
            self._savepoints.drop_behind(length)
        super().truncate(length)

    def _empty(self) -> dict[int, LayerState]:
        dtype = states_dtype(self.dtype)
        return {layer: shape.zeros(dtype, self.device) for layer, shape in self._shapes.items()}

    def _paths_of(self, visibility: Visibility) -> RowPaths:
        rows = visibility.rows
        if rows.visible is None:
            return self._paths_of_text(len(rows))
        absorbed = max(memory.tail.absorbed for memory in self._memories.values())
        behind = torch.cat([visibility.tail_positions[absorbed:], rows.positions])
        depths = behind - (self.length + absorbed)
        return RowPaths(len(rows), (len(rows),), self.device, tree=(rows.visible[:, absorbed:], depths))

    def _paths_of_text(self, count: int) -> RowPaths:
        """Return the paths of a text, in windows that end at multiples of their size, and choose where states
        are saved on the way. Savepoints that are worth less make room for them already."""
        start, stop = self.length, self.length + count
        if count <= WINDOW:
            return RowPaths(count, (count,), self.device)
        cuts = range(start // WINDOW * WINDOW + WINDOW, stop, WINDOW)
        chosen = self._savepoints.make_room(self._savepoints.wanted(start, stop, WINDOW), stop)
        windows = (*(cut - start for cut in cuts), count)
        return RowPaths(count, windows, self.device, frozenset(cut - start for cut in chosen))
