"""What caches of experts have in common, whatever memory they are in: which experts they hold, what makes
room for what, and what is counted."""

from abc import ABC, abstractmethod
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np

from engine.errors import ALLOCATION_ERRORS, exhausted_tier
from engine.routing import RoutingCounts
from engine.streaming.chunks import Chunk
from engine.streaming.crew import Condition
from engine.streaming.device_ring import Event
from engine.streaming.expert_counts import ExpertCounts
from engine.streaming.expert_policy import ExpertPolicy
from engine.streaming.mover import Bytes

LEAST_SLOTS = 2


@dataclass(slots=True, eq=False)
class Slot:
    """Memory for one expert. Attributes: `bytes`; `slab`: the number of the slab that it is a part of;
    `free`: the event after which the bytes may be written, None for at once; `arrived`: that of the last copy
    to them, None once computation waits for it."""

    bytes: Bytes
    slab: int
    free: Event | None = None
    arrived: Event | None = None


class ExpertHome(ABC):
    """Slots of one expert's bytes each. The computing thread announces the experts that a mixture has chosen,
    and fetches them, one or some at a time.

    An expert takes the slot of the one that is worth least (see `ExpertPolicy`). The experts in use, on their
    way, or wanted sooner keep theirs; so any number of experts passes through two slots. Slots come and go in
    slabs, which take memory when they are first used. While there is little memory, there are fewer.

    A subclass says what memory that is, and how an expert gets there.
    """

    def __init__(
        self, experts: Sequence[Chunk], slots: int, policy: ExpertPolicy, changed: Condition
    ) -> None:
        """experts: one chunk for each expert, in the order of use. slots: their number, at least two. policy:
        one for these experts; it changes only while the lock of `changed` is held."""
        self._experts = experts
        self._slot_nbytes = max(expert.slot_nbytes for expert in experts)
        self._limit = slots  # lower while there is little memory
        self._policy = policy
        self._changed = changed
        self._slabs = 0  # ever taken
        self._free: list[Slot] = []  # those without an expert
        self._slots: dict[int, Slot] = {}  # of the experts that are here or on their way
        self._ready = np.zeros(len(experts), np.bool_)  # those that need not be waited for
        self._elsewhere = np.zeros(len(experts), np.bool_)  # those in a cache that is asked before this one
        self._held: list[int] = []  # the experts in use
        self._lent: frozenset[int] = frozenset()  # those that are read where they lie
        self._missed: set[int] = set()  # of the experts that are wanted
        self._late: set[int] = set()  # of these, those that were on their way when they were chosen
        self._guessed: set[int] = set()
        self._hits = self._came_late = self._misses = self._near = 0  # of the experts used
        self._moved = self._predicted = self._right = 0
        self._by_layer: dict[int, tuple[int, int]] = {}  # experts that were chosen; of these, those near

    @property
    def changed(self) -> Condition:
        """The condition whose lock guards the policy."""
        return self._changed

    @property
    def nbytes(self) -> int:
        """Bytes of all slots, whether they have been used yet or not."""
        return self._limit * self._slot_nbytes

    @property
    def slots(self) -> int:
        """The number of all slots."""
        return self._limit

    @property
    def routing(self) -> RoutingCounts:
        """What the passes have taught about the routing."""
        with self._changed:
            return self._policy.counts

    @property
    def counts(self) -> ExpertCounts:
        with self._changed:
            done = self._hits, self._misses, self._moved, self._predicted, self._right
            by_layer = dict(self._by_layer)
            return ExpertCounts(*done, self._from_disk(), self._near, by_layer, self._came_late)

    def choose(
        self, wanted: Sequence[int], rows: Sequence[Sequence[int]] = (), near: Sequence[int] = ()
    ) -> None:
        """Announce the experts of one mixture that this pass uses, in the order of use, and fetches but for
        those `near`, which are used where they lie. rows: those of each row, for `kept`; empty if they are
        not known."""
        if not wanted:
            return
        mixture = self._experts[wanted[0]].mixture
        assert mixture is not None
        with self._changed:
            self._policy.choose(mixture, wanted, rows)
            for expert in near:
                self._policy.use(expert)
            self._near += len(near)
            before, near_before = self._by_layer.get(mixture, (0, 0))
            self._by_layer[mixture] = before + len(wanted), near_before + len(near)
            self.begin(mixture, wanted, near)

    @contextmanager
    def trial(self) -> Iterator[None]:
        """Let the passes within teach nothing about the routing."""
        with self._changed:
            self._policy.learns = False
        try:
            yield
        finally:
            with self._changed:
                self._policy.learns = True

    def kept(self, row: int) -> None:
        """Note that the pass has ended, and that the text goes on behind this row of it."""
        with self._changed:
            self._policy.kept(row)

    def fetch(self, expert: int) -> Bytes:
        """Return the bytes of `expert`, uint8, and release the experts fetched before.

        Raises StreamBroken if it cannot be read, and Interrupted if the pass is interrupted while this waits;
        the next pass brings it again.
        """
        with self._changed:
            self._use([expert])
            return self._slots[expert].bytes[: self._experts[expert].nbytes]

    def sweep(self) -> None:
        """Bring each expert once, whether it is here or not, to measure how fast they come."""
        self.clear()
        for expert in range(len(self._experts)):
            self.fetch(expert)

    def clear(self) -> None:
        """Discard the experts that are here."""
        with self._changed:
            self._release()
            self._policy.wanted = []
            self._policy.forget_told()
            self._missed.clear()
            self._late.clear()
            self._guessed.clear()
            for expert in set(np.flatnonzero(self._ready).tolist()) - self._lent:
                self._drop(expert)

    @abstractmethod
    def close(self) -> None:
        """Leave the memory alone, for good."""

    # -- for a subclass; the lock is held --------------------------------------------------------------------

    @abstractmethod
    def _from_disk(self) -> int:
        """Return the bytes read from the disk since the start."""

    @abstractmethod
    def _bring(self, expert: int) -> None:
        """Return when this expert, which is in use, and there or on its way, can be used."""

    @abstractmethod
    def _load(self, expert: int, slot: Slot) -> None:
        """Begin to bring `expert` to a slot."""

    @abstractmethod
    def _slab(self) -> list[Slot]:
        """Return new slots, whose memory is freed together. Raises the error of the memory's library if there
        is none left."""

    def _lacks(self, expert: int) -> bool:
        """Return whether it is to be brought if it is wanted."""
        return expert not in self._slots

    def _release(self) -> None:
        """Note that the experts in use are used no more."""
        self._held = []

    # -- the same in all homes; the lock is held -------------------------------------------------------------

    def begin(self, mixture: int, wanted: Sequence[int], near: Sequence[int] = ()) -> None:
        """Begin to bring what is missing of the experts that the policy has learned of. wanted, near: as of
        `choose`."""
        self._right += len(self._guessed.intersection(wanted))
        self._guessed = {each for each in self._guessed if self._experts[each].mixture != mixture}
        self._release()
        self._missed.clear()
        self._late = {each for each in wanted if each in self._slots and not self._ready[each]}
        self._begin_wanted()

    def _use(self, experts: Sequence[int]) -> None:
        """Release the experts in use, and take these into use once they are here; raises as `fetch` does."""
        self._release()
        self._held = list(experts)
        for expert in experts:
            self._policy.use(expert)
        try:
            self._begin_wanted()
            for expert in experts:
                self._bring(expert)
        except BaseException:
            self._held, self._policy.wanted = [], []
            raise
        missed = len(self._missed.intersection(experts))
        late = len(self._late.difference(self._missed).intersection(experts))
        self._hits += len(experts) - missed - late
        self._misses, self._came_late = self._misses + missed, self._came_late + late

    def _begin_wanted(self) -> bool:
        """Begin to bring the experts in use and those that are wanted, as far as they find slots; return
        whether all have."""
        for place, expert in enumerate([*self._held, *self._policy.wanted]):
            if self._lacks(expert):
                if not self._begin(expert, of_wanted=place <= len(self._held)):
                    return False
                self._missed.add(expert)
        return True

    def _guess(self, expert: int) -> bool:
        """Begin to bring an expert that a mixture may choose later; return False if it finds no slot."""
        begun = self._begin(expert, of_wanted=False)
        if begun:
            self._guessed.add(expert)
            self._predicted += 1
        return begun

    def _begin(self, expert: int, of_wanted: bool) -> bool:
        """Begin to bring `expert` to a free slot, or to that of the expert whose next use is expected last,
        and later than that of `expert`; return False if there is none. of_wanted: whether that may be the
        slot of an expert that this pass still wants."""
        slot = self._slot()
        if slot is None:
            stays = {*self._held, *self._lent}
            out = self._policy.out(self._ready, expert, of_wanted, stays, self._elsewhere)
            if out is None:
                return False
            self._drop(out)
            slot = self._free.pop()
        try:
            self._load(expert, slot)
        except BaseException:
            self._free.append(slot)
            raise
        self._slots[expert] = slot
        return True

    def _slot(self) -> Slot | None:
        """Return a free slot, or a new one while there are fewer than the limit, or than two besides those of
        experts that are lent; None if there is none."""
        least = LEAST_SLOTS + len(self._lent)
        if not self._free and len(self._slots) < max(self._limit, least):
            try:
                self._free += self._slab()
            except ALLOCATION_ERRORS as error:
                if len(self._slots) < least or exhausted_tier(error) is None:
                    raise
                self._limit = len(self._slots)
            else:
                self._slabs += 1
        return self._free.pop() if self._free else None

    def _drop(self, expert: int) -> None:
        self._ready[expert] = False
        self._free.append(self._slots.pop(expert))

    def _give_back(self, count: int) -> list[Slot]:
        """Give back slabs with `count` slots, or with a few more, those first whose experts are worth least
        on average; return their slots, whose memory is freed with the list. Two slots stay, besides those of
        experts that are lent, and slabs with an expert that is on its way or lent."""
        worth = self._policy.worth(self._elsewhere)
        of_slabs = defaultdict[int, float](float, {slot.slab: 0.0 for slot in self._free})
        for expert, slot in self._slots.items():
            may_go = self._ready[expert] and expert not in self._lent
            of_slabs[slot.slab] += worth[expert] if may_go else np.inf
        sizes = Counter(slot.slab for slot in (*self._free, *self._slots.values()))
        have = left = sizes.total()
        gone: set[int] = set()
        for slab in sorted(of_slabs, key=lambda slab: of_slabs[slab] / sizes[slab]):
            if left <= have - count or np.isinf(of_slabs[slab]):
                break
            if left - sizes[slab] >= LEAST_SLOTS + len(self._lent):
                left -= sizes[slab]
                gone.add(slab)
        for expert in [expert for expert, slot in self._slots.items() if slot.slab in gone]:
            self._drop(expert)
        given = [slot for slot in self._free if slot.slab in gone]
        self._free = [slot for slot in self._free if slot.slab not in gone]
        return given
