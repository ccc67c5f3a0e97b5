"""A cache in RAM of the experts of a model's mixtures. Reader threads fill it from the files: first with the
experts that a mixture has chosen, then with those that the next mixture is expected to choose."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from engine.machine import available_nbytes
from engine.streaming.chunks import Chunk, Extent
from engine.streaming.crew import SYSTEM, Condition, Crew
from engine.streaming.device_ring import DeviceLink, Event
from engine.streaming.disk import Readable, memory
from engine.streaming.expert_home import LEAST_SLOTS, ExpertHome, Slot
from engine.streaming.expert_policy import ExpertPolicy
from engine.streaming.ring import READERS, STOP_S, end_if_interrupted, pieces

# Where less RAM than this is free, the cache gives memory back; where twice as much is, it grows again.
SPARE_NBYTES = 256 << 20
CHECK_S = 0.25  # seconds from one look at the free RAM to the next


class ExpertCache(ExpertHome):
    """The cache that the processor computes from, or the one behind that of a device with memory of its own.

    Attributes: `waited_s`: seconds that `fetch` has waited since the start; `on_wait`: as that of `Streamer`;
    `elsewhere`: bool [experts], those that the device's cache has; `changed`: the condition whose lock
    guards the policy.
    """

    def __init__(
        self,
        experts: Sequence[Chunk],
        slots: int,
        files: Mapping[Path, Readable],
        policy: ExpertPolicy,
        common: Sequence[int] = (),
        crew: Crew = SYSTEM,
        link: DeviceLink | None = None,
    ) -> None:
        """experts, slots, policy: as of `ExpertHome`. files: the open files of the chunks' extents. common:
        experts that are read while nothing else is, the first ones first. crew: the threads that read.
        link: that of the device whose cache gets experts from this one; None if the processor computes."""
        super().__init__(experts, slots, policy, crew.condition())
        self._allocate = link.slab if link else memory
        self._link = link
        self._files = files
        self._most = slots
        self.waited_s = 0.0
        self.on_wait: Callable[[bool], None] = lambda waits: None
        self._crew = crew
        self._checked = crew.now()
        self._common = list(common[:slots])  # not yet read
        self._pieces: list[tuple[int, Extent]] = []  # (expert, piece) not yet taken by a reader
        self._missing: dict[int, int] = {}  # by expert: number of pieces still to arrive
        self._errors: dict[int, Exception] = {}
        self._closed = False
        self._threads = [crew.start(self._read, f"experts-{number}") for number in range(READERS)]

    @property
    def elsewhere(self) -> NDArray[np.bool_]:
        return self._elsewhere

    @property
    def changed(self) -> Condition:
        return self._changed

    def lend(self, expert: int, until: Event) -> None:
        """Release `expert`, which was fetched last, but leave its bytes as they are until this event."""
        with self._changed:
            self._slots[expert].free = until
            self._release()

    def close(self) -> None:
        """End the threads."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()
        for thread in self._threads:
            thread.join()

    # -- slots; the lock is held -----------------------------------------------------------------------------

    def begin(self, mixture: int, wanted: Sequence[int]) -> None:
        """Begin to read what is missing of the experts that the policy has learned of, and that are not
        elsewhere."""
        for expert in wanted:
            self._errors.pop(expert, None)
        self._fit()
        super().begin(mixture, wanted)
        self._changed.notify_all()

    def _from_disk(self) -> int:
        return self._moved

    def _bring(self, expert: int) -> None:
        self._begin_wanted()
        self._changed.notify_all()
        if self._ready[expert]:
            return
        started = self._crew.now()
        self.on_wait(True)
        try:
            while not self._ready[expert] and expert not in self._errors:
                self._changed.wait(STOP_S)
                end_if_interrupted()
        finally:
            self.on_wait(False)
            self.waited_s += self._crew.now() - started
        if expert in self._errors:
            raise self._errors.pop(expert)

    def _lacks(self, expert: int) -> bool:
        elsewhere = self._elsewhere[expert] and expert != self._held
        return super()._lacks(expert) and expert not in self._errors and not elsewhere

    def _begin_guessed(self) -> None:
        """Begin to read one of the experts that the next mixture is expected to choose; if all of them are
        there, one of those that earlier answers used most, while there is room."""
        for expert in self._policy.guess():
            if self._lacks(expert):
                self._guess(expert)
                return
        while self._common and len(self._slots) < self._limit:
            expert = self._common.pop(0)
            if self._lacks(expert):
                self._begin(expert, of_wanted=False)
                return

    def _load(self, expert: int, slot: Slot) -> None:
        queue = [(expert, piece) for extent in self._experts[expert].extents for piece in pieces(extent)]
        self._pieces += queue
        self._missing[expert] = len(queue)

    def _slab(self) -> list[Slot]:
        return [Slot(self._allocate(self._slot_nbytes), self._slabs)]

    def _fit(self) -> None:
        """Give memory back if other programs have left little RAM; take it again when they leave enough."""
        now = self._crew.now()
        if now < self._checked + CHECK_S:
            return
        self._checked = now
        spare = available_nbytes()
        have = len(self._slots) + len(self._free)
        if spare < SPARE_NBYTES:
            self._limit = max(LEAST_SLOTS, have + (spare - SPARE_NBYTES) // self._slot_nbytes)
        elif spare > 2 * SPARE_NBYTES and self._limit < self._most:
            more = (spare - 2 * SPARE_NBYTES) // self._slot_nbytes
            self._limit = min(self._most, max(self._limit, len(self._slots) + more))
        if have > self._limit:
            for slot in self._give_back(have - self._limit):
                self._end_loan(slot)

    def _end_loan(self, slot: Slot) -> None:
        """Wait until what was lent is no longer read."""
        if slot.free is not None and self._link is not None:
            self._link.wait(slot.free)

    # -- reader threads --------------------------------------------------------------------------------------

    def _read(self) -> None:
        while (piece := self._take()) is not None:
            expert, extent = piece
            error = None
            try:
                slot = self._slots[expert]
                self._end_loan(slot)
                into = slot.bytes.data[extent.at : extent.at + extent.stop - extent.start]
                self._files[extent.file].read(into, extent.start, extent.end - extent.start)
            except Exception as failure:  # any error: `fetch` raises it instead of waiting for ever
                error = failure
            with self._changed:
                self._arrived(expert, error)
                self._changed.notify_all()

    def _take(self) -> tuple[int, Extent] | None:
        """Wait until there is a piece to read; return the expert and the piece. Return None once the cache is
        closed."""
        with self._changed:
            while not self._closed:
                if not self._pieces:
                    self._begin_guessed()
                    self._changed.notify_all()
                if self._pieces:
                    return self._pieces.pop(0)
                self._changed.wait()
        return None

    def _arrived(self, expert: int, error: Exception | None) -> None:
        """Note that a piece has been read, or that it cannot be. The lock is held."""
        if error is not None:
            self._errors[expert] = error
        self._missing[expert] -= 1
        if self._missing[expert]:
            return
        del self._missing[expert]
        self._slots[expert].free = None
        if expert in self._errors:
            self._drop(expert)
        else:
            self._ready[expert] = True
            self._moved += self._experts[expert].nbytes
        self._begin_wanted()
