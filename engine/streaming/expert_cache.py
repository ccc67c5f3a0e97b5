"""A cache in memory of the experts of a model's mixtures. Reader threads fill it from the files: first with
the experts that a mixture has chosen, then with those that the next mixture is expected to choose."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from engine.streaming.chunks import Chunk, Extent
from engine.streaming.crew import SYSTEM, Crew
from engine.streaming.disk import Readable, memory
from engine.streaming.expert_policy import ExpertPolicy
from engine.streaming.ring import READERS, STOP_S, end_if_interrupted, pieces


@dataclass(frozen=True, slots=True)
class ExpertCounts:
    """Counts of a cache since its start.

    Attributes: `hits`, `misses`: experts that were, and were not, in the cache or on their way when their
    mixture chose them; `read`: bytes read; `predicted`: experts read before a mixture had chosen; `right`:
    how many of these it chose next.
    """

    hits: int = 0
    misses: int = 0
    read: int = 0
    predicted: int = 0
    right: int = 0

    def __sub__(self, before: "ExpertCounts") -> "ExpertCounts":
        """Return what was done since `before`."""
        return ExpertCounts(
            self.hits - before.hits,
            self.misses - before.misses,
            self.read - before.read,
            self.predicted - before.predicted,
            self.right - before.right,
        )


def done_since(before: ExpertCounts | None, now: ExpertCounts | None) -> ExpertCounts | None:
    """Return what was done between two readings; None where there is no cache."""
    return now - before if now and before else now


class ExpertCache:
    """Slots of one expert's bytes each. Its one user, the computing thread, announces the experts that a
    mixture has chosen, and fetches them one after another.

    An expert takes the slot of the one whose next use is expected last. The experts in use, being read, or
    wanted sooner keep theirs; so any number of experts passes through two slots.

    Attributes: `nbytes`: bytes of all slots; `waited_s`: seconds that `fetch` has waited since the start;
    `on_wait`: as that of `Streamer`.
    """

    def __init__(
        self, experts: Sequence[Chunk], slots: int, files: Mapping[Path, Readable], crew: Crew = SYSTEM
    ) -> None:
        """experts: one chunk for each expert, in the order of use. slots: their number, at least two. files:
        the open files of the chunks' extents. crew: the threads that read."""
        self._experts = experts
        self._files = files
        self._slot_nbytes = max(expert.nbytes for expert in experts)
        self._bytes = memory(slots * self._slot_nbytes)
        self._view = self._bytes.data
        self.nbytes = slots * self._slot_nbytes
        self.waited_s = 0.0
        self.on_wait: Callable[[bool], None] = lambda waits: None
        self._crew = crew
        self._changed = crew.condition()
        self._policy = ExpertPolicy([expert.mixture or 0 for expert in experts])
        self._free = list(range(slots))
        self._slots: dict[int, int] = {}  # of the experts in the cache, and of those being read
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
    def counts(self) -> ExpertCounts:
        with self._changed:
            return ExpertCounts(self._hits, self._misses, self._moved, self._predicted, self._right)

    def choose(self, wanted: Sequence[int]) -> None:
        """Announce the experts of one mixture that this pass fetches, in the order of use."""
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
            self._policy.choose(mixture, wanted)
            self._begin_wanted()
            self._changed.notify_all()

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
            start = self._slots[expert] * self._slot_nbytes
            return self._bytes[start : start + self._experts[expert].nbytes]

    def sweep(self) -> None:
        """Read each expert once, whether it is in the cache or not, to measure reading."""
        with self._changed:
            self._held, self._policy.wanted = None, []
            for expert in np.flatnonzero(self._ready).tolist():
                self._drop(expert)
        for expert in range(len(self._experts)):
            self.fetch(expert)

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
        """Begin to read one of the experts that the next mixture is expected to choose."""
        for expert in self._policy.guess():
            if expert not in self._slots and expert not in self._errors:
                if self._begin(expert, of_wanted=False):
                    self._guessed.add(expert)
                    self._predicted += 1
                return

    def _begin(self, expert: int, of_wanted: bool) -> bool:
        """Begin to read `expert` into a free slot, or into that of the expert whose next use is expected
        last, and later than that of `expert`; return False if there is none. of_wanted: whether that may be
        the slot of an expert that this pass still wants."""
        if not self._free:
            out = self._policy.out(self._ready, expert, of_wanted, self._held)
            if out is None:
                return False
            self._drop(out)
        self._slots[expert] = self._free.pop()
        queue = [(expert, piece) for extent in self._experts[expert].extents for piece in pieces(extent)]
        self._pieces += queue
        self._missing[expert] = len(queue)
        return True

    def _drop(self, expert: int) -> None:
        self._free.append(self._slots.pop(expert))
        self._ready[expert] = False

    # -- reader threads --------------------------------------------------------------------------------------

    def _read(self) -> None:
        while (piece := self._take()) is not None:
            expert, extent = piece
            start = self._slots[expert] * self._slot_nbytes + extent.at
            error = None
            try:
                into = self._view[start : start + extent.stop - extent.start]
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
