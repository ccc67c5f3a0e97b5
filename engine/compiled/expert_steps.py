"""The steps of a mixture whose experts come and go: they run for those that are in memory by then."""

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Protocol

from engine.compiled import router
from engine.compiled.pool import ComputePool
from engine.compiled.table import Ints, address
from engine.streaming.disk_watch import end_if_interrupted

ASKED_ROWS = 128  # no router is asked early by more rows: they use most experts


class ExpertSource(Protocol):
    """Brings the experts of one mixture that are not in memory."""

    def choosing(self) -> AbstractContextManager[object]:
        """Return what is held from `choose` until `asks` was called for all later mixtures: meanwhile nothing
        is read that no mixture has chosen."""

    def asks(self, ahead: int) -> bool:
        """Return whether it is of use to learn early, when the mixture so many turns before this one has
        chosen, what the router of this one would choose: then `expect` is called."""

    def choose(self, wanted: Sequence[int], rows: Sequence[Sequence[int]]) -> None:
        """Announce the experts that this pass fetches, in the order of use. rows: those of each row of the
        pass; empty if they teach nothing."""

    def expect(self, rows: Sequence[Sequence[int]]) -> None:
        """Tell which experts the router would choose by now for each row, the likeliest first."""

    def fetch(self) -> Sequence[int]:
        """Wait until some of the announced experts are in memory, put their matrices in place until the next
        fetch, and return them; none if all have been. Raises StreamBroken if they cannot be read, and
        Interrupted if the pass is interrupted meanwhile."""


@dataclass(frozen=True, slots=True)
class EarlySteps:
    """The steps first..last of a table that ask the router of a later mixture. ahead: how many turns later;
    source: brings the experts of that one; chosen: int64 [rows, k], those that it would choose for each row
    by now; pool: runs them."""

    first: int
    last: int
    ahead: int
    source: ExpertSource
    chosen: Ints
    pool: ComputePool


@dataclass(frozen=True, slots=True)
class ExpertSteps:
    """The steps first..last of a table that multiply by a mixture's experts. They run for some of the used
    experts at a time, as they arrive. counters: of their products; routing, used, chosen: see `router`.
    early: steps right before them, those of the next mixture first."""

    first: int
    last: int
    source: ExpertSource
    counters: Ints
    routing: Ints
    used: Ints
    chosen: Ints
    early: Sequence[EarlySteps] = ()

    @property
    def start(self) -> int:
        """The first step that does not always run."""
        return self.early[0].first if self.early else self.first

    def run(self, pool: ComputePool, table: Ints, rows: int, is_whole: bool) -> None:
        """Run the steps of the experts that so many rows have chosen: those in memory first, side by side.
        Before, while the others are read, ask the routers of the next mixtures. is_whole: whether these are
        all rows of a pass, and no prompt, which says little of the next pass."""
        end_if_interrupted()  # the choice may be incomplete
        used = self.used[: self.routing[router.LAST]].tolist()
        later = self.early if is_whole and rows <= ASKED_ROWS else ()
        with self.source.choosing():
            self.source.choose(used, self.chosen[:rows].tolist() if is_whole else ())
            asked = [early for early in later if early.source.asks(early.ahead)]
        for early in asked:
            early.pool.run(address(table), early.first, early.last)
            end_if_interrupted()  # as above
            early.source.expect(early.chosen[:rows].tolist())
        while here := self.source.fetch():
            for start, stop in runs(bisect_left(used, expert) for expert in here):
                self.routing[router.FIRST], self.routing[router.LAST] = start, stop
                self.counters[:] = 0
                pool.run(address(table), self.first, self.last)


def runs(numbers: Iterable[int]) -> list[tuple[int, int]]:
    """Return the ranges (first, last + 1) of neighbours among `numbers`."""
    found: list[tuple[int, int]] = []
    for number in sorted(numbers):
        if found and found[-1][1] == number:
            found[-1] = found[-1][0], number + 1
        else:
            found.append((number, number + 1))
    return found
