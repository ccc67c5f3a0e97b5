"""A ring of slots in device memory that a copying thread fills with chunks in the order of use.

Chunks in RAM are copied directly; chunks on the SSD are first read into another ring, of staging slots in
RAM. The computing thread never waits for a copy to finish: it only makes the device wait for it. Copying
continues across passes.
"""

from collections.abc import Collection, Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from engine.streaming.chunks import Chunk
from engine.streaming.crew import SYSTEM, Crew
from engine.streaming.disk_watch import DiskWatch
from engine.streaming.mover import Bytes
from engine.streaming.ring import Ring
from engine.streaming.schedule import RingSchedule

# A point in the work of a stream. Only the link that made an event looks inside it.
Event = Any


class DeviceLink(Protocol):
    """The interface to a device with memory of its own. One thread computes; any
    thread may launch copies, wait, and ask for a slab. Tests substitute a fake."""

    def slots(self, count: int, nbytes: int) -> list[Bytes]:
        """Allocate `count` slots in device memory, uint8 [nbytes] each."""

    def spare_nbytes(self) -> int:
        """Return the bytes of device memory that were free at any time since the last call."""

    def slab(self, nbytes: int) -> NDArray[np.uint8]:
        """Allocate page-aligned pinned RAM, uint8 [nbytes], from which the device can copy asynchronously.
        Raises RuntimeError if the system provides no more pinned memory."""

    def copy(self, slot: Bytes, source: NDArray[np.uint8], after: Event) -> Event:
        """Start copying `source` to `slot` once `after` has happened; return the event of its completion."""

    def used(self) -> Event:
        """Return an event that happens once all computation launched so far is done."""

    def compute_after(self, event: Event) -> None:
        """Make computation launched from now on wait for `event`."""

    def wait(self, event: Event) -> None:
        """Return once `event` has happened."""


