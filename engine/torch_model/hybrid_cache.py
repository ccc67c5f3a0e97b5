"""The cache of a model in which only some layers attend: keys and values of those, and states of the others,
with their savepoints, which are in RAM."""

from collections.abc import Mapping, Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from engine.checkpoints.recurrent import SAVEPOINTS, WORKING
from engine.model.savepoints import WINDOW, Savepoints
from engine.quantization import states_dtype
from engine.torch_model.paths import RowPaths
from engine.torch_model.state_rooms import StateRooms
from engine.torch_model.states import LayerMemory, LayerStateShape, SavedStates
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
        numbers = states_dtype(dtype)
        self._memories = {
            layer: LayerMemory(shape.zeros(numbers, self.device)) for layer, shape in shapes.items()
        }
        self._record_nbytes = sum(shape.record_nbytes(numbers) for shape in shapes.values())
        self._rooms = StateRooms(dict(shapes), numbers, self.state_nbytes, self.device)
        self._savepoints: Savepoints[SavedStates] = Savepoints()
        self._paths: RowPaths | None = None

    @property
    def nbytes(self) -> int:
        """Bytes of memory, with the copy of the states that reads a prompt."""
        return super().nbytes + WORKING * self.state_nbytes

    @property
    def saved_nbytes(self) -> int:
        return SAVEPOINTS * self.state_nbytes

    @property
    def row_nbytes(self) -> int:
        return super().nbytes // (self.capacity + 1)

    @property
    def state_nbytes(self) -> int:
        return sum(memory.state.nbytes for memory in self._memories.values())

    @property
    def record_nbytes(self) -> int:
        return self._record_nbytes

    @property
    def saved_lengths(self) -> list[int]:
        return sorted({*self._savepoints.states, self.length} - {0})

    @property
    def savepoints(self) -> dict[int, int]:
        """The bytes of each savepoint, by the number of tokens that it lies behind."""
        return {length: saved.nbytes for length, saved in self._savepoints.states.items()}

    @property
    def form(self) -> str:
        return f"{super().form} states"

    @torch.inference_mode()
    def read_states(self, length: int) -> NDArray[np.uint8]:
        saved = self._savepoints.states.get(length)
        if saved is None:
            saved = self._rooms.within(np.empty(self.state_nbytes, np.uint8))
            self._copy_to(saved)
        self._rooms.wait()
        return saved.read()

    @torch.inference_mode()
    def write_states(self, states: NDArray[np.uint8]) -> None:
        saved = self._rooms.within(states.copy())  # blocks from a file are read-only
        self._restore(saved)
        self._rooms.wait()  # before that memory is freed

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
        for memory in self._memories.values():
            memory.forget_pass()

    def paths(self, visibility: Visibility) -> RowPaths:
        """Return the paths of the rows of the pass that runs."""
        if self._paths is None:
            self._paths = self._paths_of(visibility)
        return self._paths

    def extend_tail(self, rows: int) -> None:
        super().extend_tail(rows)
        self._paths = None
        for memory in self._memories.values():
            memory.extend()

    @torch.inference_mode()
    def keep(self, tail_slots: Sequence[int], survivors: Sequence[int] = ()) -> None:
        before = self.length
        passed: dict[int, SavedStates] = {}
        for memory in self._memories.values():
            saved = memory.tail.saved.items()
            passed |= {before + slots: states for slots, states in saved if slots <= len(tail_slots)}
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
            saved.states[length] = self._rooms.take()
            self._copy_to(saved.states[length])

    def expect_branch(self, length: int) -> None:
        branch = length // WINDOW * WINDOW  # where a window ends
        if branch - self.length >= WINDOW:
            self._savepoints.branch = branch

    @torch.inference_mode()
    def truncate(self, length: int) -> None:
        assert length == self.keepable(length)
        self._paths = None
        if length == self.length:
            for memory in self._memories.values():
                memory.drop()
        else:
            self._restore(self._savepoints.states.get(length))
            self._savepoints.drop_behind(length)
        super().truncate(length)

    def _copy_to(self, saved: SavedStates) -> None:
        """Copy the states behind the committed tokens."""
        for layer, memory in self._memories.items():
            saved.layers[layer].fill(memory.state)

    def _restore(self, saved: SavedStates | None) -> None:
        """Go back to saved states, which are copied; None: to those before the first token."""
        for layer, memory in self._memories.items():
            memory.restore(saved.layers[layer] if saved else None)

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
        return RowPaths(count, windows, self.device, {cut - start: self._rooms.take() for cut in chosen})
