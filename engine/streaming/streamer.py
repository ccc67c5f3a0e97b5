"""A model's matrices between the tiers: some stay on the compute device, the others come in each pass."""

import logging
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from torch import Tensor

from engine.quantization import Packed, check_sound
from engine.streaming.chunks import Chunk, Extent, Stored, split
from engine.streaming.device_ring import DeviceRing
from engine.streaming.disk import DiskFile, MemoryFile, buffer, memory
from engine.streaming.link import Link
from engine.streaming.placement import place, slot_nbytes
from engine.streaming.ring import READERS, Ring

_log = logging.getLogger(__name__)

# Where a mixture has used this share of its experts, the next one's are read before it has chosen. At random
# choice of 2 of 8, a pass of 6 rows uses 82 %.
_MOST = 0.8


@dataclass(frozen=True, slots=True)
class Limits:
    """Bytes that a model's matrices may take. `device`: on the compute device, with the ring; `ram`: in RAM
    where that is not the compute device's memory, with the staging ring; None: as much as it takes."""

    device: int
    ram: int | None = None


class Streamer:
    """`quantization.Mover`. Attributes as there, and `resident`, the matrices that stay on the device, whose
    bytes whoever builds the model reads."""

    def __init__(
        self, stored: Sequence[Stored], limits: Limits, files: dict[Path, DiskFile], link: Link | None
    ) -> None:
        """stored: the matrices in the order of use. files: those the matrices lie in, open; closed with the
        streamer. link: to a device with memory of its own; None: computing happens in RAM.

        Raises BadOption where a limit is too small.
        """
        self._files: dict[Path, DiskFile | MemoryFile] = {**files}
        chunks = split(stored, slot_nbytes(limits.device))
        sizes = [chunk.nbytes for chunk in chunks]
        ram_limit = None if link is None else sum(sizes) if limits.ram is None else limits.ram
        placement = place(sizes, limits.device, ram_limit)
        tiers = list(zip(chunks, placement.tiers, strict=True))
        self.resident = [each for chunk, tier in tiers if tier == "device" for each in chunk.stored]
        self._chunks = [chunk for chunk, tier in tiers if tier != "device"]
        self._number = {id(each.matrix): i for i, chunk in enumerate(self._chunks) for each in chunk.stored}
        self._in_ram = [tier == "ram" for _, tier in tiers if tier != "device"]
        self._held: int | None = None
        self.look: Callable[[], None] = lambda: None
        for chunk in self._chunks:
            for each in chunk.stored:
                each.matrix.mover = self
        self._placement = placement
        self._link = link
        self._ring: Ring | DeviceRing | None = None

    def start(self, watch: Callable[[int, int], None]) -> None:
        """Fill the RAM tier and begin to stream. watch: told bytes read of bytes in all, and may end it by
        raising.

        Raises BadCheckpoint for what is not sound, StreamBroken.
        """
        if not self._chunks:
            return
        if self._link is None:
            self._ring = Ring(self._chunks, self._placement.slots, self._files, memory)
            return
        sizes = [chunk.nbytes for chunk in self._chunks]
        slots = max(self._placement.staging, 2)
        # First, because what is left to be pinned may not be enough for all slabs.
        room = self._link.slab(slots * max(sizes))
        slabs = self._fill(self._link, watch)
        staged = [chunk for number, chunk in enumerate(self._chunks) if number not in slabs]
        staging = Ring(staged, slots, self._files, lambda nbytes: room[:nbytes]) if staged else None
        self._ring = DeviceRing(self._chunks, self._placement.slots, self._link, slabs, staging)

    @property
    def pass_nbytes(self) -> int:
        """Bytes that come in a pass that uses every expert."""
        return sum(chunk.nbytes for chunk in self._chunks)

    @property
    def tiers(self) -> dict[Literal["ram", "ssd"], int]:
        """The same, by where they come from."""
        ram = sum(chunk.nbytes for chunk, here in zip(self._chunks, self._in_ram, strict=True) if here)
        return {"ram": ram, "ssd": self.pass_nbytes - ram}

    @property
    def nbytes(self) -> int:
        return self._ring.nbytes if self._ring else 0

    @property
    def moved(self) -> int:
        return self._ring.moved if self._ring else 0

    @property
    def waited_s(self) -> float:
        return self._ring.waited_s if self._ring else 0.0

    def fetch(self, matrix: Packed) -> None:
        """Raises StreamBroken; then the next fetch begins anew."""
        assert self._ring is not None
        number = self._number[id(matrix)]
        if number == self._held:
            return
        self.look()
        if self._held is not None:
            self._chunks[self._held].take()
            self._held = None
        self._chunks[number].give(self._ring.fetch(number))
        self._held = number

    def choose(self, experts: Sequence[Packed], chosen: Sequence[Packed]) -> None:
        streamed = [self._number[id(matrix)] for matrix in experts if matrix.mover]
        if not streamed:
            return
        mixture = self._chunks[streamed[0]].mixture
        assert self._ring is not None
        assert mixture is not None
        wanted = {self._number[id(matrix)] for matrix in chosen if matrix.mover}
        self._ring.choose(mixture, wanted, len(chosen) >= _MOST * len(experts))

    def sweep(self) -> None:
        """Bring every chunk once and compute nothing: what the link can do."""
        assert self._ring is not None
        self._held = None
        mixture = next((chunk.mixture for chunk in self._chunks if chunk.mixture is not None), None)
        if mixture is not None:
            self._ring.choose(mixture, range(len(self._chunks)), most=True)
        for number in range(len(self._chunks)):
            self._ring.fetch(number)

    def close(self) -> None:
        if self._ring:
            self._ring.close()
        for chunk in self._chunks:
            chunk.take()
        for file in self._files.values():
            file.close()

    def _fill(self, link: Link, watch: Callable[[int, int], None]) -> dict[int, Tensor]:
        """Chunks of the RAM tier by number, as the device copies them. Where the system gives no more such
        memory, the rest is kept in plain memory and staged."""
        slabs: dict[int, Tensor] = {}
        total = sum(chunk.nbytes for chunk, here in zip(self._chunks, self._in_ram, strict=True) if here)
        done = 0
        pinned = True
        with ThreadPoolExecutor(READERS, thread_name_prefix="fill") as pool:
            for number, chunk in enumerate(self._chunks):
                if not self._in_ram[number]:
                    continue
                watch(done, total)
                try:
                    slab = link.slab(chunk.nbytes) if pinned else memory(chunk.nbytes)
                except RuntimeError as error:
                    _log.warning("No more memory can be pinned after %.1f GiB: %s", done / 2**30, error)
                    pinned, slab = False, memory(chunk.nbytes)
                for reading in [pool.submit(self._read, extent, slab) for extent in chunk.extents]:
                    reading.result()
                chunk.give(slab)
                for stored in chunk.stored:
                    where = f"{stored.spans[0].file.name}, from byte {stored.spans[0].offset:,} on,"
                    check_sound(stored.matrix.format.name, stored.matrix.parts, where)
                chunk.take()
                if pinned:
                    slabs[number] = slab
                else:
                    self._chunks[number] = self._from_memory(chunk, slab)
                done += chunk.nbytes
        return slabs

    def _read(self, extent: Extent, slab: Tensor) -> None:
        into = buffer(slab)[extent.at : extent.at + extent.stop - extent.start]
        self._files[extent.file].read(into, extent.start, extent.end - extent.start)

    def _from_memory(self, chunk: Chunk, slab: Tensor) -> Chunk:
        """`chunk`, to be read from `slab` instead of its file."""
        place = Path(f"memory {len(self._files)}")
        self._files[place] = MemoryFile(slab)
        return replace(chunk, extents=(Extent(place, 0, chunk.nbytes, chunk.nbytes, 0),))
