"""The RAM tier of a device with memory of its own: chunks that are read once, into memory that is pinned as
far as the system allows."""

import logging
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from engine import reads
from engine.formats import check_valid
from engine.machine.disk_reads import READERS
from engine.streaming.chunks import Chunk, Extent
from engine.streaming.device_ring import DeviceLink
from engine.streaming.disk import Readable, memory
from engine.streaming.disk_watch import DiskWatch
from engine.streaming.readers import Readers
from engine.streaming.ring import pieces

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class InRam:
    """The bytes of a chunk in RAM, uint8 [nbytes]. Attributes: `slab`; `pinned`, whether the device can copy
    from it while the host goes on."""

    slab: NDArray[np.uint8]
    pinned: bool


def fill(
    chunks: Sequence[Chunk],
    files: Mapping[Path, Readable],
    allocate: Callable[[int], InRam],
    progress: Callable[[int, int], None],
    watch: DiskWatch,
) -> list[InRam]:
    """Read chunks into RAM. allocate: as `pinning` returns it. progress: called with (bytes read, bytes in
    all); it may raise to abort. watch: that of the disk.

    Raises BadCheckpoint if weights are invalid; StreamBroken if they cannot be read; the errors of
    `DiskWatch.wait`.
    """
    filled: list[InRam] = []
    total = sum(chunk.nbytes for chunk in chunks)
    done = 0
    with closing(Readers(watch, READERS, "fill")) as readers:
        for chunk in chunks:
            progress(done, total)
            room = allocate(chunk.nbytes)
            read(chunk, files, room.slab, readers)
            for stored, parts in zip(chunk.stored, chunk.parts(room.slab), strict=True):
                where = f"{stored.spans[0].file.name}, from byte {stored.spans[0].offset:,} on,"
                check_valid(stored.matrix.format.name, parts, where)
            filled.append(room)
            done += chunk.nbytes
    return filled


def read(
    chunk: Chunk, files: Mapping[Path, Readable], into: NDArray[np.uint8], readers: Readers
) -> NDArray[np.uint8]:
    """Read a chunk to the beginning of `into`, with the threads of `readers`; return its bytes there."""

    def read_one(piece: Extent) -> None:
        place = into.data[piece.at : piece.at + piece.stop - piece.start]
        with reads.noted():
            files[piece.file].read(place, piece.start, piece.end - piece.start)

    every = [piece for extent in chunk.extents for piece in pieces(extent)]
    for wait in [readers.begin(partial(read_one, piece)) for piece in every]:
        wait()
    return into[: chunk.nbytes]


def pinning(link: DeviceLink) -> Callable[[int], InRam]:
    """Return a function that returns memory of a given number of bytes, pinned until the system refuses to
    pin more."""
    pins = True

    def allocate(nbytes: int) -> InRam:
        nonlocal pins
        if pins:
            try:
                return InRam(link.slab(nbytes), True)
            except RuntimeError as error:
                _log.warning(
                    "%.2f GiB cannot be pinned, so copies to the card are slower: %s", nbytes / 2**30, error
                )
                pins = False
        return InRam(memory(nbytes), False)

    return allocate
