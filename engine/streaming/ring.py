"""A ring of slots in memory that reader threads fill with chunks in the order of use, ahead of computation.

Reading continues across passes: while a draft grows the next tree, the next pass's first chunks are read.
"""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from engine.errors import Interrupted
from engine.machine.disk_reads import PIECE_NBYTES, READERS, SECTOR
from engine.streaming.chunks import Chunk, Extent
from engine.streaming.crew import SYSTEM, Crew
from engine.streaming.disk import Readable
from engine.streaming.disk_watch import DiskWatch
from engine.streaming.schedule import RingSchedule


class Ring:
    """A ring in RAM. Its one user, the consumer thread, fetches a chunk, computes with it, and fetches the
    next.

    Attributes: `nbytes`: bytes of all slots; `moved`: bytes fetched since the start; `waited_s`: seconds that
    `fetch` has waited since the start for chunks to be read; `on_wait`: as that of `Streamer`.
    """

    def __init__(
        self,
        chunks: Sequence[Chunk],
        slots: int,
        files: Mapping[Path, Readable],
        allocate: Callable[[int], NDArray[np.uint8]],
        watch: DiskWatch,
        staging: bool = False,
        crew: Crew = SYSTEM,
    ) -> None:
        """chunks: in the order of use. slots: their number, at least two. files: the open files of the
        chunks' extents. allocate: a function that returns page-aligned memory of a given number of bytes.
        watch: that of the disk with the files. staging: whether a copying thread fetches, which works ahead
        and does not end with a pass. crew: the ring's threads."""
        self._chunks = chunks
        self._files = files
        self._slots = slots
        self._slot_nbytes = max(chunk.nbytes for chunk in chunks)
        self._bytes = allocate(slots * self._slot_nbytes)
        self._view = self._bytes.data
        self.nbytes = slots * self._slot_nbytes
        self.waited_s = 0.0
        self.moved = 0
        self.on_wait: Callable[[bool], None] = lambda waits: None
        self._crew = crew
        self._changed = crew.condition()
        self._schedule = RingSchedule(len(chunks), slots)
        self._queue = 0  # the next step to be read
        self._pieces: list[tuple[int, Extent]] = []  # (step, piece) not yet taken by a reader
        self._missing: dict[int, int] = {}  # by step: number of pieces still to arrive
        self._reading = 0
        self._error: Exception | None = None
        self._closed = False
        self._watch = watch
        self._staging = staging
        self._threads = [crew.start(self._read, f"stream-{number}") for number in range(READERS)]

    def fetch(self, chunk: int) -> NDArray[np.uint8]:
        """Wait until chunk number `chunk` has been read; return its bytes, uint8, and release the chunk
        fetched before.

        Raises StreamBroken if a chunk cannot be read, and, unless this is a staging ring, Interrupted if the
        pass is interrupted while this waits, and DiskSilent if the disk does not answer; the next fetch
        then waits for reads that are still under way. A staging ring that is closed raises Interrupted.
        """
        with self._changed:
            if self._error is not None or not self._schedule.expects(chunk):
                self._restart(chunk)
            while self._advance() != chunk:
                pass  # a chunk read ahead for a pass that ended early
            start = self._schedule.step % self._slots * self._slot_nbytes
            return self._bytes[start : start + self._chunks[chunk].nbytes]

    def close(self) -> None:
        """End the threads. One whose read the disk does not answer is left behind with the ring's memory,
        and ends when the read does."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()
        self._watch.join(self._threads)

    def _advance(self) -> int:
        """Advance to the next step, wait until its chunk has been read, and return the chunk's number. The
        lock is held."""
        # A pass that ended while it waited for the chunk of this step has left it on its way to the slot.
        self._wait(self._is_read)
        self._missing.pop(self._schedule.step, None)
        self._schedule.advance()
        self._changed.notify_all()
        self._wait(self._is_read)
        chunk = self._schedule.chunks[self._schedule.step]
        self.moved += self._chunks[chunk].nbytes
        return chunk

    def _is_read(self) -> bool:
        """Return whether the chunk of this step has been read. The lock is held."""
        step = self._schedule.step
        return step < self._queue and not self._missing.get(step)

    def _wait(self, is_over: Callable[[], bool]) -> None:
        """Wait until `is_over`; raise the error of a reader, and those of `fetch`. The lock is held."""

        def ends() -> bool:
            return is_over() or self._error is not None or self._closed

        if not ends():
            started = self._crew.now()
            self.on_wait(True)
            try:
                if self._staging:
                    self._changed.wait_for(ends)
                else:
                    self._watch.wait(self._changed, ends)
            finally:
                self.on_wait(False)
                self.waited_s += self._crew.now() - started
        if self._error is not None:
            raise self._error
        if self._closed:
            raise Interrupted("The model is being closed.")

    def _restart(self, chunk: int) -> None:
        """Discard the chunks read ahead, after a pass that ended early or failed, and continue with `chunk`.
        The lock is held."""
        self._pieces.clear()
        # While there is an error, the readers start no new step. It stays if this wait is ended.
        self._error = self._error or Interrupted("The pass was interrupted.")
        if self._staging:
            self._changed.wait_for(lambda: not self._reading or self._closed)
        else:
            self._watch.wait(self._changed, lambda: not self._reading)
        self._error = None
        self._missing.clear()
        self._queue = self._schedule.step + 1
        self._schedule.restart(self._queue, chunk)

    # -- reader threads --------------------------------------------------------------------------------------

    def _read(self) -> None:
        while (piece := self._take()) is not None:
            step, extent = piece
            start = step % self._slots * self._slot_nbytes + extent.at
            into = self._view[start : start + extent.stop - extent.start]
            error = None
            try:
                with self._watch.reading():
                    self._files[extent.file].read(into, extent.start, extent.end - extent.start)
            except Exception as failure:  # any error: `fetch` raises it instead of waiting for ever
                error = failure
            with self._changed:
                self._reading -= 1
                self._error = self._error or error
                if step in self._missing:
                    self._missing[step] -= 1
                self._changed.notify_all()

    def _take(self) -> tuple[int, Extent] | None:
        """Wait until there is a piece to read and a slot for it; return the step and the piece. Return None
        once the ring is closed."""
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
    """Cut an extent into pieces of PIECE_NBYTES; the last may be shorter."""
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
