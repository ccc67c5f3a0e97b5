"""Places in a document to places in the source it was made of, and back. Knows no Qt.

What it cannot map: marks (**, #, |, the address of a link) are nowhere in the document; what is between two
blocks is nowhere in the source; a formula, an entity, and what stands for an image are mapped as a whole.
"""

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from app.rendering.pieces import Piece

_ALIKE = re.compile("[^\U00010000-\U0010ffff]+|[\U00010000-\U0010ffff]")


class Run(NamedTuple):
    """`length` units of the document from `position` on, and the characters [start, stop) that say them."""

    position: int
    length: int
    start: int
    stop: int

    @property
    def is_exact(self) -> bool:
        """Unit for character; else all of it for all of the source."""
        return self.length == self.stop - self.start


class SourceMap:
    """Positions are those of `QTextCursor`: UTF-16 units. Places in the source count characters.

    Attributes:
        runs: in order of both.
    """

    def __init__(self) -> None:
        self.runs: list[Run] = []

    def truncate(self, position: int) -> None:
        """Forget all runs that begin at or after `position`."""
        del self.runs[bisect_right(self.runs, position - 1, key=lambda run: run.position) :]

    def extend(self, runs: Iterable[Run]) -> None:
        """Add runs, which follow those that are there."""
        self.runs.extend(runs)

    def widen(self, position: int, length: int) -> None:
        """What stands at `position` is `length` units now, and what follows moves."""
        at = bisect_right(self.runs, position, key=lambda run: run.position) - 1
        grown = length - self.runs[at].length
        self.runs[at] = self.runs[at]._replace(length=length)
        for number in range(at + 1, len(self.runs)):
            run = self.runs[number]
            self.runs[number] = run._replace(position=run.position + grown)

    def source(self, position: int) -> tuple[int, int] | None:
        """The characters [start, stop) that say the unit after `position`; None where none do."""
        found = bisect_right(self.runs, position, key=lambda run: run.position) - 1
        if found < 0:
            return None
        run = self.runs[found]
        offset = position - run.position
        if offset >= run.length:
            return None
        return (run.start + offset, run.start + offset + 1) if run.is_exact else (run.start, run.stop)

    def spans(self, start: int, stop: int) -> list[tuple[int, int]]:
        """(position, length) of what the characters [start, stop) say, in order; neighbours are joined."""
        spans: list[tuple[int, int]] = []
        for run in self.runs[bisect_right(self.runs, start, key=lambda run: run.stop) :]:
            if run.start >= stop:
                break
            position, length = run.position, run.length
            if run.is_exact:
                begin = max(start, run.start)
                position += begin - run.start
                length = min(stop, run.stop) - begin
            if spans and sum(spans[-1]) == position:
                spans[-1] = (spans[-1][0], spans[-1][1] + length)
            else:
                spans.append((position, length))
        return spans


def units(text: str) -> int:
    """UTF-16 units, as Qt counts."""
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


def runs(pieces: Iterable[Piece], position: int) -> Iterator[Run]:
    """Runs of `pieces` written from `position` on."""
    for text, _, start, stop in pieces:
        if len(text) != stop - start:
            length = units(text)
            if start < stop:
                yield Run(position, length, start, stop)
            position += length
            continue
        for found in _ALIKE.finditer(text):
            length = units(found[0])
            yield Run(position, length, start + found.start(), start + found.end())
            position += length
