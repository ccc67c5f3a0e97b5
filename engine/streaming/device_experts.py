"""A cache in device memory of the experts of a model's mixtures.

The experts that a pass misses are copied from RAM. If all are there, the computing thread only launches the
copies, those of a mixture all at once; else each comes through a cache in RAM, which has a policy of its own
and reads it from the SSD. Products wait on the device for the copies they need, and copies for the products
that still use their slots.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from engine.errors import exhausted_tier
from engine.routing import RoutingCounts
from engine.streaming.chunks import Chunk
from engine.streaming.device_ring import DeviceLink, Event
from engine.streaming.expert_cache import LEAST_SLOTS, ExpertCache, ExpertCounts
from engine.streaming.expert_policy import ExpertPolicy
from engine.streaming.mover import Bytes

# If a mixture chose at least this share of its experts, those of the next one are copied before it has
# chosen. If each row chooses 2 of 8 experts at random, a pass of 6 rows uses 82 % of them.
_MOST = 0.8


@dataclass(slots=True)
class _Slot:
    """Device memory for one expert. Attributes: `bytes`; `free`: the event after which they may be written;
    `arrived`: that of the last copy, None once computation waits for it."""

    bytes: Bytes
    free: Event
    arrived: Event | None = None


class DeviceExperts:
    """Slots of one expert's bytes each, in device memory. Its one user, the computing thread, announces the
    experts that a mixture has chosen, fetches one, launches products with it, and fetches the next.

    What makes room for what is decided as in `ExpertCache`, by the same policy. Slots take memory when they
    are first used; where the device has no more, there are fewer.
    """

    def __init__(
        self,
        experts: Sequence[Chunk],
        slots: int,
        policy: ExpertPolicy,
        link: DeviceLink,
        slabs: Sequence[NDArray[np.uint8]],
        ram: ExpertCache | None,
    ) -> None:
        """experts: one chunk for each expert, in the order of use. slots: their number, at least two. policy:
        one for these experts. slabs: the memory of each expert, if all are in RAM. ram: otherwise, the cache
        in RAM that they come through; it is closed with this one."""
        self._experts = experts
        self._slot_nbytes = max(expert.nbytes for expert in experts)
        self._limit = slots
        self._link = link
        self._slabs = slabs
        self._ram = ram
        self._policy = policy
        self._members = Counter(expert.mixture for expert in experts)
        self._free: list[_Slot] = []
        self._slots: dict[int, _Slot] = {}  # by expert
        self._ready = np.zeros(len(experts), np.bool_)  # those with a slot
        self._held: int | None = None  # the expert in use
        self._last: Event | None = None  # the copy launched last; copies run in order
        self._from_ram: Event | None = None  # the copy from the slot that the cache in RAM gave last
        self._most = False  # whether the next mixture's experts are still to be copied before it has chosen
        self._missed: set[int] = set()  # of the experts that are wanted
        self._guessed: set[int] = set()
        self._hits = self._misses = self._moved = self._predicted = self._right = 0

    @property
    def nbytes(self) -> int:
        """Bytes of all slots, whether they have been used yet or not."""
        return self._limit * self._slot_nbytes

    @property
    def ram_nbytes(self) -> int:
        """Bytes of the cache in RAM; 0 if there is none."""
        return self._ram.nbytes if self._ram else 0

    @property
    def waited_s(self) -> float:
        """Seconds that `fetch` has waited since the start for experts to reach RAM."""
        return self._ram.waited_s if self._ram else 0.0

    @property
    def routing(self) -> RoutingCounts:
        """What the passes have taught about the routing."""
        return self._policy.counts

    @property
    def counts(self) -> ExpertCounts:
        """What was done since the start; bytes read are those copied to the device."""
        from_disk = self._ram.counts.read if self._ram else 0
        return ExpertCounts(self._hits, self._misses, self._moved, self._predicted, self._right, from_disk)

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
            self._link.wait(self._last)
            done += self._experts[expert].nbytes

    def choose(self, wanted: Sequence[int], rows: Sequence[Sequence[int]] = ()) -> None:
        """See `ExpertCache.choose`."""
        if not wanted:
            return
        mixture = self._experts[wanted[0]].mixture
        assert mixture is not None
        self._right += len(self._guessed.intersection(wanted))
        self._guessed.clear()
        self._release()
        self._missed.clear()
        self._policy.choose(mixture, wanted, rows)
        self._most = len(wanted) >= _MOST * self._members[mixture]
        if self._ram:
            self._end_copy()
            self._ram.choose([expert for expert in wanted if not self._ready[expert]])
        self._begin_wanted()

    def kept(self, row: int) -> None:
        """Note that the pass has ended, and that the text goes on behind this row of it."""
        self._policy.kept(row)

    def fetch(self, expert: int) -> Bytes:
        """Return the bytes of `expert` on the device, uint8, for work launched from now on, and release the
        expert fetched before.

        Raises StreamBroken if it cannot be read, and Interrupted if the pass is interrupted while this waits;
        the next pass reads it again.
        """
        self._release()
        self._held = expert
        self._policy.use(expert)
        try:
            self._begin_wanted()
        except BaseException:
            self._held, self._policy.wanted = None, []
            raise
        missed = expert in self._missed
        self._hits, self._misses = self._hits + (not missed), self._misses + missed
        slot = self._slots[expert]
        if slot.arrived is not None:
            self._link.compute_after(slot.arrived)
            slot.arrived = None
        return slot.bytes[: self._experts[expert].nbytes]

    def sweep(self) -> None:
        """Bring each expert once, whether it is in the cache or not, to measure the link."""
        if self._ram:
            self._end_copy()
            self._ram.clear()
        self._release()
        self._policy.wanted = []
        self._most = False  # nothing more is brought along
        self._missed.clear()
        self._guessed.clear()
        for expert in list(self._slots):
            self._free.append(self._drop(expert))
        for expert in range(len(self._experts)):
            self.fetch(expert)

    def shrink(self) -> bool:
        """Give an eighth of the slots back, after a pass for which the device's memory did not suffice;
        return whether there were any to give. No expert may be in use."""
        have = len(self._slots) + len(self._free)
        left = max(LEAST_SLOTS, have - max(1, have // 8))
        if left >= have:
            return False
        self._release()
        self._policy.wanted = []
        self._limit = left
        if self._last is not None:
            self._link.wait(self._last)  # it may be on its way to a slot that is given back
        while len(self._slots) > left:
            least = self._policy.least(self._ready)
            assert least is not None
            self._drop(least)
        del self._free[left - len(self._slots) :]
        return True

    def close(self) -> None:
        """Wait until the device has finished with the slots, then close the cache in RAM."""
        if self._last is not None:
            self._link.wait(self._last)
        self._link.wait(self._link.used())
        if self._ram:
            self._ram.close()

    def _release(self) -> None:
        if self._held is not None:
            self._slots[self._held].free = self._link.used()
            self._held = None

    def _begin_wanted(self) -> None:
        """Launch the copies of the experts that are in use or wanted, as far as they find slots; behind them,
        if that is likely to be right, those of the next mixture. From a cache in RAM, only that of the expert
        in use: it may have to be waited for."""
        used = [] if self._held is None else [self._held]
        wanted = [] if self._ram else self._policy.wanted
        for place, expert in enumerate([*used, *wanted]):
            if not self._ready[expert]:
                if not self._begin(expert, of_wanted=place <= len(used)):
                    return
                self._missed.add(expert)
        if self._most and not self._ram:
            for expert in self._policy.following():
                if not self._ready[expert]:
                    if not self._begin(expert, of_wanted=False):
                        return
                    self._guessed.add(expert)
                    self._predicted += 1
            self._most = False  # all are there, or on their way

    def _begin(self, expert: int, of_wanted: bool) -> bool:
        """Launch the copy of `expert` to a free slot, or to that of the expert whose next use is expected
        last, and later than that of `expert`; return False if there is none. of_wanted: whether that may be
        the slot of an expert that this pass still wants."""
        source = self._source(expert)
        slot = self._slot()
        if slot is None:
            out = self._policy.out(self._ready, expert, of_wanted, self._held)
            if out is None:
                return False
            slot = self._drop(out)
        self._copy(expert, slot, source)
        self._moved += self._experts[expert].nbytes
        if self._ram:
            self._from_ram = self._last
        return True

    def _source(self, expert: int) -> NDArray[np.uint8]:
        """Return the bytes of `expert` in RAM."""
        if self._ram is None:
            return self._slabs[expert]
        self._end_copy()
        return self._ram.fetch(expert)

    def _end_copy(self) -> None:
        """Wait until the cache in RAM may reuse the slot that it gave last."""
        if self._from_ram is not None:
            self._link.wait(self._from_ram)
            self._from_ram = None

    def _copy(self, expert: int, slot: _Slot, source: NDArray[np.uint8]) -> None:
        slot.arrived = slot.free = self._last = self._link.copy(slot.bytes, source, slot.free)
        self._slots[expert] = slot
        self._ready[expert] = True

    def _slot(self) -> _Slot | None:
        """Return a free slot, or a new one while there are fewer than the limit; None if there is none."""
        if self._free:
            return self._free.pop()
        if len(self._slots) < self._limit:
            try:
                (new,) = self._link.slots(1, self._slot_nbytes)
            except RuntimeError as error:
                if len(self._slots) < LEAST_SLOTS or exhausted_tier(error) != "vram":
                    raise
                self._limit = len(self._slots)
            else:
                # Work launched earlier may still use memory that was freed for the slot.
                return _Slot(new, self._link.used())
        return None

    def _drop(self, expert: int) -> _Slot:
        self._ready[expert] = False
        return self._slots.pop(expert)
