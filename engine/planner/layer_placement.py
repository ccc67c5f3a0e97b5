"""Decide the memory tier of each layer.

This is like `engine.streaming.chunk_placement`, but for whole layers. They become resident in one fixed
order, so that more memory never puts fewer bytes into a faster tier.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

from engine.machine.disk_reads import READERS
from engine.planner.outline import Outline
from engine.planner.tiers import SLOTS, Tier, slot_nbytes


@dataclass(frozen=True, slots=True)
class LayerPlacement:
    """Where the layers of a model are, and the bytes that this takes.

    Attributes: `layers`: the tier of each layer; `device`, `ram`, `ssd`: bytes of layers and head in each
    tier; `ring`: bytes of the ring on the compute device, 0 if unused; `staging`: bytes of the ring in RAM, 0
    if unused; `table`: bytes of `Outline.tables` on the device, 0 if they are not there;
    `whole`: whether the whole model, including the embedding, is on the device; `spare`: bytes on the device
    that whole layers leave, and that pieces of the next one fill; `cache`: bytes of `device` that a cache of
    experts takes, 0 if there is none. With one, `layers` tells where the other matrices are,
    `ram` is what a card gets experts from: all of them, or another cache, and `ssd` what is not there, and
    `packing` the bytes that hold no expert, because readers pack into them.
    """

    layers: tuple[Tier, ...]
    device: int
    ram: int
    ssd: int
    ring: int = 0
    staging: int = 0
    table: int = 0
    whole: bool = False
    cache: int = 0
    spare: int = 0
    packing: int = 0

    @property
    def streamed(self) -> int:
        """Bytes moved to the device in each pass."""
        return self.ram + self.ssd - self.spare


def place(model: Outline, device_nbytes: int, host_nbytes: int | None) -> LayerPlacement | None:
    """Assign a tier to each layer; return None if a ring does not fit.

    device_nbytes: bytes for the model in the compute device's memory. host_nbytes: bytes for the model in
    RAM; None if the compute device is the CPU, whose memory is RAM.
    """
    order = spread_order(len(model.layers))
    # The sizes of layers and head, in the order in which these become resident. The head is last, because it
    # may be larger than the remaining memory.
    sizes = [*(model.layers[layer] for layer in order), model.head]
    if sum(sizes) <= device_nbytes:
        whole = model.nbytes <= device_nbytes
        table = model.tables if whole else 0
        return LayerPlacement(resident_layers(model), sum(sizes), 0, 0, table=table, whole=whole)
    if model.experts:
        always = sum(sizes) - model.experts  # every pass uses it, so it has priority
        # Where experts are packed, each reader needs room for one.
        packing = READERS * model.expert if host_nbytes is None and model.compiled else 0
        cache = _cache_nbytes(model, device_nbytes - always - packing)
        in_ram = 0 if host_nbytes is None else _cache_nbytes(model, host_nbytes)
        if cache and (in_ram or host_nbytes is None):
            there = cache if host_nbytes is None else in_ram
            layers = resident_layers(model)
            left = model.experts - there
            return LayerPlacement(layers, always + cache, in_ram, left, cache=cache, packing=packing)
    if (ring := ring_nbytes(model, device_nbytes)) is None:
        return None
    resident = _fitting(sizes, device_nbytes - ring)
    rest, staging, kept = sizes[resident:], 0, 0
    if host_nbytes is not None:
        if sum(rest) > host_nbytes:
            if (needed := ring_nbytes(model, host_nbytes)) is None:
                return None
            staging = needed
        kept = _fitting(rest, host_nbytes - staging)
    tiers: list[Tier] = ["ssd"] * len(model.layers)
    for place, layer in enumerate(order):
        if place < resident + kept:
            tiers[layer] = "device" if place < resident else "ram"
    in_ram = sum(rest[:kept])
    # Whole slots only: a few bytes more may make the ring larger by more than they are.
    filled = device_nbytes // (2 * SLOTS) * 2 * SLOTS
    spare = max(0, filled - ring - sum(sizes[:resident]))
    return LayerPlacement(
        tuple(tiers), sum(sizes[:resident]), in_ram, sum(rest) - in_ram, ring, staging, spare=spare
    )


def _cache_nbytes(model: Outline, nbytes: int) -> int:
    """Return the bytes of a cache of experts that may take `nbytes`; 0 if they are too few for one."""
    cache = nbytes // model.expert * model.expert
    return min(cache, model.experts) if cache >= SLOTS * model.expert else 0


def resident_layers(model: Outline) -> tuple[Tier, ...]:
    device: Tier = "device"
    return (device,) * len(model.layers)


def ring_nbytes(model: Outline, nbytes: int) -> int | None:
    """Return the bytes of a ring of SLOTS slots if ring and resident layers share `nbytes`; None if the ring
    does not fit."""
    ring = SLOTS * max(slot_nbytes(nbytes), model.piece)
    return ring if ring <= nbytes else None


@cache
def spread_order(count: int) -> tuple[int, ...]:
    """Return 0 .. count - 1 in an order in which the first few numbers, however many, are spread evenly over
    the range. The order is van der Corput's: the numbers are sorted by their binary digits read backwards.
    """
    digits = max(1, (count - 1).bit_length())
    return tuple(sorted(range(count), key=lambda number: int(f"{number:0{digits}b}"[::-1], 2)))


def _fitting(sizes: Sequence[int], nbytes: int) -> int:
    """Return how many sizes, counted from the first, fit into `nbytes` together."""
    for count, size in enumerate(sizes):
        nbytes -= size
        if nbytes < 0:
            return count
    return len(sizes)