class DeviceRing:
    """A ring in device memory. Its one user, the computing thread, fetches a chunk, launches products with
    it, and fetches the next.

    Attributes: `nbytes`: bytes of all slots; `moved`: bytes fetched since the start; `waited_s`: seconds that
    `fetch` has waited since the start for copies to begin.
    """

    def __init__(
        self,
        chunks: Sequence[Chunk],
        slots: int,
        link: DeviceLink,
        slabs: dict[int, NDArray[np.uint8]],
        staging: Ring | None,
        watch: DiskWatch,
        crew: Crew = SYSTEM,
    ) -> None:
        """chunks: in the order of use. slots: their number, at least two. slabs: the memory of each chunk
        that is in RAM, by the chunk's number.

        staging: the ring that reads the other chunks, which are numbered among themselves there; it is closed
        with this ring. None if all chunks are in RAM. watch, crew: as those of `Ring`.
        """
        self._sizes = [chunk.nbytes for chunk in chunks]
        self._leads = [chunk.lead for chunk in chunks]
        self._link = link
        self._slabs = slabs
        self._staging = staging
        staged = [number for number in range(len(chunks)) if number not in slabs]
        self._staged = {number: place for place, number in enumerate(staged)}
        self._slots = link.slots(slots, max(self._sizes))
        self.nbytes = slots * max(self._sizes)
        self.moved = 0
        self.waited_s = 0.0
        self._watch = watch
        self._crew = crew
        self._changed = crew.condition()
        self._schedule = RingSchedule(len(chunks), slots)
        # By slot: the event after which it may be written. Work launched earlier may still use memory that
        # was freed for the slots.
        self._free: list[Event] = [link.used()] * slots
        self._last: Event | None = None  # the copy started last; copies run in order
        self._queue = 0  # the next step to be copied
        self._arrived: dict[int, Event] = {}  # events of started copies, by step
        self._from_staging: Event | None = None  # copy from the staging slot fetched last
        self._error: Exception | None = None
        self._closed = False
        self._thread = crew.start(self._copy, "copy")

    def fetch(self, chunk: int) -> Bytes:
        """Return the bytes of chunk number `chunk` behind its `lead` on the device, uint8, for work launched
        from now on, and release the chunk fetched before.

        Raises StreamBroken if a chunk cannot be read, Interrupted if the pass is interrupted while this
        waits, and DiskSilent if the disk does not answer; the next fetch goes on from there.
        """
        with self._changed:
            if self._schedule.step >= 0:
                self._free[self._schedule.step % len(self._slots)] = self._link.used()
            if self._error is not None or not self._schedule.expects(chunk):
                self._restart(chunk)
            while self._advance() != chunk:
                pass  # a chunk copied ahead for a pass that ended early
            arrived = self._arrived[self._schedule.step]
            slot = self._slots[self._schedule.step % len(self._slots)]
        self._link.compute_after(arrived)
        return slot[: self._sizes[chunk]]

    def leave_out(self, chunks: Collection[int]) -> None:
        """Copy these chunks no more, until the next call, unless one of them is fetched."""
        with self._changed:
            self._schedule.leave_out(chunks)
            self._changed.notify_all()

    def close(self) -> None:
        """End the threads, then wait until the device has finished with the slots: with the copies under way,
        which read slabs and staging slots too, and with computing."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()
        if self._staging is not None:
            self._staging.close()  # which ends a wait of the copying thread
        self._thread.join()
        if self._last is not None:
            self._link.wait(self._last)
        self._link.wait(self._link.used())

    def _advance(self) -> int:
        """Advance to the next step, wait until the copy of its chunk has begun, and return the chunk's
        number. The lock is held."""
        self._arrived.pop(self._schedule.step, None)
        self._schedule.advance()
        self._changed.notify_all()
        step = self._schedule.step
        started = self._crew.now()
        try:
            self._watch.wait(self._changed, lambda: step in self._arrived or self._error is not None)
        finally:
            self.waited_s += self._crew.now() - started
        if self._error is not None:
            raise self._error
        chunk = self._schedule.chunks[step]
        self.moved += self._sizes[chunk]
        return chunk

    def _restart(self, chunk: int) -> None:
        """Discard the chunks copied ahead, after a pass that ended early or failed, and continue with
        `chunk`. The lock is held."""
        # One step is skipped, so that `_bring` recognises a chunk that it is still fetching as stale.
        # Copies already started do no harm: copies run in order, so later ones cannot overtake them.
        self._queue += 1
        self._schedule.restart(self._queue, chunk)
        self._arrived.clear()
        self._error = None

    # -- the copying thread ----------------------------------------------------------------------------------

    def _copy(self) -> None:
        while (taken := self._take()) is not None:
            step, number = taken
            try:
                self._bring(step, number)
            except Exception as error:  # any error: `fetch` raises it instead of waiting for ever
                with self._changed:
                    if self._queue == step + 1:
                        self._error = error
                    self._changed.notify_all()

    def _take(self) -> tuple[int, int] | None:
        """Wait until the next step to copy is planned; return it with the number of its chunk. Return None
        once the ring is closed."""
        with self._changed:
            while not self._closed:
                if self._error is None and (number := self._schedule.chunks.get(self._queue)) is not None:
                    self._queue += 1
                    return self._queue - 1, number
                self._changed.wait()
        return None

    def _bring(self, step: int, number: int) -> None:
        """Start copying a step's chunk to its slot; a chunk on the SSD is first read into RAM."""
        staged = number not in self._slabs
        if staged:
            assert self._staging is not None
            if self._from_staging is not None:
                self._link.wait(self._from_staging)  # it reads the slot that `fetch` will release
                self._from_staging = None
            source = self._staging.fetch(self._staged[number])
        else:
            source = self._slabs[number]
        with self._changed:
            if self._queue != step + 1:  # restarted in the meantime
                return
            slot = step % len(self._slots)
            arrived = self._link.copy(self._slots[slot], source[self._leads[number] :], self._free[slot])
            self._free[slot] = self._last = arrived
            self._arrived[step] = arrived
            if staged:
                self._from_staging = arrived
            self._changed.notify_all()
