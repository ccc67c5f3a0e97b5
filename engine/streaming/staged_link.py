"""A link that copies from any memory while the host goes on, also from memory that is not pinned.

A card copies asynchronously from pinned memory only. So a thread brings other bytes to the card through a
small pinned buffer, piece by piece, while the computing thread launches what comes before.
"""

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from engine.machine.disk_reads import PIECE_NBYTES, SECTOR
from engine.streaming.crew import SYSTEM, Crew
from engine.streaming.device_ring import DeviceLink, Event
from engine.streaming.mover import Bytes
from engine.streaming.ram_tier import InRam

PIECES = 4  # of the buffer: one filled while others are on their way


@dataclass(slots=True, eq=False)
class StagedEvent:
    """The event of the end of a copy through the buffer. Attributes: `launched`, whether the device knows of
    it; then, `ended` is the device's event; `error`: why the copy could not be launched."""

    launched: bool = False
    ended: Event | None = None
    error: Exception | None = None


class StagedLink:
    """A `DeviceLink` with a buffer and a thread of its own.

    Attributes: `waited_s`: seconds that the computing thread has waited since the start for copies through
    the buffer to be launched.
    """

    def __init__(
        self, link: DeviceLink, allocate: Callable[[int], InRam], most: int, crew: Crew = SYSTEM
    ) -> None:
        """allocate: as `pinning` returns it. most: bytes of the largest copy. crew: the link's thread."""
        self._link = link
        self._allocate = allocate
        self._buffer = [allocate(min(PIECE_NBYTES, most)).slab for _ in range(PIECES)]
        self._free: list[Event | None] = [None] * PIECES  # events after which pieces may be written
        self._place = 0  # of the next piece
        self._plain: set[int] = set()  # pages in which memory begins that is not pinned
        self.waited_s = 0.0
        self._crew = crew
        self._changed = crew.condition()
        self._copies: deque[tuple[StagedEvent, Bytes, NDArray[np.uint8], Event]] = deque()
        self._closed = False
        self._thread = crew.start(self._work, "stage")

    def slots(self, count: int, nbytes: int) -> list[Bytes]:
        return self._link.slots(count, nbytes)

    def spare_nbytes(self) -> int:
        return self._link.spare_nbytes()

    def room(self, nbytes: int) -> InRam:
        """Return memory that `copy` knows, pinned as far as possible."""
        room = self._allocate(nbytes)
        note = self._plain.discard if room.pinned else self._plain.add
        note(_page(room.slab))
        return room

    def slab(self, nbytes: int) -> NDArray[np.uint8]:
        return self.room(nbytes).slab

    def copy(self, slot: Bytes, source: NDArray[np.uint8], after: Event) -> Event:
        """See `DeviceLink.copy`. source: a slab of this link, from its first page on."""
        if isinstance(after, StagedEvent) and after.launched:
            after = after.ended
        if _page(source) not in self._plain and not isinstance(after, StagedEvent):
            return self._link.copy(slot, source, after)
        event = StagedEvent()
        with self._changed:
            self._copies.append((event, slot, source, after))
            self._changed.notify_all()
        return event

    def used(self) -> Event:
        return self._link.used()

    def compute_after(self, event: Event) -> None:
        started = self._crew.now()
        ended = self._launched(event)
        self.waited_s += self._crew.now() - started
        self._link.compute_after(ended)

    def wait(self, event: Event) -> None:
        self._link.wait(self._launched(event))

    def close(self) -> None:
        """End the thread. Nobody waits for a copy any more."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()
        self._thread.join()

    def _launched(self, event: Event) -> Event:
        """Return the device's event for `event`; wait until it has one."""
        if not isinstance(event, StagedEvent):
            return event
        with self._changed:
            self._changed.wait_for(lambda: event.launched or event.error is not None)
        if event.error is not None:
            raise event.error
        return event.ended

    # -- the thread ------------------------------------------------------------------------------------------

    def _work(self) -> None:
        while self._do_next():
            pass

    def _do_next(self) -> bool:
        """Wait until there is a copy to launch, and launch it; return False once the link is closed. Nothing
        refers to the slot then, which may be given back."""
        with self._changed:
            self._changed.wait_for(lambda: bool(self._copies) or self._closed)
            if self._closed:
                return False
            event, slot, source, after = self._copies.popleft()
        try:
            event.ended = self._stage(slot, source, after)
        except Exception as error:  # any error: who waits for the copy raises it
            event.error = error
        with self._changed:
            event.launched = event.error is None
            self._changed.notify_all()
        return True

    def _stage(self, slot: Bytes, source: NDArray[np.uint8], after: Event) -> Event:
        """Launch a copy, piece by piece; return the device's event of its end."""
        event = self._launched(after)  # which is, because copies are launched in order
        size = len(self._buffer[0])
        for start in range(0, len(source), size):
            piece = source[start : start + size]
            buffer = self._buffer[self._place][: len(piece)]
            if (free := self._free[self._place]) is not None:
                self._link.wait(free)
            np.copyto(buffer, piece)
            event = self._link.copy(slot[start : start + len(piece)], buffer, event)
            self._free[self._place] = event
            self._place = (self._place + 1) % PIECES
        return event


def _page(memory: NDArray[np.uint8]) -> int:
    """Return the address of the page in which memory begins."""
    address: int = memory.ctypes.data
    return address // SECTOR * SECTOR
