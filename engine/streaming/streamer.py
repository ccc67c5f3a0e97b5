"""Stream a model's matrices: some stay on the compute device, the others are moved there in each pass."""

from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, closing, nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from engine.machine.disk_reads import READERS
from engine.routing import RoutingFile
from engine.streaming.chunk_placement import WeightLimits, placed_chunks
from engine.streaming.chunks import Chunk, Extent, StoredMatrix
from engine.streaming.crew import SYSTEM, Crew
from engine.streaming.device_experts import DeviceExperts
from engine.streaming.device_ring import DeviceLink, DeviceRing
from engine.streaming.disk import MemoryFile, Readable, memory
from engine.streaming.expert_cache import ExpertCache
from engine.streaming.expert_counts import ExpertCounts
from engine.streaming.expert_policy import ExpertPolicy
from engine.streaming.mover import Movable
from engine.streaming.ram_tier import fill, pinning, read
from engine.streaming.readers import Readers, watch_of
from engine.streaming.ring import Ring
from engine.streaming.staged_link import StagedLink
from engine.streaming.table import DiskTable

Tier = Literal["ram", "ssd"]  # of what is not on the compute device


class Streamer:
    """A `Mover` that streams chunks through a ring. The experts of mixtures come through a cache instead,
    unless everything stays in memory.

    Attributes: those of `Mover`, and `resident`: the matrices that stay on the device; their bytes are read
    by the builder of the model; `on_wait`: called with True when a fetch on the CPU begins to wait for bytes,
    and with False when they are there; `watch`: of the disk with the files.
    """

    def __init__(
        self,
        stored: Sequence[StoredMatrix[Movable]],
        limits: WeightLimits,
        files: Mapping[Path, Readable],
        link: DeviceLink | None,
        crew: Crew = SYSTEM,
        tables: Sequence[DiskTable] = (),
    ) -> None:
        """stored: the matrices in the order of use. files: the open files of the matrices, which are closed
        with the streamer. link: the link to a device with memory of its own; None if the CPU computes. crew:
        the threads that stream. tables: those of the same files, whose rows are then read by such a thread.

        Raises BadOption if a limit is too small.
        """
        self._files: dict[Path, Readable] = {**files}
        file = stored[0].spans[0].file
        self._model = file if file.suffix.lower() == ".gguf" else file.parent
        self.watch = watch_of(file, crew)
        self._rows = Readers(self.watch, name="rows", crew=crew)
        for table in tables:
            table.reader = self._rows
        placed = placed_chunks(stored, limits, link is not None)
        self._experts, self._cached, self._ram_slots = placed.experts, placed.cached, placed.ram_slots
        self._placement = placed.placement
        tiers = list(zip(placed.chunks, placed.placement.tiers, strict=True))
        self.resident = [each for chunk, tier in tiers if tier == "device" for each in chunk.stored]
        self._chunks = [chunk for chunk, tier in tiers if tier != "device"]
        self._places = {  # by matrix: the number of its chunk, among the others or among the experts
            id(each.matrix): (number, chunk)
            for chunks in (self._chunks, self._experts)
            for number, chunk in enumerate(chunks)
            for each in chunk.stored
        }
        self._in_ram = [tier == "ram" for _, tier in tiers if tier != "device"]
        self._slabs: dict[int, NDArray[np.uint8]] = {}
        self._lent: frozenset[int] = frozenset()
        # The chunks in place: experts (True), and another one (False).
        self._held: dict[bool, list[Chunk]] = {True: [], False: []}
        self.on_chunk: Callable[[], None] = lambda: None
        self.on_wait: Callable[[bool], None] = lambda waits: None
        for chunk in (*self._chunks, *self._experts):
            for each in chunk.stored:
                each.matrix.mover = self
        self._link = link
        self._crew = crew
        self._staged: StagedLink | None = None
        self._ring: Ring | DeviceRing | None = None
        self._cache: ExpertCache | DeviceExperts | None = None
        self._routing: RoutingFile | None = None  # of the experts

    def start(self, progress: Callable[[int, int], None]) -> None:
        """Fill the RAM tier and start streaming. progress: called with (bytes read, bytes in all); it may
        raise to abort.

        Raises BadCheckpoint if weights are invalid; StreamBroken if they cannot be read.
        """
        if self._link is not None:
            self._start_on_device(self._link, progress)
            return
        if self._experts:
            policy = self._policy()
            experts, common = self._experts, policy.common()
            cache = ExpertCache(experts, self._cached, self._files, policy, self.watch, common, self._crew)
            cache.on_wait = lambda waits: self.on_wait(waits)
            self._cache = cache
        if self._chunks:
            slots = self._placement.slots
            ring = Ring(self._chunks, slots, self._files, memory, self.watch, crew=self._crew)
            ring.on_wait = lambda waits: self.on_wait(waits)
            self._ring = ring

    def _start_on_device(self, link: DeviceLink, progress: Callable[[int, int], None]) -> None:
        slots = max(self._placement.staging, 2)
        # Allocated before the slabs, which may use up all the memory that the system can pin.
        allocate = pinning(link)
        into = allocate(slots * max((chunk.nbytes for chunk in self._chunks), default=0)).slab
        if self._experts:
            largest = max(expert.nbytes for expert in self._experts)
            self._staged = StagedLink(link, allocate, largest, self._crew)
            allocate = self._staged.room
        here = [number for number, is_here in enumerate(self._in_ram) if is_here]
        experts = [] if self._ram_slots else self._experts
        wanted = [*(self._chunks[number] for number in here), *experts]
        filled = fill(wanted, self._files, allocate, progress, self.watch)
        for number, each in zip(here, filled, strict=False):
            if each.pinned:
                self._slabs[number] = each.slab
            else:  # from which it passes through the staging ring
                self._chunks[number] = self._from_memory(self._chunks[number], each.slab)
        if self._chunks:
            staged = [chunk for number, chunk in enumerate(self._chunks) if number not in self._slabs]
            staging = None
            if staged:
                of_ring = slots, self._files, lambda nbytes: into[:nbytes], self.watch
                staging = Ring(staged, *of_ring, staging=True, crew=self._crew)
            slots = self._placement.slots
            self._ring = DeviceRing(self._chunks, slots, link, self._slabs, staging, self.watch, self._crew)
        if self._staged:
            slabs = [each.slab for each in filled[len(here) :]]
            self._start_experts(self._staged, slabs, progress)

    def _start_experts(
        self, link: StagedLink, slabs: list[NDArray[np.uint8]], progress: Callable[[int, int], None]
    ) -> None:
        """Start the cache of experts in a device's memory. slabs: those of all experts if they are in RAM."""
        experts, files = self._experts, self._files
        policy = self._policy()
        common = policy.common()
        first, others = common[: self._cached], common[self._cached :]
        ram = None
        if not slabs:
            slots = self._ram_slots
            ram = ExpertCache(experts, slots, files, policy, self.watch, others, self._crew, link)
        self._cache = cache = DeviceExperts(experts, self._cached, policy, link, slabs, ram, self._crew)
        if slabs:
            cache.fill(first, slabs.__getitem__, progress)
            return
        into = link.slab(max(expert.nbytes for expert in experts))
        with closing(Readers(self.watch, READERS, "fill")) as readers:
            cache.fill(first, lambda expert: read(experts[expert], files, into, readers), progress)

    def _policy(self) -> ExpertPolicy:
        """Return a policy that knows what earlier answers have taught."""
        mixtures = [expert.mixture or 0 for expert in self._experts]
        self._routing = RoutingFile(self._model)
        return ExpertPolicy(mixtures, self._routing.read())

    @property
    def lendable(self) -> dict[int, list[tuple[Movable, tuple[NDArray[np.uint8], ...]]]]:
        """The chunks that lie in pinned RAM, without experts, by number: each matrix and its bytes."""
        chunks = {number: self._chunks[number] for number in self._slabs}
        return {
            number: [
                (each.matrix, parts)
                for each, parts in zip(chunk.stored, chunk.parts(self._slabs[number]), strict=True)
            ]
            for number, chunk in chunks.items()
        }

    def lend(self, chunks: Collection[int]) -> None:
        """Move these chunks, which are among the `lendable` ones, in no pass until the next call: the
        processor multiplies by them where they lie."""
        if self._lent == (lent := frozenset(chunks)):
            return
        assert isinstance(self._ring, DeviceRing)
        self._lent = lent
        self._ring.leave_out(lent)

    @property
    def near_experts(self) -> DeviceExperts | None:
        """The cache of a device, which gets the experts that it lacks from RAM, where the processor can
        multiply by them; None if there is none."""
        return self._cache if isinstance(self._cache, DeviceExperts) else None

    @property
    def expert_places(self) -> dict[int, tuple[int, tuple[int, ...]]]:
        """For each matrix of an expert, by its id, the number of the expert, and where each part of the
        matrix begins in the expert's bytes."""
        return {
            id(each.matrix): (number, tuple(at for at, _ in places))
            for number, chunk in enumerate(self._experts)
            for each, places in zip(chunk.stored, chunk.places, strict=True)
        }

    @property
    def part_places(self) -> dict[int, tuple[tuple[int, int], ...]]:
        """For each matrix that is streamed to a device, by its id: of each part, where it begins in its slot,
        and its bytes."""
        return {
            id(each.matrix): places
            for chunk in (*self._chunks, *self._experts)
            for each, places in zip(chunk.stored, chunk.device_places, strict=True)
        }

    @property
    def lent_nbytes(self) -> int:
        """Bytes of the chunks that are lent to the processor."""
        return sum(self._chunks[number].nbytes for number in self._lent)

    @property
    def pass_nbytes(self) -> int:
        """Bytes moved in a pass that uses every expert."""
        return sum(chunk.nbytes for chunk in (*self._chunks, *self._experts)) - self.lent_nbytes

    @property
    def each_pass(self) -> dict[Tier, int]:
        """Bytes that every pass moves, by the tier that they are moved from."""
        nbytes: dict[Tier, int] = {"ram": -self.lent_nbytes, "ssd": 0}
        for chunk, here in zip(self._chunks, self._in_ram, strict=True):
            nbytes["ram" if here else "ssd"] += chunk.nbytes
        return nbytes

    @property
    def tiers(self) -> dict[Tier, int]:
        """Bytes moved in a pass that uses every expert, by the tier that they are moved from."""
        nbytes, homes = self.each_pass, self.expert_homes
        last: Tier = "ssd" if homes["ssd"] else "ram"
        return nbytes | {last: nbytes[last] + homes[last]}

    @property
    def expert_homes(self) -> dict[Tier, int]:
        """Bytes of experts in the tiers from which the compute device's cache gets those that it lacks."""
        everything = sum(expert.nbytes for expert in self._experts)
        if not isinstance(self._cache, DeviceExperts):
            return {"ram": 0, "ssd": everything}
        in_ram = self._cache.ram_nbytes
        return {"ram": in_ram, "ssd": everything} if self._ram_slots else {"ram": everything, "ssd": 0}

    @property
    def cache_nbytes(self) -> int:
        """Bytes of the cache of experts in the compute device's memory; they are part of `nbytes`."""
        return self._cache.nbytes if self._cache else 0

    @property
    def nbytes(self) -> int:
        return sum(way.nbytes for way in (self._ring, self._cache) if way)

    @property
    def moved(self) -> int:
        return (self._ring.moved if self._ring else 0) + (self.experts.read if self.experts else 0)

    @property
    def waited_s(self) -> float:
        return sum(way.waited_s for way in (self._ring, self._cache, self._staged) if way)

    @property
    def experts(self) -> ExpertCounts | None:
        """Counts of the cache of experts since the start; None if there is none."""
        return self._cache.counts if self._cache else None

    @property
    def idle_s(self) -> float:
        """Seconds since the start in which the disk stood still: every slot of the ring was full, and the
        cache lacked no expert that was chosen or guessed."""
        return self.watch.idle_s

    def replace_files(self, replaced: Callable[[Readable], Readable]) -> None:
        """Read each file through what `replaced` returns for it."""
        for path, file in self._files.items():
            self._files[path] = replaced(file)

    def fetch(self, matrix: Movable) -> None:
        """Give the matrix its bytes, until the next fetch of an expert, or of a matrix that belongs to none,
        whichever of the two it is. Raises StreamBroken if a chunk cannot be read; the next fetch then
        restarts the ring."""
        number, chunk = self._places[id(matrix)]
        cached = self._cache is not None and chunk.mixture is not None
        if chunk in self._held[cached]:
            return
        assert not (cached and chunk.packed)  # its bytes are no longer those stored
        self.on_chunk()
        self._release(cached)
        way = self._cache if cached else self._ring
        assert way is not None
        slot = way.fetch(number)
        if self._link is None:
            chunk.give(slot)
        else:
            chunk.give_on_device(slot)
        self._held[cached] = [chunk]

    def fetch_present(self) -> list[int]:
        """Give those experts that were announced, and that are in the cache by now, their bytes until the
        next fetch of any expert, packed if they have such a form; return their chunks' numbers. Waits if
        there is none; empty if all have been fetched. Raises as `fetch` does. On the processor only."""
        assert isinstance(self._cache, ExpertCache)
        self.on_chunk()
        self._release(cached=True)
        present = self._cache.fetch_present()
        for number, slot in present.items():
            chunk = self._experts[number]
            self._held[True].append(chunk)
            if chunk.packed:
                chunk.give_packed(slot)
            else:
                chunk.give(slot)
        return list(present)

    def _release(self, cached: bool) -> None:
        """Leave the chunks in place without bytes. cached: whether they are those of the cache of experts."""
        for chunk in self._held[cached]:
            chunk.take()
        self._held[cached] = []

    def chunk(self, matrix: Movable) -> int:
        """Return the number of the chunk that brings a streamed matrix."""
        return self._places[id(matrix)][0]

    def kept(self, row: int) -> None:
        if self._cache:
            self._cache.kept(row)

    def trial(self) -> AbstractContextManager[None]:
        """Return a context whose passes teach nothing about the routing: their text is nobody's."""
        return self._cache.trial() if self._cache else nullcontext()

    def begin_pass(self, tokens: Sequence[int]) -> None:
        """Tell the cache of experts that a pass over these tokens begins, one for each row; none if it
        teaches nothing. On the processor only."""
        if isinstance(self._cache, ExpertCache):
            self._cache.begin_pass(tokens)

    def choose(
        self,
        chosen: Sequence[Movable],
        rows: Sequence[Sequence[Movable]] = (),
        near: Sequence[Movable] = (),
    ) -> None:
        if self._cache:
            self._release(cached=True)
            of_rows = [[self.chunk(matrix) for matrix in row] for row in rows]
            self._cache.choose(self._numbers(chosen), of_rows, self._numbers(near))

    def _numbers(self, matrices: Sequence[Movable]) -> list[int]:
        """Return the numbers of the chunks of these matrices, each once."""
        return list(dict.fromkeys(self.chunk(matrix) for matrix in matrices))

    def choosing(self) -> AbstractContextManager[object]:
        """Return the lock to hold from `choose` until `asks` was called for all later mixtures: meanwhile the
        readers guess nothing."""
        assert self._cache is not None
        return self._cache.changed

    def asks(self, matrix: Movable, ahead: int) -> bool:
        """Return whether it is of use to learn what the router of the mixture with this matrix would choose,
        right after the mixture so many turns before it has chosen; `expect` tells that. On the processor
        only: a card would have to be waited for."""
        mixture = self._places[id(matrix)][1].mixture
        return (
            isinstance(self._cache, ExpertCache) and mixture is not None and self._cache.asks(mixture, ahead)
        )

    def expect(self, rows: Sequence[Sequence[Movable]]) -> None:
        """Note what the router that was to be asked would choose by now. rows: one matrix of each expert, the
        likeliest one first, by row."""
        assert isinstance(self._cache, ExpertCache)
        self._cache.expect([[self._places[id(matrix)][0] for matrix in row] for row in rows])

    def shrink(self) -> bool:
        """Give back about an eighth of the device memory that a cache of experts has, after a pass that ended
        because there was too little; return whether there was any to give."""
        if not isinstance(self._cache, DeviceExperts):
            return False
        self._release(cached=True)
        return self._cache.shrink()

    def sweep(self) -> None:
        """Fetch every chunk once without computing, to measure the link."""
        self._release(cached=False)
        self._release(cached=True)
        if self._ring:
            for number in range(len(self._chunks)):
                self._ring.fetch(number)
        if self._cache:
            self._cache.sweep()

    def remember(self) -> None:
        """Keep what the passes have taught about the routing for the next start of the program."""
        counts = self.experts
        if self._cache and self._routing and counts and counts.used:
            self._routing.keep(self._cache.routing)

    def close(self) -> None:
        with ExitStack() as closing:  # all of it, even if the device reports an error
            for file in self._files.values():
                closing.callback(file.close)
            for chunk in (*self._chunks, *self._experts):
                closing.callback(chunk.take)
            for way in (self._staged, self._cache, self._ring, self._rows):
                if way:
                    closing.callback(way.close)
            self.remember()

    def _from_memory(self, chunk: Chunk, slab: NDArray[np.uint8]) -> Chunk:
        """Return a copy of `chunk` that is read from `slab` instead of from its files."""
        place = Path(f"memory {len(self._files)}")
        self._files[place] = MemoryFile(slab)
        return replace(chunk, extents=(Extent(place, 0, chunk.nbytes, chunk.nbytes, 0),))
