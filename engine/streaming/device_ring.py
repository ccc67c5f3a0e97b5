"""Slots of device memory that a copying thread fills with chunks in the order of use, round and round.

Chunks in RAM are copied as they lie there; those on the SSD pass through a ring of staging slots. The
computing thread never waits for a copy: it only makes the device wait. Copying goes on across passes.
"""

import threading
import time
from collections.abc import Collection, Sequence

from torch import Tensor

from engine.streaming.chunks import Chunk
from engine.streaming.link import Event, Link
from engine.streaming.ring import Ring
from engine.streaming.schedule import Schedule


class DeviceRing:
    """Used by one computing thread: `fetch` a chunk, ask for products with it, `fetch` the next.

    Attributes: `nbytes` of all slots; since the start: `moved`, bytes fetched, and `waited_s`, how long
    `fetch` waited until a copy could begin.
    """

    def __init__(
        self, chunks: Sequence[Chunk], slots: int, link: Link, slabs: dict[int, Tensor], staging: Ring | None
    ) -> None:
        """chunks: in the order of use. slots: at least two. slabs: those in RAM, by number.

        staging: brings the others, counted among themselves; closed with this ring.
        """
        self._sizes = [chunk.nbytes for chunk in chunks]
        self._link = link
        self._slabs = slabs
        self._staging = staging
        staged = [number for number in range(len(chunks)) if number not in slabs]
        self._staged = {number: place for place, number in enumerate(staged)}
        self._slots = link.slots(slots, max(self._sizes))
        self.nbytes = slots * max(self._sizes)
        self.moved = 0
        self.waited_s = 0.0
        self._changed = threading.Condition()
        self._schedule = Schedule([chunk.mixture for chunk in chunks], slots)
        self._free: list[Event | None] = [None] * slots  # what must have happened before a slot is written
        self._queue = 0  # the next step to be copied
        self._arrived: dict[int, Event] = {}  # copies that were begun, by step
        self._from_staging: Event | None = None  # the copy from the staging slot that was fetched last
        self._error: Exception | None = None
        self._closed = False
        self._thread = threading.Thread(target=self._copy, name="copy", daemon=True)
        self._thread.start()

    def fetch(self, chunk: int) -> Tensor:
        """The slot of chunk number `chunk`, for what is asked to be computed from now on, uint8. What was
        fetched before is given up. Raises StreamBroken; then the next fetch begins anew."""
        with self._changed:
            if self._schedule.step >= 0:
                self._free[self._schedule.step % len(self._slots)] = self._link.used()
            if self._error is not None or not self._schedule.expects(chunk):
                self._begin_anew(chunk)
            while self._advance() != chunk:
                pass  # it was copied ahead for experts that nobody has chosen, or the pass ended early
            arrived = self._arrived[self._schedule.step]
            slot = self._slots[self._schedule.step % len(self._slots)]
        self._link.compute_after(arrived)
        return slot[: self._sizes[chunk]]

    def choose(self, mixture: int, wanted: Collection[int], most: bool) -> None:
        """See `Schedule.choose`."""
        if self._staging is not None:  # first, so that it expects what it is asked for
            staged = {self._staged[number] for number in wanted if number in self._staged}
            self._staging.choose(mixture, staged, most)
        with self._changed:
            self._schedule.choose(mixture, wanted, most)
            self._changed.notify_all()

    def close(self) -> None:
        """End the threads. Waits for the device to be done with the slots."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()
        self._thread.join()
        if self._staging is not None:
            self._staging.close()
        self._link.wait(self._link.used())

    def _advance(self) -> int:
        """Go on to the next step and wait until the copy of its chunk, whose number is returned, has begun.
        The lock is held."""
        self._arrived.pop(self._schedule.step, None)
        self._schedule.advance()
        self._changed.notify_all()
        step = self._schedule.step
        started = time.perf_counter()
        while step not in self._arrived and self._error is None:
            self._changed.wait()
        self.waited_s += time.perf_counter() - started
        if self._error is not None:
            raise self._error
        chunk = self._schedule.chunks[step]
        self.moved += self._sizes[chunk]
        return chunk

    def _begin_anew(self, chunk: int) -> None:
        """A pass ended early, or failed: what was copied ahead is of no use. The lock is held."""
        # One step is left out, so that a copy under way is known to be stale.
        # Copies follow one another: none overtakes those that were begun for skipped steps.
        self._queue += 1
        self._schedule.begin_anew(self._queue, chunk)
        self._arrived.clear()
        self._error = None

    # -- the copying thread ----------------------------------------------------------------------------------

    def _copy(self) -> None:
        while (taken := self._take()) is not None:
            step, number = taken
            try:
                self._bring(step, number)
            except Exception as error:  # whatever it is, `fetch` raises it; nobody waits for ever
                with self._changed:
                    if self._queue == step + 1:
                        self._error = error
                    self._changed.notify_all()

    def _take(self) -> tuple[int, int] | None:
        """The next step to copy, and its chunk; waits until it is planned. None: the ring is closed."""
        with self._changed:
            while not self._closed:
                if self._error is None and (number := self._schedule.chunks.get(self._queue)) is not None:
                    self._queue += 1
                    return self._queue - 1, number
                self._changed.wait()
        return None

    def _bring(self, step: int, number: int) -> None:
        """Begin the copy of a step's chunk; of one on the SSD, once it is in RAM."""
        staged = number not in self._slabs
        if staged:
            assert self._staging is not None
            if self._from_staging is not None:
                self._link.wait(self._from_staging)  # before its staging slot is given up
                self._from_staging = None
            source = self._staging.fetch(self._staged[number])
        else:
            source = self._slabs[number]
        with self._changed:
            if self._queue != step + 1:  # begun anew meanwhile
                return
            slot = step % len(self._slots)
            arrived = self._link.copy(self._slots[slot], source, self._free[slot])
            self._free[slot] = arrived
            self._arrived[step] = arrived
            if staged:
                self._from_staging = arrived
            self._changed.notify_all()
