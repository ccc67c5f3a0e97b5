"""The cache of a model some of whose layers see only a window of the text: those keep the last rows, the
others all of them.

Rows that have left the window are dropped when there is no room for the next pass, many at a time, and those
behind them move to the front: they stay in the order of their positions, so sums are the same as with all
rows. A rewind to where a row of the window is missing goes back to a savepoint, as with states, and copies
its rows back. Where a text may be changed later is only noted at first, and is saved once rows there are
dropped: a short chat copies nothing.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from engine.checkpoints.windows import SAVEPOINTS, held, kept_slots, reach
from engine.model.kv_cache import HostCache, KVCache
from engine.model.savepoints import MARGIN, WINDOW, Savepoints

Bytes = NDArray[np.uint8]


def narrows(windows: Sequence[int | None], capacity: int, apart: bool) -> bool:
    """Return whether the layers with a window keep fewer rows than others in a text of up to `capacity`
    tokens. windows: of each layer, or None. apart: as for `kept_slots`."""
    window = widest(windows)
    return bool(window) and kept_slots(window, capacity, apart) < capacity


def widest(windows: Sequence[int | None]) -> int:
    """Return the largest window of a layer; 0 if none has one."""
    return max(filter(None, windows), default=0)


class WindowedCache(KVCache):
    """What caches of compiled passes and of torch have in common whose layers with a window drop rows.

    Attribute: `narrow`, the cache of these layers: its slot 0 holds the row of token `dropped`. The rows of
    the other layers are the cache's own, and what it says of rows is said of those; the last rows of layers
    with a window are its states.
    """

    narrow: KVCache

    def _begin(self, narrow: KVCache, window: int) -> None:
        """narrow: an empty cache. window: the largest one of a layer."""
        self.narrow = narrow
        self._reach = reach(window)
        self._held = held(window)  # rows that are never dropped
        self.pass_rows = narrow.capacity - self._held
        # None in place of a savepoint's rows: they are in the cache.
        self._saved: Savepoints[Bytes | None] = Savepoints(SAVEPOINTS)
        self._read_to = 0  # where the last piece of a prompt ended
        self._restored: Bytes | None = None  # states that `adopt` takes

    @property
    def nbytes(self) -> int:
        return self._wide_nbytes + self.narrow.nbytes

    @property
    def row_nbytes(self) -> int:
        return self._wide_nbytes // self.slots

    @property
    def _wide_nbytes(self) -> int:
        return super().nbytes  # type: ignore[safe-super]  # that of the class beside this one

    @property
    def saved_nbytes(self) -> int:
        return SAVEPOINTS * self.state_nbytes

    @property
    def state_nbytes(self) -> int:
        return self._held * self.narrow.row_nbytes

    def state_nbytes_behind(self, length: int) -> int:
        return min(length, self._held) * self.narrow.row_nbytes

    @property
    def saved_lengths(self) -> list[int]:
        return sorted(length for length in {*self._saved.states, self.length} - {0} if self._is_whole(length))

    @property
    def form(self) -> str:
        wide = super().form  # type: ignore[safe-super]  # that of the class beside this one
        return f"{wide}, window {self._held} {self.narrow.form}"

    @property
    def free(self) -> int:
        kept = min(self.narrow.length, self._held)
        return min(super().free, self.narrow.capacity - kept - self.tail)

    def read_states(self, length: int) -> Bytes:
        rows = self._saved.states.get(length)
        return self._last_rows(length) if rows is None else rows

    def write_states(self, states: Bytes) -> None:
        self._restored = states

    def adopt(self, rows: int) -> None:
        assert self.tail == 0
        assert rows <= self.capacity - self.length
        if not rows:
            return
        assert self._restored is not None
        self.length += rows
        self.written = max(self.written, self.length)
        self._put_back(self._restored)
        self._restored = None
        self._read_to = 0

    def reserve(self, rows: int) -> None:
        super().reserve(rows)
        if rows > self.narrow.free:
            first = self.length - self._held
            self._save_before(first)
            self.narrow.drop_first(first - self.dropped)
            self.dropped = first
        self.narrow.reserve(rows)

    def extend_tail(self, rows: int) -> None:
        super().extend_tail(rows)
        self.narrow.extend_tail(rows)

    def keep(self, tail_slots: Sequence[int], survivors: Sequence[int] = ()) -> None:
        before = self.length
        super().keep(tail_slots, survivors)
        self.narrow.keep(tail_slots, survivors)
        if before < self._saved.branch <= self.length:
            self._note(self._saved.branch)
        if len(tail_slots) > WINDOW:  # a piece of a prompt, and its end only if no other piece follows
            if self._read_to == before:
                self._saved.states.pop(before - MARGIN, None)
            self._note(self.length - MARGIN)
            self._read_to = self.length

    def keepable(self, length: int) -> int:
        if length >= self.length:
            return self.length
        return length if self._holds(length) else self._saved.before(length)

    def save(self) -> None:
        if self.length:
            self._note(self.length)

    def expect_branch(self, length: int) -> None:
        if length - self.length >= WINDOW:
            self._saved.branch = length

    def truncate(self, length: int) -> None:
        assert length == self.keepable(length)
        if length < self.length:
            self._saved.drop_behind(length)
        self._read_to = 0
        is_held = self._holds(length)
        super().truncate(length)
        if is_held:
            self.narrow.truncate(length - self.dropped)
        else:
            rows = self._saved.states.get(length)
            self._put_back(np.empty(0, np.uint8) if rows is None else rows)

    def _first(self, length: int) -> int:
        """Return the first token whose rows must be there in order to go on behind `length` tokens."""
        return max(0, length - self._reach)

    def _holds(self, length: int) -> bool:
        """Return whether the rows are there that are needed behind `length` tokens of the text."""
        return self._first(length) >= self.dropped

    def _is_whole(self, length: int) -> bool:
        """Return whether the state behind `length` tokens, which is saved or in the cache, has all its rows:
        a rewind may have left only those that must be there."""
        rows = self._saved.states.get(length)
        if rows is None:
            return max(0, length - self._held) >= self.dropped
        return rows.size == self.state_nbytes_behind(length)

    def _last_rows(self, length: int) -> Bytes:
        """Return a copy of the rows of a savepoint behind `length` tokens, as far as they are there."""
        first = max(self.dropped, length - self._held)
        return self.narrow.read_rows(first - self.dropped, length - first)

    def _put_back(self, rows: Bytes) -> None:
        """Replace the rows of layers with a window by those of a savepoint behind the text."""
        first = self.length - rows.size // self.narrow.row_nbytes
        self._save_before(first)
        self.dropped = first
        self.narrow.truncate(0)
        self.narrow.write_rows(0, rows)
        self.narrow.adopt(self.length - first)

    def _note(self, length: int) -> None:
        """Note that a later text may go on behind `length` tokens, whose rows are there. What is worth less
        makes room."""
        if length not in self._saved.states and self._saved.make_room([length], self.length):
            self._saved.states[length] = None

    def _save_before(self, first: int) -> None:
        """Copy the rows of noted lengths that have some before `first`, which are dropped next."""
        for length, rows in self._saved.states.items():
            if rows is None and length - self._held < first:
                self._saved.states[length] = self._last_rows(length)


class WindowedHostCache(WindowedCache, HostCache):
    """A `WindowedCache` for compiled passes."""

    narrow: HostCache

    def __init__(
        self, layers: Sequence[tuple[int, int]], windows: Sequence[int | None], capacity: int
    ) -> None:
        """layers: as for `HostCache`. windows: that of each of them, or None. They narrow (`narrows`)."""
        pairs = list(zip(layers, windows, strict=True))
        super().__init__([layer for layer, window in pairs if not window], capacity)
        slots = kept_slots(widest(windows), capacity, apart=False)
        self._begin(HostCache([layer for layer, window in pairs if window], slots), widest(windows))
        # For each layer, whether it has a window, and its number among those that are alike in this.
        self._numbers = [
            (bool(window), sum(bool(each) == bool(window) for each in windows[:number]))
            for number, window in enumerate(windows)
        ]

    @property
    def places(self) -> list[tuple[int, int, int]]:
        wide, narrow = super().places, self.narrow.places
        found = []
        for has_window, number in self._numbers:
            if not has_window:
                found.append(wide[number])
                continue
            keys, values, head_nbytes = narrow[number]
            before = self.dropped * self.narrow.layers[number].shape[3]
            found.append((keys - before, values - before, head_nbytes))
        return found

    def rows(self, layer: int) -> Bytes:
        has_window, number = self._numbers[layer]
        return self.narrow.rows(number) if has_window else super().rows(number)
