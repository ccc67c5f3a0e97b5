"""The KV cache: keys and values of one token sequence, preallocated. Independent of models and trees.

Slots [0, length) hold committed tokens, slot i that of position i. Slots [length, length + tail) hold rows
under consideration (a tree, say), in the order they were written; `keep` commits some of them. One
spare slot behind the capacity takes rows that are never read. Behind it, there may be slots for the tail of
another sequence, which reads the same committed rows through a `SharedCache`.
"""

import math
import mmap
import sys
from abc import ABC, abstractmethod
from collections.abc import Sequence
from contextlib import suppress
from itertools import groupby

import numpy as np
from numpy.typing import NDArray

from engine.errors import PromptTooLong


class KVCache(ABC):
    """The keys and values of one token sequence in all layers of a model.

    Attributes: `length`, the number of committed slots; `tail`, the number of slots under consideration;
    `capacity`, the number of slots for both; `beside`, that of slots for the tail of a `SharedCache`;
    `written`, the slot from which on none was ever written; `dropped`, the number of tokens at the start of
    the text whose rows layers with a window have dropped; `rows_suffice`, whether layers have rows only, and
    no states; `pass_rows`, the number of rows that a pass may have, together with those of the tail; None:
    any.
    """

    dropped = 0
    rows_suffice = True
    pass_rows: int | None = None

    def __init__(self, capacity: int, beside: int = 0) -> None:
        self.capacity = capacity
        self.beside = beside
        self.length = 0
        self.tail = 0
        self.written = 0

    @property
    def slots(self) -> int:
        """The number of all slots in memory."""
        return self.capacity + 1 + self.beside

    @property
    def tail_start(self) -> int:
        """The first slot of the tail."""
        return self.length

    @property
    def free(self) -> int:
        """The number of rows that the tail still has room for."""
        return self.capacity - self.length - self.tail

    @property
    @abstractmethod
    def nbytes(self) -> int:
        """Bytes of memory."""

    @abstractmethod
    def move(self, source: Sequence[int], first: int) -> None:
        """Copy the slots `source` to the slots from `first` on, within the cache's memory."""

    @property
    @abstractmethod
    def form(self) -> str:
        """The layout of a row and the format of its numbers. Rows of equal forms may be exchanged."""

    @property
    def row_nbytes(self) -> int:
        """Bytes of one token's rows in all layers."""
        return self.nbytes // self.slots

    @abstractmethod
    def read_rows(self, first: int, count: int) -> NDArray[np.uint8]:
        """Return a copy of the rows in `count` slots from `first` on, as uint8 [count * row_nbytes]."""

    @abstractmethod
    def write_rows(self, first: int, rows: NDArray[np.uint8]) -> None:
        """Write rows that `read_rows` has returned into the slots from `first` on."""

    @property
    def saved_nbytes(self) -> int:
        """Bytes of RAM that savepoints take, at most, in addition to `nbytes`."""
        return 0

    @property
    def state_nbytes(self) -> int:
        """Bytes, at most, of all that must be known behind one token in order to go on there, besides rows of
        the whole text: layers' states, and the rows in the window of layers that have one; 0 if there is no
        such layer."""
        return 0

    def state_nbytes_behind(self, length: int) -> int:
        """Return the bytes of that behind the first `length` tokens."""
        return self.state_nbytes

    @property
    def record_nbytes(self) -> int:
        """Bytes that layers with states keep of a row of the tail, its record; 0 if there is none."""
        return 0

    @property
    def saved_lengths(self) -> list[int]:
        """The numbers of tokens behind which states can be read: savepoints, and the committed text."""
        return []

    def read_states(self, length: int) -> NDArray[np.uint8]:
        """Return a copy of the states behind one of `saved_lengths`, as uint8
        [state_nbytes_behind(length)]."""
        raise NotImplementedError

    def write_states(self, states: NDArray[np.uint8]) -> None:
        """Write states that `read_states` has returned: those behind the rows that `adopt` commits next."""
        raise NotImplementedError

    def shared(self) -> "SharedCache":
        """Return a second view of the committed rows, whose tail is in the slots `beside` the capacity."""
        raise NotImplementedError

    def adopt(self, rows: int) -> None:
        """Commit the next `rows` slots, into which rows were written. There must be no tail."""
        assert self.tail == 0
        self.reserve(rows)
        self.length += rows

    def reserve(self, rows: int) -> None:
        """Prepare for a pass that writes `rows` more rows. Raises PromptTooLong unless they fit."""
        if rows > self.free:
            if self.length + self.tail + rows <= self.capacity:
                room = self.tail + self.free
                raise PromptTooLong(
                    f"A pass of {self.tail + rows:,} rows has no room: it may have {room:,}.",
                    "Set a smaller --budget, or leave it to the engine.",
                )
            raise PromptTooLong(
                f"{self.length + self.tail + rows} tokens do not fit in a context of {self.capacity}.",
                "Shorten the prompt or increase the context length.",
            )
        self.written = max(self.written, self.tail_start + self.tail + rows)

    def extend_tail(self, rows: int) -> None:
        assert rows <= self.free
        self.tail += rows

    def keep(self, tail_slots: Sequence[int], survivors: Sequence[int] = ()) -> None:
        """Commit these slots of the tail, and drop the others except `survivors`, which become the tail.
        tail_slots, survivors: numbers of slots, counted from the start of the tail, ascending."""
        order = [*tail_slots, *survivors]
        if order != list(range(len(order))):
            self.move([self.length + slot for slot in order], self.length)
        self.length += len(tail_slots)
        self.tail = len(survivors)

    def keepable(self, length: int) -> int:
        """Return how many of the first `length` committed slots `truncate` can keep: all of them, unless
        layers have states, which can only go back to where they were saved, or have dropped rows."""
        return min(length, self.length)

    def save(self) -> None:
        """Note that a later text may go on from here. Only caches with states or windows have to keep
        anything for that."""
        return None

    def expect_branch(self, length: int) -> None:
        """Note that the text which is read next shares its first `length` tokens with another one, so that
        a third one may. Only caches with states or windows keep anything there."""
        return None

    def drop_first(self, count: int) -> None:
        """Drop the first `count` committed slots: those behind them, and the tail, move to the front."""
        self.move(range(count, self.length + self.tail), 0)
        self.length -= count

    def truncate(self, length: int) -> None:
        """Drop the tail and every committed slot from `length` on. `length` must be `keepable`."""
        assert 0 <= length <= self.length
        self.length = length
        self.tail = 0


