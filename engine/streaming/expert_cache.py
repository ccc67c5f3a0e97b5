"""A cache in memory of the experts of a model's mixtures. Reader threads fill it from the files: first with
the experts that a mixture has chosen, then with those that the next mixture is expected to choose."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from engine.machine import available_nbytes
from engine.routing import RoutingCounts
from engine.streaming.chunks import Chunk, Extent
from engine.streaming.crew import SYSTEM, Crew
from engine.streaming.disk import Readable, memory
from engine.streaming.expert_policy import ExpertPolicy
from engine.streaming.ring import READERS, STOP_S, end_if_interrupted, pieces

# Where less RAM than this is free, the cache gives memory back; where twice as much is, it grows again.
SPARE_NBYTES = 256 << 20
CHECK_S = 0.25  # seconds from one look at the free RAM to the next
LEAST_SLOTS = 2


@dataclass(frozen=True, slots=True)
class ExpertCounts:
    """Counts of a cache since its start.

    Attributes: `hits`, `misses`: experts that were, and were not, in the cache or on their way when their
    mixture chose them; `read`: bytes brought into the cache; `predicted`: experts brought before a mixture
    had chosen; `right`: how many of these it chose next; `from_disk`: bytes read from the disk: on the
    processor all of `read`, beside a card those that were not in RAM.
    """

    hits: int = 0
    misses: int = 0
    read: int = 0
    predicted: int = 0
    right: int = 0
    from_disk: int = 0

    def __sub__(self, before: "ExpertCounts") -> "ExpertCounts":
        """Return what was done since `before`."""
        return ExpertCounts(
            self.hits - before.hits,
            self.misses - before.misses,
            self.read - before.read,
            self.predicted - before.predicted,
            self.right - before.right,
            self.from_disk - before.from_disk,
        )


def done_since(before: ExpertCounts | None, now: ExpertCounts | None) -> ExpertCounts | None:
    """Return what was done between two readings; None where there is no cache."""
    return now - before if now and before else now


class ExpertCache:
    """Slots of one expert's bytes each. Its one user, the computing thread, announces the experts that a
    mixture has chosen, and fetches them one after another.

    An expert takes the slot of the one that is worth least (see `ExpertPolicy`). The experts in use, being
    read, or wanted sooner keep theirs; so any number of experts passes through two slots. Slots take memory
    when they are first used. While other programs leave little RAM, there are fewer.

    Attributes: `waited_s`: seconds that `fetch` has waited since the start; `on_wait`: as that of `Streamer`.
    """

    def __init__(
        self,
        experts: Sequence[Chunk],
        slots: int,
        files: Mapping[Path, Readable],
        counts: RoutingCounts | None = None,
        crew: Crew = SYSTEM,
        allocate: Callable[[int], NDArray[np.uint8]] | None = None,
    ) -> None:
        """experts: one chunk for each expert, in the order of use. slots: their number, at least two. files:
        the open files of the chunks' extents. counts: those of earlier answers; the experts that these used
        most are read while nothing else is. crew: the threads that read. allocate: a function that returns
        page-aligned memory of a given number of bytes, or raises MemoryError; None for plain memory."""
        self._experts = experts
        self._allocate = allocate or memory
        self._files = files
        self._slot_nbytes = max(expert.nbytes for expert in experts)
        self._most = self._limit = slots  # the limit is lower while there is little RAM
        self.waited_s = 0.0
        self.on_wait: Callable[[bool], None] = lambda waits: None
        self._crew = crew
        self._changed = crew.condition()
        self._checked = crew.now()
        self._policy = ExpertPolicy([expert.mixture or 0 for expert in experts], counts)
        self._common = self._policy.common()[:slots]  # not yet read
        self._free: list[NDArray[np.uint8]] = []  # slots that have memory and no expert
        self._slots: dict[int, NDArray[np.uint8]] = {}  # of experts in the cache, and of those being read
        self._ready = np.zeros(len(experts), np.bool_)
        self._held: int | None = None  # the expert in use
        self._pieces: list[tuple[int, Extent]] = []  # (expert, piece) not yet taken by a reader
        self._missing: dict[int, int] = {}  # by expert: number of pieces still to arrive
        self._errors: dict[int, Exception] = {}
        self._missed: set[int] = set()  # of the experts that are wanted
        self._guessed: set[int] = set()
        self._hits = self._misses = self._moved = self._predicted = self._right = 0
        self._closed = False
        self._threads = [crew.start(self._read, f"experts-{number}") for number in range(READERS)]

    @property
    def nbytes(self) -> int:
        """Bytes of all slots, whether they have been used yet or not."""
        return self._limit * self._slot_nbytes

    @property
    def routing(self) -> RoutingCounts:
        """What the passes have taught about the routing."""
        with self._changed:
            return self._policy.counts

    @property
    def counts(self) -> ExpertCounts:
        with self._changed:
            moved = self._moved
            return ExpertCounts(self._hits, self._misses, moved, self._predicted, self._right, moved)

    def choose(self, wanted: Sequence[int], rows: Sequence[Sequence[int]] = ()) -> None:
        """Announce the experts of one mixture that this pass fetches, in the order of use. rows: those of
        each row, for `kept`; empty if they are not known."""
        if not wanted:
            return
        mixture = self._experts[wanted[0]].mixture
        assert mixture is not None
        with self._changed:
            self._right += len(self._guessed.intersection(wanted))
            self._guessed = {each for each in self._guessed if self._experts[each].mixture != mixture}
            self._held = None
            self._missed.clear()
            for expert in wanted:
                self._errors.pop(expert, None)
            self._fit()
            self._policy.choose(mixture, wanted, rows)
            self._begin_wanted()
            self._changed.notify_all()

    def kept(self, row: int) -> None:
        """Note that the pass has ended, and that the text goes on behind this row of it."""
        with self._changed:
            self._policy.kept(row)

    def fetch(self, expert: int) -> NDArray[np.uint8]:
        """Wait until `expert` has been read; return its bytes, uint8, which stay until the next call.

        Raises StreamBroken if it cannot be read, and Interrupted if the pass is interrupted while this waits;
        the next pass reads it again.
        """
        with self._changed:
            self._held = expert
            self._policy.use(expert)
            self._begin_wanted()
            self._changed.notify_all()
            try:
                self._wait_for(expert)
            except BaseException:
                self._held, self._policy.wanted = None, []
                raise
            missed = expert in self._missed
            self._hits, self._misses = self._hits + (not missed), self._misses + missed
            return self._slots[expert][: self._experts[expert].nbytes]

    def sweep(self) -> None:
        """Read each expert once, whether it is in the cache or not, to measure reading."""
        self.clear()
        for expert in range(len(self._experts)):
            self.fetch(expert)

    def clear(self) -> None:
        """Discard the experts that are in the cache."""
        with self._changed:
            self._held, self._policy.wanted = None, []
            for expert in np.flatnonzero(self._ready).tolist():
                self._drop(expert)

    def close(self) -> None:
        """End the threads."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()
        for thread in self._threads:
            thread.join()

    def _wait_for(self, expert: int) -> None:
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

    # -- slots; the lock is held -----------------------------------------------------------------------------

    def _begin_wanted(self) -> None:
        """Begin to read the experts that are waited for or wanted, as far as they find slots."""
        waited = [] if self._held is None else [self._held]
        for place, expert in enumerate([*waited, *self._policy.wanted]):
            if expert in self._slots or expert in self._errors:
                continue
            if not self._begin(expert, of_wanted=place <= len(waited)):
                return
            self._missed.add(expert)

    def _begin_guessed(self) -> None:
        """Begin to read one of the experts that the next mixture is expected to choose; if all of them are
        there, one of those that earlier answers used most, while there is room."""
        for expert in self._policy.guess():
            if expert not in self._slots and expert not in self._errors:
                if self._begin(expert, of_wanted=False):
                    self._guessed.add(expert)
                    self._predicted += 1
                return
        while self._common and len(self._slots) < self._limit:
            expert = self._common.pop(0)
            if expert not in self._slots and expert not in self._errors:
                self._begin(expert, of_wanted=False)
                return

    def _begin(self, expert: int, of_wanted: bool) -> bool:
        """Begin to read `expert` into a free slot, or into that of the expert whose next use is expected
        last, and later than that of `expert`; return False if there is none. of_wanted: whether that may be
        the slot of an expert that this pass still wants."""
        slot = self._slot()
        if slot is None:
            out = self._policy.out(self._ready, expert, of_wanted, self._held)
            if out is None:
                return False
            self._drop(out)
            slot = self._free.pop()
        self._slots[expert] = slot
        queue = [(expert, piece) for extent in self._experts[expert].extents for piece in pieces(extent)]
        self._pieces += queue
        self._missing[expert] = len(queue)
        return True

    def _slot(self) -> NDArray[np.uint8] | None:
        """Return a free slot, or a new one while there are fewer than the limit; None if there is none."""
        if self._free:
            return self._free.pop()
        if len(self._slots) < self._limit:
            try:
                return self._allocate(self._slot_nbytes)
            except MemoryError:
                if len(self._slots) < LEAST_SLOTS:
                    raise
                self._limit = len(self._slots)
        return None

    def _fit(self) -> None:
        """Give memory back if other programs have left little RAM; take it again when they leave enough."""
        now = self._crew.now()
        if now < self._checked + CHECK_S:
            return
        self._checked = now
        spare = available_nbytes()
        if spare < SPARE_NBYTES:
            have = len(self._slots) + len(self._free)
            self._limit = max(LEAST_SLOTS, have + (spare - SPARE_NBYTES) // self._slot_nbytes)
        elif spare > 2 * SPARE_NBYTES and self._limit < self._most:
            more = (spare - 2 * SPARE_NBYTES) // self._slot_nbytes
            self._limit = min(self._most, max(self._limit, len(self._slots) + more))
        while len(self._slots) + len(self._free) > self._limit:
            if not self._free:
                least = self._policy.least(self._ready)
                if least is None:
                    return
                self._drop(least)
            self._free.pop()

    def _drop(self, expert: int) -> None:
        self._free.append(self._slots.pop(expert))
        self._ready[expert] = False

    # -- reader threads --------------------------------------------------------------------------------------

    def _read(self) -> None:
        while (piece := self._take()) is not None:
            expert, extent = piece
            error = None
            try:
                into = self._slots[expert].data[extent.at : extent.at + extent.stop - extent.start]
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
        if expert in self._errors:
            self._drop(expert)
        else:
            self._ready[expert] = True
            self._moved += self._experts[expert].nbytes
        self._begin_wanted()
