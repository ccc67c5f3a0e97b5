"""A ring of slots in memory that reader threads fill with chunks in the order of use, ahead of computation.

Reading continues across passes: while a draft grows the next tree, the next pass's first chunks are read.
"""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from engine.errors import Interrupted
from engine.interruption import is_interrupted
from engine.streaming.chunks import Chunk, Extent
from engine.streaming.crew import SYSTEM, Crew
from engine.streaming.disk import SECTOR, Readable
from engine.streaming.schedule import RingSchedule

# Bytes of one read: enough for a disk's full speed, few enough that two threads share a chunk.
PIECE_NBYTES = 4 << 20
# Number of reader threads. One alone leaves the disk idle between two reads; a third gains nothing.
READERS = 2
# Seconds after which a wait for bytes looks whether the user has pressed Stop: too short to be noticed. A
# disk that hangs must not hold up the answer's end.
STOP_S = 0.1


class Ring:
    """A ring in RAM. Its one user, the consumer thread, fetches a chunk, computes with it, and fetches the
    next.

    Attributes: `nbytes`: bytes of all slots; `moved`: bytes fetched since the start; `waited_s`: seconds that
    `fetch` has waited since the start for chunks to be read; `idle_s`: seconds since the start in which
    nothing was read, because every slot was full; `on_wait`: as that of `Streamer`.
    """

    def __init__(
        self,
        chunks: Sequence[Chunk],
        slots: int,
        files: Mapping[Path, Readable],
        allocate: Callable[[int], NDArray[np.uint8]],
        staging: bool = False,
        crew: Crew = SYSTEM,
    ) -> None:
        """chunks: in the order of use. slots: their number, at least two. files: the open files of the
        chunks' extents. allocate: a function that returns page-aligned memory of a given number of bytes.
        staging: whether a copying thread fetches, which works ahead and does not end with a pass. crew: the
        ring's threads."""
        self._chunks = chunks
        self._files = files
        self._slots = slots
        self._slot_nbytes = max(chunk.nbytes for chunk in chunks)
        self._bytes = allocate(slots * self._slot_nbytes)
        self._view = self._bytes.data
        self.nbytes = slots * self._slot_nbytes
        self.waited_s = 0.0
        self.idle_s = 0.0
        self.moved = 0
        self.on_wait: Callable[[bool], None] = lambda waits: None
        self._crew = crew
        self._changed = crew.condition()
        self._schedule = RingSchedule(len(chunks), slots)
        self._queue = 0  # the next step to be read
        self._pieces: list[tuple[int, Extent]] = []  # (step, piece) not yet taken by a reader
        self._missing: dict[int, int] = {}  # by step: number of pieces still to arrive
        self._reading = 0
        self._restarts = False  # whether a restart has begun that was interrupted
        self._idle_since: float | None = None
        self._error: Exception | None = None
        self._closed = False
        self._staging = staging
        self._threads = [crew.start(self._read, f"stream-{number}") for number in range(READERS)]

    def fetch(self, chunk: int) -> NDArray[np.uint8]:
        """Wait until chunk number `chunk` has been read; return its bytes, uint8, and release the chunk
        fetched before.

        Raises StreamBroken if a chunk cannot be read, and, unless this is a staging ring, Interrupted if the
        pass is interrupted while this waits; the next fetch then restarts the ring.
        """
        with self._changed:
            if self._restarts or self._error is not None or not self._schedule.expects(chunk):
                self._restart(chunk)
            while self._advance() != chunk:
                pass  # a chunk read ahead for a pass that ended early
            start = self._schedule.step % self._slots * self._slot_nbytes
            return self._bytes[start : start + self._chunks[chunk].nbytes]

    def close(self) -> None:
        """End the threads."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()
        for thread in self._threads:
            thread.join()

    def _advance(self) -> int:
        """Advance to the next step, wait until its chunk has been read, and return the chunk's number. The
        lock is held."""
        self._missing.pop(self._schedule.step, None)
        self._schedule.advance()
        self._changed.notify_all()
        step = self._schedule.step
        if self._missing.get(step) != 0 and self._error is None:
            started = self._crew.now()
            self.on_wait(True)
            try:
                while self._missing.get(step) != 0 and self._error is None:
                    self._wait()
            finally:
                self.on_wait(False)
                self.waited_s += self._crew.now() - started
        if self._error is not None:
            raise self._error
        chunk = self._schedule.chunks[step]
        self.moved += self._chunks[chunk].nbytes
        return chunk

    def _restart(self, chunk: int) -> None:
        """Discard the chunks read ahead, after a pass that ended early or failed, and continue with `chunk`.
        The lock is held. If this is interrupted, the next `fetch` begins it again: the plan is no longer
        read."""
        self._restarts = True
        self._pieces.clear()
        self._queue = 1 << 62  # so that the readers start no new step
        while self._reading:
            self._wait()
        self._restarts = False
        self._error = None
        self._missing.clear()
        self._queue = self._schedule.step + 1
        self._schedule.restart(self._queue, chunk)

    def _wait(self) -> None:
        """Wait for the readers, for STOP_S at most. The lock is held."""
        self._changed.wait(STOP_S)
        if not self._staging:
            end_if_interrupted()

    # -- reader threads --------------------------------------------------------------------------------------

    def _read(self) -> None:
        while (piece := self._take()) is not None:
            step, extent = piece
            start = step % self._slots * self._slot_nbytes + extent.at
            into = self._view[start : start + extent.stop - extent.start]
            error = None
            try:
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
                    self._end_idleness()
                    return self._pieces.pop(0)
                if self._error is None and self._queue in self._schedule.chunks:
                    extents = self._chunks[self._schedule.chunks[self._queue]].extents
                    self._pieces = [(self._queue, piece) for extent in extents for piece in pieces(extent)]
                    self._missing[self._queue] = len(self._pieces)
                    self._queue += 1
                    continue
                if not self._reading and self._idle_since is None:
                    self._idle_since = self._crew.now()
                self._changed.wait()
        return None

    def _end_idleness(self) -> None:
        if self._idle_since is not None:
            self.idle_s += self._crew.now() - self._idle_since
            self._idle_since = None


def end_if_interrupted() -> None:
    """Raise Interrupted if the running pass is to end."""
    if is_interrupted():
        raise Interrupted("The pass was interrupted.")


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
