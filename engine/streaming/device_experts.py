"""A cache in device memory of the experts of a model's mixtures.

The experts that a pass misses are copied from RAM. If all are there, the computing thread only launches the
copies, those of a mixture all at once; else each comes through a cache in RAM, which reads it from the SSD.
Products wait on the device for the copies they need, and copies for the products that still use their slots.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from engine.streaming.chunks import Chunk
from engine.streaming.crew import SYSTEM, Crew
from engine.streaming.device_ring import DeviceLink
from engine.streaming.expert_cache import ExpertCache
from engine.streaming.expert_counts import ExpertCounts
from engine.streaming.expert_home import LEAST_SLOTS, ExpertHome, Slot
from engine.streaming.expert_policy import ExpertPolicy
from engine.streaming.mover import Bytes
from engine.streaming.slabs import Slabs

# If a mixture chose at least this share of its experts, those of the next one are copied before it has
# chosen. If each row chooses 2 of 8 experts at random, a pass of 6 rows uses 82 % of them.
_MOST = 0.8
# A cache that has given memory back takes a slab again where, for so many seconds, this much was free beside
# it.
PATIENCE_S = 15.0
MARGIN_NBYTES = 256 << 20


class DeviceExperts(ExpertHome):
    """The cache that a device with memory of its own computes from: work launched after a fetch finds the
    expert's bytes, on the device, and the computing thread need not wait for them."""

    def __init__(
        self,
        experts: Sequence[Chunk],
        slots: int,
        policy: ExpertPolicy,
        link: DeviceLink,
        slabs: Sequence[NDArray[np.uint8]],
        ram: ExpertCache | None,
        crew: Crew = SYSTEM,
    ) -> None:
        """experts, slots, policy: as of `ExpertHome`. slabs: the memory of each expert, if all are in RAM.
        ram: otherwise, the cache in RAM that they come through, with the same policy; it is closed with this
        one. crew: its clock."""
        super().__init__(experts, slots, policy, ram.changed if ram else crew.condition())
        if ram:
            self._ready = ram.elsewhere  # so that it keeps what the device lacks
        self._link = link
        self._cut = Slabs.cut(slots, self._slot_nbytes)
        self._in_ram = slabs
        self._ram = ram
        self._members = Counter(expert.mixture for expert in experts)
        self._planned = slots
        self._crew = crew
        self._patience_s = PATIENCE_S
        self._looked = crew.now()  # at the free memory
        self._most = False  # whether the next mixture's experts are still to be copied before it has chosen

    @property
    def nbytes(self) -> int:
        return self._cut.nbytes(self._limit)

    @property
    def ram_nbytes(self) -> int:
        """Bytes of the cache in RAM; 0 if there is none."""
        return self._ram.nbytes if self._ram else 0

    @property
    def counts(self) -> ExpertCounts:
        with self._changed:
            return replace(super().counts, ram=self._ram.counts if self._ram else None)

    @property
    def waited_s(self) -> float:
        """Seconds that `fetch` has waited since the start for experts to reach RAM."""
        return self._ram.waited_s if self._ram else 0.0

    def fill(
        self,
        first: Sequence[int],
        read: Callable[[int], NDArray[np.uint8]],
        progress: Callable[[int, int], None],
    ) -> None:
        """Bring in the experts `first`, no more than there are slots, before the first pass. read: returns
        the bytes of an expert, which stay until the next call. progress: called with the bytes brought and
        those in all; it may raise to abort."""
        total = sum(self._experts[expert].nbytes for expert in first)
        done = 0
        for expert in first:
            progress(done, total)
            if (slot := self._slot()) is None:  # the device has less memory than was planned
                return
            self._copy(expert, slot, read(expert))
            self._slots[expert] = slot
            self._link.wait(slot.free)
            done += self._experts[expert].nbytes

    def fetch(self, expert: int) -> Bytes:
        """See `ExpertHome.fetch`. Who launches the copy may need the lock, so it is waited for without."""
        fetched, slot = super().fetch(expert), self._slots[expert]
        if slot.arrived is not None:
            try:
                self._link.compute_after(slot.arrived)
            except BaseException:  # it is not here
                with self._changed:
                    self._held, self._policy.wanted = [], []
                    self._drop(expert)
                    slot.arrived, slot.free = None, self._link.used()
                raise
            slot.arrived = None
        return fetched

    @property
    def most_lent(self) -> int:
        """How many experts can be lent at a time."""
        return self._ram.slots - LEAST_SLOTS if self._ram else len(self._experts)

    def lacking(self, experts: Sequence[int]) -> list[int]:
        """Return those of these experts that are in RAM, and neither here nor on their way, in the order of
        what they are worth here, the least first."""
        with self._changed:
            worth = self._policy.worth()
            near = (each for each in experts if each not in self._slots and self._is_near(each))
            return sorted(near, key=lambda each: worth[each])

    def lend(self, experts: Sequence[int]) -> dict[int, NDArray[np.uint8]]:
        """Return the bytes in RAM of those of these experts that are there. They stay as they are until the
        next call."""
        with self._changed:
            if self._ram:
                return self._ram.lend_in_place(experts)
            return {expert: self._in_ram[expert] for expert in experts}

    def bring(self, expert: int) -> None:
        """Begin to copy `expert`, which is lent, for later passes, if it is worth more than another that is
        here."""
        with self._changed:
            if expert not in self._slots and self._is_near(expert):
                self._guess(expert)

    def lend_all(self, experts: Sequence[int]) -> dict[int, NDArray[np.uint8]]:
        """Lend all of these experts, `most_lent` at most; those that are not in RAM are read. Raises as
        `fetch` does; then none is lent."""
        try:
            for count in range(len(experts) if self._ram else 0):
                assert self._ram is not None
                self._ram.fetch(experts[count])
                self.lend(experts[: count + 1])
            return self.lend(experts)
        except BaseException:
            self.lend(())
            raise

    def copy_s(self, sources: Sequence[NDArray[np.uint8]]) -> float:
        """Return the seconds in which one expert is copied to the device, from copies of these experts in
        RAM to memory that is nobody's."""
        (memory,) = self._link.slots(1, self._slot_nbytes)
        begun, event = self._crew.now(), self._link.used()
        for source in sources:
            event = self._link.copy(memory, source, event)
        self._link.wait(event)
        return (self._crew.now() - begun) / len(sources)

    def clear(self) -> None:
        if self._ram:
            self._ram.clear()
        super().clear()
        self._most = False  # nothing more is brought along

    def shrink(self) -> bool:
        """Give an eighth of the slots back, or a few more, since whole slabs go, after a pass for which the
        device's memory did not suffice; return whether there were any to give. No expert may be in use."""
        with self._changed:
            self._release()
            self._policy.wanted = []
            self._settle()  # a copy may be on its way to a slot that is given back
            have = len(self._slots) + len(self._free)
            given = len(self._give_back(max(1, have // 8)))
            if given:
                self._limit = have - given
                self._patience_s *= 2
                self._look()
            return given > 0

    def close(self) -> None:
        """Wait until the device has finished with the slots, then close the cache in RAM."""
        try:
            self._settle()
            self._link.wait(self._link.used())
        finally:
            if self._ram:
                self._ram.close()

    def _settle(self) -> None:
        """Wait until the device has finished with all slots, but for that of the expert in use."""
        for slot in (*self._slots.values(), *self._free):
            self._link.wait(slot.free)

    # -- slots; the lock is held -----------------------------------------------------------------------------

    def begin(self, mixture: int, wanted: Sequence[int], near: Sequence[int] = ()) -> None:
        self._grow()
        self._most = len(wanted) - len(near) >= _MOST * self._members[mixture]
        if self._ram:
            self._ram.begin(mixture, wanted, near)
        super().begin(mixture, wanted, near)

    def _grow(self) -> None:
        """Let the cache have a slab more, up to what was planned, if passes have left enough free for long.
        After each time that the memory did not suffice, that takes twice as long: a pass that needs more than
        usual, such as one over a long prompt, may come again."""
        if self._limit == self._planned or self._crew.now() < self._looked + self._patience_s:
            return
        count = min(self._cut.slots, self._planned - self._limit)
        if self._look() >= self._cut.slab_nbytes(count) + MARGIN_NBYTES:
            self._limit += count

    def _is_near(self, expert: int) -> bool:
        return self._ram is None or self._ram.has(expert)

    def _look(self) -> int:
        """Return the bytes that were free at any time since the last look."""
        self._looked = self._crew.now()
        return self._link.spare_nbytes()

    def _from_disk(self) -> int:
        return self._ram.counts.read if self._ram else 0

    def _release(self) -> None:
        for expert in self._held:
            self._slots[expert].free = self._link.used()
        super()._release()

    def _bring(self, expert: int) -> None:
        """The device itself waits for a copy."""

    def _lacks(self, expert: int) -> bool:
        # From a cache in RAM, only the expert in use is brought: it may have to be waited for.
        return super()._lacks(expert) and (self._ram is None or expert in self._held)

    def _begin_wanted(self) -> bool:
        """Launch these copies; behind them, if that is likely to be right, those of the next mixture."""
        found = super()._begin_wanted()
        if found and self._most and not self._ram:
            following = [expert for expert in self._policy.following() if self._lacks(expert)]
            self._most = not all(self._guess(expert) for expert in following)  # until all are on their way
        return found

    def _load(self, expert: int, slot: Slot) -> None:
        source = self._ram.fetch(expert) if self._ram else self._in_ram[expert]
        self._copy(expert, slot, source)
        self._moved += self._experts[expert].nbytes
        if self._ram:
            self._ram.lend(expert, slot.arrived)

    def _copy(self, expert: int, slot: Slot, source: NDArray[np.uint8]) -> None:
        source = source[self._experts[expert].lead :]
        slot.arrived = slot.free = self._link.copy(slot.bytes, source, slot.free)
        self._ready[expert] = True

    def _slab(self) -> list[Slot]:
        count, size = min(self._cut.slots, self._limit - len(self._slots)), self._slot_nbytes
        (memory,) = self._link.slots(1, self._cut.slab_nbytes(count))
        used = self._link.used()  # work launched earlier may still use memory that was freed for the slab
        return [Slot(memory[at : at + size], self._slabs, used) for at in range(0, count * size, size)]
