"""What moves over the link at once: a few matrices that are used one after another.

Plans only: no file is opened and no memory taken here.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from torch import Tensor

from engine.checkpoints import Span
from engine.quantization import Packed
from engine.streaming.disk import aligned

# Two spans of a file this close are read as one: the disk reads on faster than it seeks.
GAP_NBYTES = 64 << 10


@dataclass(frozen=True, slots=True, eq=False)
class Stored:
    """A matrix and where its bytes lie, one span for each of its parts. `expert`: which it belongs to, as
    (mixture, expert)."""

    matrix: Packed
    spans: tuple[Span, ...]
    expert: tuple[int, int] | None = None

    @property
    def nbytes(self) -> int:
        return sum(span.nbytes for span in self.spans)


@dataclass(frozen=True, slots=True)
class Extent:
    """Whole sectors start..stop of `file`, and `at`, where in a slot they go. `end` is the last byte needed:
    the file may end before `stop`."""

    file: Path
    start: int
    stop: int
    end: int
    at: int


@dataclass(frozen=True, slots=True, eq=False)
class Chunk:
    """Attributes: `stored`, its matrices in the order of use; `extents`, what to read; `places`, for each
    matrix and part (offset in the slot, bytes); `nbytes` of the slot it needs; `mixture`, of whose experts
    it holds one, or a part of one."""

    stored: tuple[Stored, ...]
    extents: tuple[Extent, ...]
    places: tuple[tuple[tuple[int, int], ...], ...]
    nbytes: int
    mixture: int | None

    def give(self, slot: Tensor) -> None:
        """Give the matrices their bytes, which lie in `slot` (uint8 [nbytes])."""
        for stored, places in zip(self.stored, self.places, strict=True):
            stored.matrix.parts = tuple(slot[at : at + nbytes] for at, nbytes in places)

    def take(self) -> None:
        """The matrices' bytes are gone."""
        for stored in self.stored:
            stored.matrix.parts = ()


def make_chunk(stored: Sequence[Stored]) -> Chunk:
    """One chunk of these matrices, all of one expert or of none: their spans, joined where they lie close
    together."""
    extents: list[Extent] = []
    at = 0
    runs = _runs(span for each in stored for span in each.spans)
    for file, start, stop in runs:
        first, last = aligned(start, stop)
        extents.append(Extent(file, first, last, stop, at))
        at += last - first

    def place(span: Span) -> tuple[int, int]:
        extent = next(e for e in extents if e.file == span.file and e.start <= span.offset < e.stop)
        return extent.at + span.offset - extent.start, span.nbytes

    places = tuple(tuple(place(span) for span in each.spans) for each in stored)
    mixture = stored[0].expert[0] if stored[0].expert else None
    return Chunk(tuple(stored), tuple(extents), places, at, mixture)


def _runs(spans: Iterable[Span]) -> list[tuple[Path, int, int]]:
    """(file, start, stop) of spans joined across small gaps."""
    runs: list[tuple[Path, int, int]] = []
    for span in sorted(spans, key=lambda span: (span.file, span.offset)):
        stop = span.offset + span.nbytes
        if runs and runs[-1][0] == span.file and span.offset - runs[-1][2] <= GAP_NBYTES:
            runs[-1] = (span.file, runs[-1][1], max(stop, runs[-1][2]))
        else:
            runs.append((span.file, span.offset, stop))
    return runs


def split(stored: Sequence[Stored], nbytes: int) -> list[Chunk]:
    """Chunks of about `nbytes`, in the order of use. A matrix larger than that is a chunk of its own; two
    experts share none."""
    chunks: list[Chunk] = []
    waiting: list[Stored] = []
    for each in stored:
        full = sum(other.nbytes for other in waiting) + each.nbytes > nbytes
        if waiting and (full or each.expert != waiting[0].expert):
            chunks.append(make_chunk(waiting))
            waiting = []
        waiting.append(each)
    if waiting:
        chunks.append(make_chunk(waiting))
    return chunks
