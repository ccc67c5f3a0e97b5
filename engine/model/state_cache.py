"""The cache of a compiled model some of whose layers have a state instead of rows: their states, beside the
KV cache of the layers that attend.

A pass over a text leaves the states behind it in a second store, which `keep` makes the first. A pass over a
tree leaves a record of each row; `keep` advances the states along the records of the accepted path. So a pass
that does not end has changed nothing.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from engine.checkpoints.recurrent import SAVEPOINTS, WORKING
from engine.compiled.paths import Paths, text_paths, tree_paths
from engine.compiled.slices import commit
from engine.compiled.states import StateShape
from engine.model.kv_cache import HostCache
from engine.model.rows import Rows
from engine.model.savepoints import WINDOW, Savepoints

Floats = NDArray[np.float32]


class StateCache(HostCache):
    """A `HostCache` with states. Stores and records are those of `engine.compiled.states`."""

    rows_suffice = False

    def __init__(self, shape: StateShape, layers: Sequence[tuple[int, int]], capacity: int) -> None:
        """layers: those that attend, as for `HostCache`."""
        super().__init__(layers, capacity)
        self._shape = shape
        self._states, self._behind = self._empty(), self._empty()
        self._records = np.empty((0, shape.layers, shape.record_nbytes // 4), np.float32)
        self._savepoints: Savepoints[Floats] = Savepoints()
        self._tail = _Tail([], [])
        self._pass: _Tail | _Text = self._tail

    @property
    def nbytes(self) -> int:
        """Bytes of memory, with the states behind a prompt."""
        return super().nbytes + WORKING * self.state_nbytes

    @property
    def saved_nbytes(self) -> int:
        return SAVEPOINTS * self.state_nbytes

    @property
    def row_nbytes(self) -> int:
        return super().nbytes // self.slots

    @property
    def state_nbytes(self) -> int:
        return self._shape.nbytes

    @property
    def record_nbytes(self) -> int:
        return self._shape.layers * self._shape.record_nbytes

    @property
    def saved_lengths(self) -> list[int]:
        return sorted({*self._savepoints.states, self.length} - {0})

    @property
    def savepoints(self) -> dict[int, int]:
        """The bytes of each savepoint, by the number of tokens that it lies behind."""
        return {length: states.nbytes for length, states in self._savepoints.states.items()}

    @property
    def form(self) -> str:
        return f"{super().form} states"

    def states(self) -> Floats:
        """Return the states behind the committed tokens. For tests."""
        return self._states

    def read_states(self, length: int) -> NDArray[np.uint8]:
        states = self._states if length == self.length else self._savepoints.states[length]
        return states.flatten().view(np.uint8)

    def write_states(self, states: NDArray[np.uint8]) -> None:
        self._states[:] = states.view(np.float32).reshape(self._states.shape)

    def begin_pass(self, rows: Rows, tail_positions: NDArray[np.int64]) -> None:
        """Prepare for a pass over `rows`. tail_positions: those of the rows in the tail."""
        count = len(rows)
        assert not isinstance(self._pass, _Text) or not self.tail, "a text is kept before the next pass"
        if rows.visible is None:
            start, stop = self.length, self.length + count
            chosen = self._savepoints.make_room(self._savepoints.wanted(start, stop), stop)
            self._pass = _Text({length: np.empty_like(self._states) for length in chosen})
            return
        parents = _parents(rows.visible, np.concatenate([tail_positions, rows.positions]))
        self._pass = _Tail([*self._tail.parents, *parents], [*tail_positions, *rows.positions])
        if len(self._records) < self.tail + count:  # in place: two copies might be hundreds of megabytes
            self._records.resize((self.tail + count, *self._records.shape[1:]), refcheck=False)

    def paths(self, start: int, stop: int) -> Paths:
        """Return the paths of the rows start..stop of the pass, which run after those before them."""
        kernel, base = self._shape.kernel, self._states.ctypes.data
        if isinstance(self._pass, _Text):
            first, last = self.length + start, self.length + stop
            saved = self._pass.saved
            inside = {
                length - first: states.ctypes.data
                for length, states in saved.items()
                if first < length < last
            }
            if start:
                base = saved.get(first, self._behind).ctypes.data
            target = saved.get(last, self._behind).ctypes.data
            return text_paths(stop - start, kernel, base, target, inside)
        parents, positions = self._pass.parents[: self.tail + stop], self._pass.positions
        records = self._records.ctypes.data
        return tree_paths(parents, positions, self.tail + start, kernel, base, records)

    def extend_tail(self, rows: int) -> None:
        super().extend_tail(rows)
        if isinstance(self._pass, _Tail):
            self._tail = self._pass

    def keep(self, tail_slots: Sequence[int], survivors: Sequence[int] = ()) -> None:
        if isinstance(self._pass, _Text) and self.tail:
            if tail_slots:
                assert list(tail_slots) == list(range(self.tail)), "a text is kept whole or not at all"
                self._states, self._behind = self._behind, self._states
                self._savepoints.states |= self._pass.saved
        elif tail_slots:
            self._commit(tail_slots)
        super().keep(tail_slots, survivors)
        self._keep_tail(survivors)
        if self._savepoints.is_due(self.length):
            self.save()

    def _commit(self, path: Sequence[int]) -> None:
        """Advance the states past these slots of the tail."""
        shape = self._shape
        if shape.heads:
            commit(shape, self._states.ctypes.data, self._records.ctypes.data, path)
        inputs = self._states[:, shape.matrix_nbytes // 4 :].reshape(shape.layers, -1, shape.channels)
        added = self._records[list(path[-(shape.kernel - 1) :]), :, : shape.channels]
        known = np.concatenate([inputs, added.transpose(1, 0, 2)], axis=1)
        inputs[:] = known[:, known.shape[1] - inputs.shape[1] :]

    def _keep_tail(self, survivors: Sequence[int]) -> None:
        """Keep the records of these slots of the tail only."""
        place = {slot: number for number, slot in enumerate(survivors)}
        tail = self._tail
        for slot, number in place.items():  # one after the other, as above
            if slot != number:
                self._records[number] = self._records[slot]
        self._tail = _Tail(
            [place.get(tail.parents[slot], -1) for slot in survivors],
            [tail.positions[slot] for slot in survivors],
        )
        self._pass = self._tail

    def keepable(self, length: int) -> int:
        return self.length if length >= self.length else self._savepoints.before(length)

    def save(self) -> None:
        length, saved = self.length, self._savepoints
        if length and length not in saved.states:
            saved.make_room([length], length)
            saved.states[length] = self._states.copy()

    def expect_branch(self, length: int) -> None:
        if length - self.length >= WINDOW:
            self._savepoints.branch = length

    def truncate(self, length: int) -> None:
        assert length == self.keepable(length)
        if length < self.length:
            states = self._savepoints.states.get(length)
            self._states[:] = 0 if states is None else states
            self._savepoints.drop_behind(length)
        self._keep_tail([])
        super().truncate(length)

    def _empty(self) -> Floats:
        """Return the states before the first token."""
        return np.zeros((self._shape.layers, self._shape.layer_nbytes // 4), np.float32)


class _Text:
    """A pass over a text. Attribute: `saved`, the savepoints that it fills, by length."""

    def __init__(self, saved: dict[int, Floats]) -> None:
        self.saved = saved


class _Tail:
    """The tail of a tree, and its rows of the pass that runs. Attributes, by slot: `parents`, -1 for the last
    committed token; `positions`."""

    def __init__(self, parents: list[int], positions: list[int]) -> None:
        self.parents = parents
        self.positions = positions


def _parents(visible: NDArray[np.bool_], positions: NDArray[np.int64]) -> list[int]:
    """Return the slot of the parent of each row, or -1 if it is the last committed token. visible: as in
    Rows; positions: of the tail and of the rows."""
    count, every = visible.shape
    above = visible.copy()
    above[np.arange(count), np.arange(every - count, every)] = False
    at = np.where(above, positions, -1)
    parents: list[int] = np.where(above.any(axis=1), at.argmax(axis=1), -1).tolist()
    return parents