class SharedCache(KVCache):
    """A second view of another cache's committed rows, which takes no memory. Its own rows never lie where
    the other writes: its tail is in the slots `beside` the other's."""

    @property
    def nbytes(self) -> int:
        return 0

    @property
    def tail_start(self) -> int:
        return self.capacity + 1

    @property
    def free(self) -> int:
        return self.beside - self.tail

    def follow(self, length: int, kept: Sequence[int]) -> None:
        """Read the first `length` rows, which the other cache has committed. kept: the slots of the tail that
        are still wanted, counted from its start, ascending; they become the tail."""
        if list(kept) != list(range(len(kept))):
            self.move([self.tail_start + slot for slot in kept], self.tail_start)
        self.length, self.tail = length, len(kept)


class HostCache(KVCache):
    """A cache for compiled passes.

    Attributes: `store`, uint8 [bytes], one layer behind the other; `layers`, views of it, uint8 [2 (keys,
    values), kv_heads, slots, row_nbytes], whose rows are those of `engine.compiled.cache_rows`.
    """

    def __init__(self, layers: Sequence[tuple[int, int]], capacity: int, beside: int = 0) -> None:
        """layers: key-value heads of each layer, and bytes of a row."""
        super().__init__(capacity, beside)
        shapes = [(2, kv_heads, self.slots, nbytes) for kv_heads, nbytes in layers]
        sizes = [math.prod(shape) for shape in shapes]
        self.store = np.frombuffer(_sparse(max(1, sum(sizes))), np.uint8)[: sum(sizes)]
        parts = np.split(self.store, np.cumsum(sizes))
        self.layers = [part.reshape(shape) for part, shape in zip(parts[:-1], shapes, strict=True)]

    @property
    def nbytes(self) -> int:
        return self.store.nbytes

    @property
    def form(self) -> str:
        alike = groupby((heads, nbytes) for _, heads, _, nbytes in (each.shape for each in self.layers))
        runs = (f"{len(list(run))} 2 {heads} {nbytes}" for (heads, nbytes), run in alike)
        return f"host {', '.join(runs)}"

    @property
    def places(self) -> list[tuple[int, int, int]]:
        """For each layer, the address of the keys in slot 0, that of the values, and the bytes from one head
        to the next. Rows of tokens that are `dropped` have no memory there."""
        return [(keys.ctypes.data, values.ctypes.data, keys.strides[0]) for keys, values in self.layers]

    def shared(self) -> SharedCache:
        return SharedHostCache(self)

    def move(self, source: Sequence[int], first: int) -> None:
        slots = list(source)
        for layer in self.layers:
            layer[:, :, first : first + len(slots)] = layer[:, :, slots]

    def read_rows(self, first: int, count: int) -> NDArray[np.uint8]:
        parts = [layer[:, :, first : first + count].reshape(-1) for layer in self.layers]
        return np.concatenate(parts) if parts else np.empty(0, np.uint8)

    def write_rows(self, first: int, rows: NDArray[np.uint8]) -> None:
        count, start = rows.size * self.slots // max(1, self.store.nbytes), 0
        for layer in self.layers:
            part = layer[:, :, first : first + count]
            part[:] = rows[start : start + part.size].reshape(part.shape)
            start += part.size

    def rows(self, layer: int) -> NDArray[np.uint8]:
        """Return the committed rows of a layer as stored, [2, kv_heads, length, row_nbytes]."""
        return self.layers[layer][:, :, : self.length]


class SharedHostCache(SharedCache, HostCache):
    """A `SharedCache` for compiled passes."""

    def __init__(self, owner: HostCache) -> None:
        KVCache.__init__(self, owner.capacity, owner.beside)
        self.store, self.layers = owner.store, owner.layers


def _sparse(nbytes: int) -> mmap.mmap:
    """Return zeroed memory that is taken from the system as it is written, in pages of the usual size.

    A short text writes a little in each of many places, so huge pages would take the whole cache: 90 MB and
    0.3 s more for 36 tokens of SmolLM2. A pass after 4,096 tokens is as fast either way. Raises MemoryError.
    """
    try:
        if sys.platform == "win32":
            return mmap.mmap(-1, nbytes)
        memory = mmap.mmap(-1, nbytes, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    except OSError as error:
        raise MemoryError(f"no {nbytes:,} bytes for a KV cache") from error
    if sys.platform == "linux":
        with suppress(OSError):  # a kernel without huge pages
            memory.madvise(mmap.MADV_NOHUGEPAGE)
    return memory
