"""The RAM tier of a device with memory of its own: chunks that are read once, into memory that is pinned as
far as the system allows."""

import logging
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from engine.formats import check_valid
from engine.machine.disk_reads import READERS
from engine.streaming.chunks import Chunk, Extent
from engine.streaming.device_ring import DeviceLink
from engine.streaming.disk import Readable, memory

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
) -> list[InRam]:
    """Read chunks into RAM. allocate: as `pinning` returns it. progress: called with (bytes read, bytes in
    all); it may raise to abort.

    Raises BadCheckpoint if weights are invalid; StreamBroken if they cannot be read.
    """
    filled: list[InRam] = []
    total = sum(chunk.nbytes for chunk in chunks)
    done = 0
    with ThreadPoolExecutor(READERS, thread_name_prefix="fill") as pool:
        for chunk in chunks:
            progress(done, total)
            room = allocate(chunk.nbytes)
            read(chunk, files, room.slab, pool)
            for stored, parts in zip(chunk.stored, chunk.parts(room.slab), strict=True):
                where = f"{stored.spans[0].file.name}, from byte {stored.spans[0].offset:,} on,"
                check_valid(stored.matrix.format.name, parts, where)
            filled.append(room)
            done += chunk.nbytes
    return filled


def read(
    chunk: Chunk, files: Mapping[Path, Readable], into: NDArray[np.uint8], pool: Executor
) -> NDArray[np.uint8]:
    """Read a chunk to the beginning of `into`, with the threads of `pool`; return its bytes there."""

    def read_one(extent: Extent) -> None:
        place = into.data[extent.at : extent.at + extent.stop - extent.start]
        files[extent.file].read(place, extent.start, extent.end - extent.start)

    for reading in [pool.submit(read_one, extent) for extent in chunk.extents]:
        reading.result()
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
