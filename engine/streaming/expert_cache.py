"""A cache in RAM of the experts of a model's mixtures. Reader threads fill it from the files: first with the
experts that a mixture has chosen, then with those that the next mixture is expected to choose, by what its
router says early, by what the pass's tokens chose last, or else by what the last passes used. Where products
read another form than the files', the readers pack each expert once, when it has arrived."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from engine.errors import ALLOCATION_ERRORS
from engine.machine import available_nbytes
from engine.machine.disk_reads import READERS
from engine.streaming.chunk_placement import spare_slots
from engine.streaming.chunks import Chunk, Extent
from engine.streaming.crew import SYSTEM, Crew
from engine.streaming.device_ring import DeviceLink, Event
from engine.streaming.disk import Readable, memory
from engine.streaming.disk_watch import DiskWatch
from engine.streaming.expert_home import LEAST_SLOTS, ExpertHome, Slot
from engine.streaming.expert_policy import ExpertPolicy
from engine.streaming.ring import pieces

# Where less RAM than this is free, the cache gives memory back; where twice as much is, it grows again.
SPARE_NBYTES = 256 << 20
CHECK_S = 0.25  # seconds from one look at the free RAM to the next


class ExpertCache(ExpertHome):
    """The cache that the processor computes from, or the one behind that of a device with memory of its own.
    If experts are packed, each reader has memory for one more: it packs an expert into that, which becomes
    the expert's slot, and the old one serves for the next.

    Attributes: `waited_s`: seconds that `fetch` has waited since the start; `on_wait`: as that of `Streamer`;
    `elsewhere`: bool [experts], those that the device's cache has.
    """

    def __init__(
        self,
        experts: Sequence[Chunk],
        slots: int,
        files: Mapping[Path, Readable],
        policy: ExpertPolicy,
        watch: DiskWatch,
        common: Sequence[int] = (),
        crew: Crew = SYSTEM,
        link: DeviceLink | None = None,
    ) -> None:
        """experts, slots, policy: as of `ExpertHome`. files: the open files of the chunks' extents. watch:
        that of the disk with the files. common: experts that are read while nothing else is, the first ones
        first. crew: the threads that read. link: that of the device whose cache gets experts from this one;
        None if the processor computes."""
        super().__init__(experts, slots, policy, crew.condition())
        self._allocate = link.slab if link else memory
        self._link = link
        self._files = files
        self._most = slots
        self.waited_s = 0.0
        self._waited_before_s = 0.0  # `waited_s` when the mixture in turn chose
        self._asked = 0.0  # when it chose, or when a router has last been asked since
        self._asking_s: list[float] = []  # seconds that each router took that has been asked since
        self.on_wait: Callable[[bool], None] = lambda waits: None
        self._crew = crew
        self._checked = crew.now()
        self._common = list(common[:slots])  # not yet read
        self._pieces: list[tuple[int, Extent]] = []  # (expert, piece) not yet taken by a reader
        self._missing: dict[int, int] = {}  # by expert: number of pieces still to arrive
        self._errors: dict[int, Exception] = {}
        self._broken: set[int] = set()  # of the experts on their way, those of which a piece is lost
        self._closed = False
        self._is_full = False  # whether the last guess found no slot
        self._watch = watch
        self._spare = spare_slots(experts)
        spares = [self._allocate(self._slot_nbytes) for _ in range(self._spare)]
        self._threads = [
            crew.start(partial(self._read, spare), f"experts-{number}")
            for number, spare in enumerate(spares or [None] * READERS)
        ]

    @property
    def nbytes(self) -> int:
        return super().nbytes + self._spare * self._slot_nbytes

    @property
    def elsewhere(self) -> NDArray[np.bool_]:
        return self._elsewhere

    def lend(self, expert: int, until: Event) -> None:
        """Release `expert`, which was fetched last, but leave its bytes as they are until this event."""
        with self._changed:
            self._slots[expert].free = until
            self._release()

    def has(self, expert: int) -> bool:
        """Return whether `expert` is here. The lock is held."""
        return bool(self._ready[expert])

    def lend_in_place(self, experts: Sequence[int]) -> dict[int, NDArray[np.uint8]]:
        """Return the bytes of those experts that are here, which stay as they are until the next call. They
        are no more than leave two slots to others. The lock is held."""
        lent = [expert for expert in experts if self._ready[expert]][: self._limit - LEAST_SLOTS]
        self._lent = frozenset(lent)
        self._changed.notify_all()  # readers may have waited for a slot
        return {expert: self._slots[expert].bytes for expert in lent}

    def begin_pass(self, tokens: Sequence[int]) -> None:
        """Note that a pass over these tokens begins, one for each row; none if it teaches nothing."""
        with self._changed:
            self._policy.begin(tokens)
            if self._recall():
                self._changed.notify_all()

    def asks(self, mixture: int, ahead: int) -> bool:
        """Return whether it is of use to learn, right after the mixture so many turns before this one has
        chosen, what this one's router would choose; `expect` tells that."""
        with self._changed:
            is_missing = not self._ready[self._policy.members(mixture)].all()
            return is_missing and self._policy.asks(mixture, ahead)

    def expect(self, rows: Sequence[Sequence[int]]) -> None:
        """Note which experts the router that was to be asked would choose by now for each row, the likeliest
        one first. Those that are likely enough to be right are read when nothing else is to be read."""
        with self._changed:
            self._policy.expect(rows)
            now = self._crew.now()
            self._asking_s.append(now - self._asked)
            self._asked = now
            self._changed.notify_all()

    def fetch_present(self) -> dict[int, NDArray[np.uint8]]:
        """Return the bytes of those announced experts that are here, and were not fetched yet; wait for the
        next one if none is; empty if all have been fetched. They stay until the next fetch, and take up half
        of the slots at most, so that others arrive meanwhile. Raises as `fetch` does."""
        with self._changed:
            wanted = self._policy.wanted
            here = [expert for expert in wanted if self._ready[expert]][: max(1, self._limit // 2)]
            self._use(here or wanted[:1])
            return {expert: self._slots[expert].bytes for expert in self._held}

    def clear(self) -> None:
        super().clear()
        with self._changed:
            self._asking_s.clear()

    def close(self) -> None:
        """End the threads, and free the slots. A thread whose read the disk does not answer is left behind
        with one slot, and ends when the read does."""
        with self._changed:
            self._closed = True
            self._pieces.clear()
            self._changed.notify_all()
        self._watch.join(self._threads)
        with self._changed:
            self._slots.clear()
            self._free.clear()

    # -- slots; the lock is held -----------------------------------------------------------------------------

    def begin(self, mixture: int, wanted: Sequence[int], near: Sequence[int] = ()) -> None:
        """Begin to read what is missing of the experts that the policy has learned of, and that are not
        elsewhere."""
        for expert in wanted:
            self._errors.pop(expert, None)
        self._fit()
        super().begin(mixture, wanted, near)
        self._recall()
        self._changed.notify_all()
        self._waited_before_s, self._asked = self.waited_s, self._crew.now()
        self._asking_s.clear()

    def _recall(self) -> int:
        """Let the policy recall what the pass's tokens chose last, and learn how long that takes; return in
        how many mixtures it did."""
        started = self._crew.now()
        if count := self._policy.recall(self._ready):
            self._policy.early.recalled((self._crew.now() - started) / count, self._policy.rows)
        return count

    def _use(self, experts: Sequence[int]) -> None:
        super()._use(experts)
        if not self._policy.wanted:
            self._end_turn()
        if self._pieces or self._is_full:
            self._is_full = False  # the slots of those that were in use are free for guesses
            self._changed.notify_all()

    def _end_turn(self) -> None:
        """Tell the policy how long the mixture in turn has waited for its experts, and by how much asking
        routers has delayed it: not at all if it then waited, for it would have waited longer."""
        waited_s = self.waited_s - self._waited_before_s
        self._policy.waited(waited_s)
        for seconds in self._asking_s:
            self._policy.early.asked(0.0 if waited_s else seconds, self._policy.rows)
        self._asking_s.clear()

    def _from_disk(self) -> int:
        return self._moved

    def _bring(self, expert: int) -> None:
        if self._ready[expert]:
            return
        self._changed.notify_all()
        started = self._crew.now()
        self.on_wait(True)
        try:
            self._watch.wait(self._changed, lambda: bool(self._ready[expert]) or expert in self._errors)
        finally:
            self.on_wait(False)
            self.waited_s += self._crew.now() - started
        if expert in self._errors:
            raise self._errors.pop(expert)

    def _lacks(self, expert: int) -> bool:
        elsewhere = self._elsewhere[expert] and expert not in self._held
        return super()._lacks(expert) and expert not in self._errors and not elsewhere

    def _begin_guessed(self) -> bool:
        """Begin to read one of the experts that the next mixture is expected to choose; if all of them are
        there, one of those that earlier answers used most, while there is room. Return whether one was
        begun."""
        for expert in self._policy.guess():
            if self._lacks(expert):
                begun = self._guess(expert)
                self._is_full = not begun
                return begun
        while self._common and len(self._slots) < self._limit:
            expert = self._common.pop(0)
            if self._lacks(expert):
                return self._begin(expert, of_wanted=False)
        return False

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
            self._limit = min(self._most, max(self._limit, have + more))
        if have > self._limit:
            for slot in self._give_back(have - self._limit):
                self._end_loan(slot)

    def _end_loan(self, slot: Slot) -> None:
        """Wait until what was lent is no longer read."""
        if slot.free is not None and self._link is not None:
            self._link.wait(slot.free)

    # -- reader threads --------------------------------------------------------------------------------------

    def _read(self, spare: NDArray[np.uint8] | None) -> None:
        """Read pieces until the cache is closed. spare: memory to pack an expert into; None if none is."""
        while (piece := self._take()) is not None:
            expert, extent = piece
            error = None
            try:
                slot = self._slots[expert]
                self._end_loan(slot)
                into = slot.bytes.data[extent.at : extent.at + extent.stop - extent.start]
                with self._watch.reading():
                    self._files[extent.file].read(into, extent.start, extent.end - extent.start)
            except Exception as failure:  # any error: `fetch` raises it instead of waiting for ever
                error = failure
            if (filled := self._filled(expert, error)) is not None:
                spare = self._finish(expert, filled, spare)

    def _take(self) -> tuple[int, Extent] | None:
        """Wait until there is a piece to read; return the expert and the piece. Return None once the cache is
        closed."""
        with self._changed:
            while not self._closed:
                with suppress(MemoryError, RuntimeError):  # a fetch finds so too, and says so
                    if not self._pieces and self._begin_guessed():
                        self._changed.notify_all()
                if self._pieces:
                    return self._pieces.pop(self._first())
                self._changed.wait()
        return None

    def _first(self) -> int:
        """Return the place of the piece to read first: one of an expert that has been chosen, if any is."""
        chosen = {*self._held, *self._policy.wanted}
        return next((at for at, (expert, _) in enumerate(self._pieces) if expert in chosen), 0)

    def _filled(self, expert: int, error: Exception | None) -> Slot | None:
        """Note that a piece has been read, or why it cannot be. Return the expert's slot if the piece was its
        last, and the cache is open."""
        with self._changed:
            if error is not None:
                self._errors[expert] = error
                self._broken.add(expert)
                self._changed.notify_all()
            self._missing[expert] -= 1
            return None if self._missing[expert] or self._closed else self._slots[expert]

    def _finish(self, expert: int, slot: Slot, spare: NDArray[np.uint8] | None) -> NDArray[np.uint8] | None:
        """Pack an expert whose pieces have all arrived in its slot; free the slot if one of them is lost.
        Return the memory that is spare then."""
        error = None
        if spare is not None and expert not in self._broken:
            try:
                self._experts[expert].pack(slot.bytes, spare)
            except Exception as failure:  # as of any piece
                error = failure
        with self._changed:
            if self._closed:
                return None
            del self._missing[expert]
            slot.free = None
            if error is not None:
                self._errors[expert] = error
            if error is not None or expert in self._broken:
                self._broken.discard(expert)
                self._drop(expert)
            else:
                if spare is not None:
                    slot.bytes, spare = spare, slot.bytes
                self._ready[expert] = True
                self._moved += self._experts[expert].nbytes
            try:
                self._begin_wanted()
            except ALLOCATION_ERRORS as failure:
                self._errors |= {each: failure for each in self._held if each not in self._slots}
            self._changed.notify_all()
        return spare
