"""The map between positions in a document and indices in its Markdown source. Imports no Qt.

Markup (**, #, |, the address of a link) has no position in the document, and the space between two blocks has
no source. A formula, an entity and the text shown in place of an image are mapped as a whole.
"""

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from app.rendering.pieces import Piece

_ALIKE = re.compile("[^\U00010000-\U0010ffff]+|[\U00010000-\U0010ffff]")


class SourceRun(NamedTuple):
    """`length` units of the document from `position` on, and the characters [start, stop) of their source."""

    position: int
    length: int
    start: int
    stop: int

    @property
    def is_exact(self) -> bool:
        """Whether each unit corresponds to one character; if not, the run is mapped as a whole."""
        return self.length == self.stop - self.start


class SourceMap:
    """Maps positions in a document to indices in its source, and back.

    Positions count UTF-16 units, as in `QTextCursor`; indices in the source count characters.

    Attributes:
        runs: the runs; they have the same order in the document and in the source.
    """

    def __init__(self) -> None:
        self.runs: list[SourceRun] = []

    def truncate(self, position: int) -> None:
        """Remove all runs that begin at or after `position`."""
        del self.runs[bisect_right(self.runs, position - 1, key=lambda run: run.position) :]

    def extend(self, runs: Iterable[SourceRun]) -> None:
        """Add runs that follow the existing ones."""
        self.runs.extend(runs)

    def widen(self, position: int, length: int) -> None:
        """Set the length of the run at `position` and move the runs after it."""
        at = bisect_right(self.runs, position, key=lambda run: run.position) - 1
        grown = length - self.runs[at].length
        self.runs[at] = self.runs[at]._replace(length=length)
        for number in range(at + 1, len(self.runs)):
            run = self.runs[number]
            self.runs[number] = run._replace(position=run.position + grown)

    def source(self, position: int) -> tuple[int, int] | None:
        """Return the source [start, stop) of the unit after `position`, or None if it has no source."""
        found = bisect_right(self.runs, position, key=lambda run: run.position) - 1
        if found < 0:
            return None
        run = self.runs[found]
        offset = position - run.position
        if offset >= run.length:
            return None
        return (run.start + offset, run.start + offset + 1) if run.is_exact else (run.start, run.stop)

    def spans(self, start: int, stop: int) -> list[tuple[int, int]]:
        """Return the spans of the document that were made from the source [start, stop).

        A span is (position, length). The spans are in order; adjacent ones are joined.
        """
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
    """Return the number of UTF-16 units, which Qt counts."""
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


def runs(pieces: Iterable[Piece], position: int) -> Iterator[SourceRun]:
    """Yield the runs of `pieces`, which were written to the document from `position` on."""
    for text, _, start, stop in pieces:
        if len(text) != stop - start:
            length = units(text)
            if start < stop:
                yield SourceRun(position, length, start, stop)
            position += length
            continue
        for found in _ALIKE.finditer(text):
            length = units(found[0])
            yield SourceRun(position, length, start + found.start(), start + found.end())
            position += length
