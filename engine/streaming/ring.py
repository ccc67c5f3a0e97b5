"""Slots of memory that reader threads fill with chunks in the order of use, round and round, ahead of whoever
computes.

Reading goes on across passes: while a draft grows the next tree, the next pass's first chunks arrive.
"""

import threading
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path

from torch import Tensor

from engine.streaming.chunks import Chunk, Extent
from engine.streaming.disk import SECTOR, DiskFile, MemoryFile, buffer
from engine.streaming.schedule import Schedule

# One read: long enough for a disk's full speed, short enough that two threads share a chunk.
PIECE_NBYTES = 4 << 20
# Threads that read. One leaves a disk idle between two reads; a third gains nothing.
READERS = 2


class Ring:
    """Used by one consumer thread: `fetch` a chunk, compute with it, `fetch` the next.

    Attributes: `nbytes` of all slots; `waited_s`, how long `fetch` has waited, and `moved`, bytes read, both
    since the start.
    """

    def __init__(
        self,
        chunks: Sequence[Chunk],
        slots: int,
        files: Mapping[Path, DiskFile | MemoryFile],
        allocate: Callable[[int], Tensor],
    ) -> None:
        """chunks: in the order of use. slots: at least two. files: those their extents name.

        allocate: gives page-aligned memory of so many bytes.
        """
        self._chunks = chunks
        self._files = files
        self._slots = slots
        self._slot_nbytes = max(chunk.nbytes for chunk in chunks)
        self._bytes = allocate(slots * self._slot_nbytes)
        self._view = buffer(self._bytes)
        self.nbytes = slots * self._slot_nbytes
        self.waited_s = 0.0
        self.moved = 0
        self._changed = threading.Condition()
        self._schedule = Schedule([chunk.mixture for chunk in chunks], slots)
        self._queue = 0  # the next step to be read
        self._pieces: list[tuple[int, Extent]] = []  # of steps begun, not yet taken by a reader
        self._missing: dict[int, int] = {}  # pieces still to arrive, by step
        self._reading = 0
        self._error: Exception | None = None
        self._closed = False
        self._threads = [
            threading.Thread(target=self._read, name=f"stream-{number}", daemon=True)
            for number in range(READERS)
        ]
        for thread in self._threads:
            thread.start()

    def fetch(self, chunk: int) -> Tensor:
        """Wait until chunk number `chunk` has arrived: its bytes, uint8. What was fetched before is given up.

        Raises StreamBroken; then the next fetch begins anew.
        """
        with self._changed:
            if self._error is not None or not self._schedule.expects(chunk):
                self._begin_anew(chunk)
            while self._advance() != chunk:
                pass  # it was read ahead for experts that nobody has chosen, or the pass ended early
            start = self._schedule.step % self._slots * self._slot_nbytes
            return self._bytes[start : start + self._chunks[chunk].nbytes]

    def choose(self, mixture: int, wanted: Collection[int], most: bool) -> None:
        """See `Schedule.choose`."""
        with self._changed:
            self._schedule.choose(mixture, wanted, most)
            self._changed.notify_all()

    def close(self) -> None:
        """End the threads."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()
        for thread in self._threads:
            thread.join()

    def _advance(self) -> int:
        """Go on to the next step and wait until its chunk, whose number is returned, has arrived. The lock is
        held."""
        self._missing.pop(self._schedule.step, None)
        self._schedule.advance()
        self._changed.notify_all()
        step = self._schedule.step
        started = time.perf_counter()
        while self._missing.get(step) != 0 and self._error is None:
            self._changed.wait()
        self.waited_s += time.perf_counter() - started
        if self._error is not None:
            raise self._error
        chunk = self._schedule.chunks[step]
        self.moved += self._chunks[chunk].nbytes
        return chunk

    def _begin_anew(self, chunk: int) -> None:
        """A pass ended early, or failed: forget what was read ahead. The lock is held."""
        self._pieces.clear()
        self._queue = 1 << 62  # nothing new is begun
        while self._reading:
            self._changed.wait()
        self._error = None
        self._missing.clear()
        self._queue = self._schedule.step + 1
        self._schedule.begin_anew(self._queue, chunk)

    # -- reader threads --------------------------------------------------------------------------------------

    def _read(self) -> None:
        while (piece := self._take()) is not None:
            step, extent = piece
            start = step % self._slots * self._slot_nbytes + extent.at
            into = self._view[start : start + extent.stop - extent.start]
            error = None
            try:
                self._files[extent.file].read(into, extent.start, extent.end - extent.start)
            except Exception as failure:  # whatever it is, `fetch` raises it; nobody waits for ever
                error = failure
            with self._changed:
                self._reading -= 1
                self._error = self._error or error
                if step in self._missing:
                    self._missing[step] -= 1
                self._changed.notify_all()

    def _take(self) -> tuple[int, Extent] | None:
        """The next piece to read; waits for a free slot. None: the ring is closed."""
        with self._changed:
            while not self._closed:
                if self._pieces:
                    self._reading += 1
                    return self._pieces.pop(0)
                if self._error is None and self._queue in self._schedule.chunks:
                    extents = self._chunks[self._schedule.chunks[self._queue]].extents
                    self._pieces = [(self._queue, piece) for extent in extents for piece in pieces(extent)]
                    self._missing[self._queue] = len(self._pieces)
                    self._queue += 1
                    continue
                self._changed.wait()
        return None


def pieces(extent: Extent) -> list[Extent]:
    """An extent in pieces of PIECE_NBYTES."""
    assert PIECE_NBYTES % SECTOR == 0
    return [
        Extent(
            extent.file,
            start,
            min(start + PIECE_NBYTES, extent.stop),
            min(start + PIECE_NBYTES, extent.end),
            extent.at + start - extent.start,
        )
        for start in range(extent.start, extent.stop, PIECE_NBYTES)
    ]
