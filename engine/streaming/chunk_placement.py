"""Decide the memory tier of each chunk. This module computes with sizes only and allocates no memory."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from operator import floordiv

from engine.errors import BadOption
from engine.formats import PlainFormat
from engine.machine.disk_reads import READERS, SECTOR
from engine.planner.even import spread
from engine.planner.tiers import SLOTS, Tier, slot_nbytes
from engine.streaming.chunks import Chunk, StoredMatrix, by_expert, split
from engine.streaming.mover import Movable
from engine.streaming.slabs import Slabs, fitting


@dataclass(frozen=True, slots=True)
class WeightLimits:
    """The bytes that a model's matrices may take at most.

    Attributes: `device_nbytes`: the limit in the compute device's memory (VRAM on CUDA, RAM on the CPU), for
    resident chunks and the ring together; `host_nbytes`: with a CUDA device, the limit in RAM, for
    chunks and the staging ring together; None for as much as the chunks take; unused on the CPU.
    """

    device_nbytes: int
    host_nbytes: int | None = None


@dataclass(frozen=True, slots=True)
class ChunkPlacement:
    """The tier of each chunk, and the slots of the rings.

    Attributes: `tiers`: one for each chunk; `slots`: number of slots of the ring on the compute device;
    `staging`: number of slots in RAM for chunks that pass from the SSD to a device with memory of its own.
    Each number is 0 if no chunk needs such slots.
    """

    tiers: list[Tier]
    slots: int
    staging: int


@dataclass(frozen=True, slots=True)
class PlacedChunks:
    """The chunks of a model's matrices, and where they are.

    Attributes: `chunks`: those that every pass uses, in the order of use; `placement`: of these; `experts`:
    those that come through a cache, none if everything stays on the device; `cached`: number of slots of that
    cache; `ram_slots`: of another one in RAM, 0 if all experts stay there or the device computes in RAM.
    """

    chunks: list[Chunk]
    placement: ChunkPlacement
    experts: list[Chunk]
    cached: int
    ram_slots: int = 0


def placed_chunks(
    stored: Sequence[StoredMatrix[Movable]], limits: WeightLimits, on_card: bool
) -> PlacedChunks:
    """Divide matrices, in the order of use, into chunks, and place these. on_card: whether the compute device
    has memory of its own. Raises BadOption if a limit is too small."""
    device_nbytes, host_nbytes = limits.device_nbytes, limits.host_nbytes
    chunks, experts = split(stored, slot_nbytes(device_nbytes)), list[Chunk]()
    if sum(chunk.kept_nbytes for chunk in chunks) > device_nbytes:
        others, experts = by_expert(stored)
        chunks = split(others, slot_nbytes(device_nbytes))
    largest = max((expert.slot_nbytes for expert in experts), default=0)
    if on_card:
        cached = expert_slots(chunks, experts, device_nbytes, "--vram-limit", fitting)
        device_nbytes -= Slabs.cut(cached, largest).nbytes(cached) if cached else 0
    else:
        cached = expert_slots(chunks, experts, device_nbytes, "--ram-limit")
        device_nbytes -= (cached + spare_slots(experts)) * largest
    # Plain numbers take more bytes than packed ones, and less computing. A head of 16 bits behind layers
    # of 4 bits would starve the device at the end of each pass.
    plain = [all(isinstance(each.matrix.format, PlainFormat) for each in chunk.stored) for chunk in chunks]
    sizes, kept = [chunk.nbytes for chunk in chunks], [chunk.kept_nbytes for chunk in chunks]
    placement = place(sizes, device_nbytes, sum(sizes) if on_card else None, plain, kept)
    if not on_card or host_nbytes is None:
        return PlacedChunks(chunks, placement, experts, cached)
    rest = [chunk for chunk, tier in zip(chunks, placement.tiers, strict=True) if tier != "device"]
    in_ram = ram_slots(rest, experts, host_nbytes)
    of_experts = in_ram * largest or sum(expert.nbytes for expert in experts)
    placement = place(sizes, device_nbytes, host_nbytes - of_experts, plain, kept)
    return PlacedChunks(chunks, placement, experts, cached, in_ram)


def place(
    sizes: Sequence[int],
    device_nbytes: int,
    host_nbytes: int | None,
    first: Sequence[bool] = (),
    kept: Sequence[int] = (),
) -> ChunkPlacement:
    """Assign a tier to each chunk.

    sizes: bytes of the chunks, in the order of use. device_nbytes: limit for resident chunks and the ring, in
    the compute device's memory. host_nbytes: limit for chunks in RAM and the staging slots; None if the
    compute device is the CPU, which computes in RAM. first: for each chunk, whether it is computed with much
    faster than others of its size, so that it stays on the device before them; empty if there are none. kept:
    the bytes that each chunk takes if it stays on the device; empty if these are its size.

    Chunks that stay on the device are spread evenly among all, so that the link keeps working while they are
    computed with. In the same way, chunks in RAM are spread evenly among those that are not on the device.
    Raises BadOption if a limit is smaller than the smallest ring that it must hold.
    """
    kept = kept or sizes
    if sum(kept) <= device_nbytes:
        return ChunkPlacement(["device"] * len(sizes), 0, 0)
    slots = _slots(max(sizes), device_nbytes, "--ram-limit" if host_nbytes is None else "--vram-limit")
    on_device = _spread_in_turn(kept, device_nbytes - slots * max(sizes), first or [False] * len(sizes))
    tiers: list[Tier] = ["device" if stays else "ssd" for stays in on_device]
    if host_nbytes is None:
        return ChunkPlacement(tiers, slots, 0)
    rest = [index for index, tier in enumerate(tiers) if tier == "ssd"]
    left = [sizes[index] for index in rest]
    staging = 0
    if sum(left) > host_nbytes:
        staging = _slots(max(sizes), host_nbytes, "--ram-limit")
    for index, stays in zip(rest, spread(left, host_nbytes - staging * max(sizes)), strict=True):
        if stays:
            tiers[index] = "ram"
    return ChunkPlacement(tiers, slots, staging)


def expert_slots(
    chunks: Sequence[Chunk],
    experts: Sequence[Chunk],
    nbytes: int,
    option: str,
    fitting: Callable[[int, int], int] = floordiv,
) -> int:
    """Return how many slots a cache of `experts` has where it shares `nbytes` bytes with `chunks`, those that
    every pass uses. These have priority: the cache gets what they leave, and at least as many slots as a
    ring. 0 if there are no experts. option: the one that sets `nbytes`. fitting: a function that returns how
    many slots fit: (bytes, bytes of a slot) -> their number.

    Raises BadOption if not even two experts and the smallest ring of the chunks fit.
    """
    if not experts:
        return 0
    size = max(expert.slot_nbytes for expert in experts)
    spare = spare_slots(experts) * size
    always = sum(chunk.kept_nbytes for chunk in chunks)
    least = min(always, 2 * max((chunk.nbytes for chunk in chunks), default=0))
    needed = least + 2 * size + spare
    while fitting(needed - least - spare, size) < 2:
        needed += SECTOR
    if nbytes < needed:
        raise _too_small(needed, option)
    nbytes -= spare
    beside, at_least = fitting(nbytes - always, size), min(SLOTS, fitting(nbytes - least, size))
    return min(len(experts), max(beside, at_least))


def spare_slots(experts: Sequence[Chunk]) -> int:
    """Return how many slots a cache of `experts` needs besides its own: one for each reader that packs."""
    return READERS if experts and experts[0].packed else 0


def ram_slots(chunks: Sequence[Chunk], experts: Sequence[Chunk], nbytes: int) -> int:
    """Return how many slots a cache of `experts` in RAM has, from which a device with memory of its own gets
    them, where it shares `nbytes` bytes with `chunks`; 0 if there is room for all of them. Raises BadOption
    as `expert_slots` does."""
    everything = sum(chunk.nbytes for chunk in (*chunks, *experts))
    return 0 if everything <= nbytes else expert_slots(chunks, experts, nbytes, "--ram-limit")


def _too_small(nbytes: int, option: str) -> BadOption:
    needed = nbytes / 2**30
    return BadOption(
        f"The weights being computed and moved at a time take {needed:.2f} GiB.",
        f"Set {option} to {needed + 0.005:.2f} or more.",
    )


def _slots(size: int, nbytes: int, option: str) -> int:
    if nbytes < 2 * size:
        raise _too_small(2 * size, option)
    return min(SLOTS, nbytes // size)


def _spread_in_turn(sizes: Sequence[int], nbytes: int, first: Sequence[bool]) -> list[bool]:
    """Select as `spread` does, from the `first` sizes, and then from the others with what is left."""
    stay = [False] * len(sizes)
    for group in (True, False):
        members = [index for index, is_first in enumerate(first) if is_first == group]
        for index, stays in zip(members, spread([sizes[index] for index in members], nbytes), strict=True):
            stay[index] = stays
        nbytes -= sum(sizes[index] for index in members if stay[index])
    return stay
