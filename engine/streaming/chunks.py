"""Chunks, the units in which weights are moved: each holds a few matrices that are used one after another.

This module only plans: it opens no file and allocates no memory.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path
from typing import Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from engine.checkpoints import Span
from engine.streaming.disk import aligned
from engine.streaming.mover import Bytes, Movable

# Spans of a file at most this many bytes apart are read as one: reading the gap is faster than a seek.
GAP_NBYTES = 64 << 10
# Where parts begin on a device, if the file allows it: Triton's kernels are fastest there, and parts whose
# numbers lie at no multiple of their size would have to be copied for each product.
ALIGNMENT = 16

M = TypeVar("M", bound=Movable, covariant=True)


@dataclass(frozen=True, slots=True)
class CachedForm:
    """Another form of a matrix, which is packed from its parts once they are in memory.

    Attributes: `nbytes`: bytes of that form; `pack`: a function of the parts, one array for each span, and
    memory for that form, uint8 [nbytes], which it fills; `place`: int64, whose first number tells products
    the address of that memory; 0 while they must not read it.
    """

    nbytes: int
    pack: Callable[[Sequence[NDArray[np.uint8]], NDArray[np.uint8]], None]
    place: NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class StoredMatrix(Generic[M]):
    """A matrix and the location of its bytes.

    Attributes: `spans`: one for each part of the matrix; `expert`: the expert that the matrix belongs to, as
    (number of the mixture, number of the expert); None if it belongs to no expert; `expansion`: bytes that it
    takes beyond the stored ones where it stays in memory; `form`: the one in which an expert is kept in
    a cache; None if that is as stored.
    """

    matrix: M
    spans: tuple[Span, ...]
    expert: tuple[int, int] | None = None
    expansion: int = 0
    form: CachedForm | None = None

    @property
    def nbytes(self) -> int:
        return sum(span.nbytes for span in self.spans)


@dataclass(frozen=True, slots=True)
class Extent:
    """A range of whole sectors that is read from `file` into a slot.

    Attributes: `start`, `stop`: the range in the file, in bytes; `end`: where the needed bytes end (the file
    may end before `stop`); `at`: the offset of the range in the slot.
    """

    file: Path
    start: int
    stop: int
    end: int
    at: int


@dataclass(frozen=True, slots=True, eq=False)
class Chunk:
    """Matrices that are moved together.

    Attributes: `stored`: the matrices in the order of use; `extents`: the parts of files to read; `places`:
    for each part of each matrix, its offset in the slot and its bytes; `nbytes`: the bytes that the chunk
    takes in a slot as stored; `mixture`: the number of the mixture that the chunk's expert belongs to; None
    if its matrices belong to no expert; `packed`: where each matrix begins and ends in a slot in the form
    that a cache of experts keeps; empty if that is as stored.
    """

    stored: tuple[StoredMatrix[Movable], ...]
    extents: tuple[Extent, ...]
    places: tuple[tuple[tuple[int, int], ...], ...]
    nbytes: int
    mixture: int | None
    packed: tuple[tuple[int, int], ...] = ()

    @property
    def kept_nbytes(self) -> int:
        """The bytes that the chunk takes where it stays in memory."""
        return self.nbytes + sum(each.expansion for each in self.stored)

    @property
    def slot_nbytes(self) -> int:
        """The bytes that the chunk takes in a slot, in either form."""
        return max(self.nbytes, self.packed[-1][1]) if self.packed else self.nbytes

    def pack(self, slot: NDArray[np.uint8], into: NDArray[np.uint8]) -> None:
        """Make the other form of the matrices in `slot` (uint8 [slot_nbytes]), and leave it in `into`."""
        of_matrices = zip(self.stored, self.parts(slot), self.packed, strict=True)
        for stored, parts, (start, end) in of_matrices:
            assert stored.form is not None
            stored.form.pack(parts, into[start:end])

    def give_packed(self, slot: NDArray[np.uint8]) -> None:
        """Tell the products of the matrices where the bytes are that `pack` made. All experts of each pass
        come this way, so no arrays are made."""
        address = slot.__array_interface__["data"][0]
        for stored, (start, _) in zip(self.stored, self.packed, strict=True):
            assert stored.form is not None
            stored.form.place[0] = address + start

    @property
    def lead(self) -> int:
        """Bytes at the beginning that a device does not get, so that the first part begins there at a
        multiple of ALIGNMENT. Files seldom align tensors so, but they do to each other, or to the size of
        their numbers."""
        return min(at for places in self.places for at, _ in places) % ALIGNMENT

    @property
    def device_places(self) -> list[tuple[tuple[int, int], ...]]:
        """`places` in a slot of a device."""
        lead = self.lead
        return [tuple((at - lead, nbytes) for at, nbytes in places) for places in self.places]

    def parts(self, slot: Bytes) -> list[tuple[Bytes, ...]]:
        """Return the bytes of each matrix in `slot` (uint8 [nbytes]), one array for each of its spans."""
        return [tuple(slot[at : at + nbytes] for at, nbytes in places) for places in self.places]

    def give(self, slot: Bytes) -> None:
        """Give the matrices their bytes in `slot` (uint8 [nbytes])."""
        for stored, parts in zip(self.stored, self.parts(slot), strict=True):
            stored.matrix.give(parts)

    def give_on_device(self, slot: Bytes) -> None:
        """Give the matrices their bytes in a slot of a device, to which all but `lead` bytes were copied."""
        for stored, places in zip(self.stored, self.device_places, strict=True):
            stored.matrix.give([slot[at : at + nbytes] for at, nbytes in places])

    def take(self) -> None:
        """Leave the matrices without bytes, so that they no longer refer to the slot."""
        for stored in self.stored:
            if self.packed:
                assert stored.form is not None
                stored.form.place[0] = 0
            else:
                stored.matrix.give(())


def make_chunk(stored: Sequence[StoredMatrix[Movable]]) -> Chunk:
    """Return one chunk of these matrices, which all belong to the same expert or all to none. Spans that lie
    close together in a file are read as one."""
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
    forms = [each.form for each in stored if each.form]
    ends = list(accumulate(form.nbytes for form in forms)) if len(forms) == len(stored) else []
    packed = tuple(zip([0, *ends], ends, strict=False))
    return Chunk(tuple(stored), tuple(extents), places, at, mixture, packed)


def by_expert(
    stored: Sequence[StoredMatrix[Movable]],
) -> tuple[list[StoredMatrix[Movable]], list[Chunk]]:
    """Return the matrices that belong to no expert, and one chunk for each expert, in the order of use."""
    experts: dict[tuple[int, int], list[StoredMatrix[Movable]]] = {}
    for each in stored:
        if each.expert is not None:
            experts.setdefault(each.expert, []).append(each)
    return [each for each in stored if each.expert is None], [make_chunk(each) for each in experts.values()]


def _runs(spans: Iterable[Span]) -> list[tuple[Path, int, int]]:
    """Join spans of a file across small gaps, and return the resulting ranges as (file, start, stop)."""
    runs: list[tuple[Path, int, int]] = []
    for span in sorted(spans, key=lambda span: (span.file, span.offset)):
        stop = span.offset + span.nbytes
        if runs and runs[-1][0] == span.file and span.offset - runs[-1][2] <= GAP_NBYTES:
            runs[-1] = (span.file, runs[-1][1], max(stop, runs[-1][2]))
        else:
            runs.append((span.file, span.offset, stop))
    return runs


def split(stored: Sequence[StoredMatrix[Movable]], nbytes: int) -> list[Chunk]:
    """Divide the matrices into chunks of at most about `nbytes` each, in the order of use. A matrix larger
    than that is a chunk of its own; matrices of different experts never share a chunk."""
    chunks: list[Chunk] = []
    waiting: list[StoredMatrix[Movable]] = []
    for each in stored:
        full = sum(other.nbytes for other in waiting) + each.nbytes > nbytes
        if waiting and (full or each.expert != waiting[0].expert):
            chunks.append(make_chunk(waiting))
            waiting = []
        waiting.append(each)
    if waiting:
        chunks.append(make_chunk(waiting))
    return chunks
