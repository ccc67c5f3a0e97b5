"""Which layer lives in which tier. As `engine.streaming.placement`, but in whole layers, and so that more
room never brings fewer bytes to a faster tier: layers become resident in one fixed order."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Literal

from engine.planner.outlines import Outline

Tier = Literal["device", "ram", "ssd"]

# As in engine.streaming.placement, which imports torch.
SLOTS = 4
MAX_SLOT_NBYTES = 32 << 20
SECTOR = 4096


@dataclass(frozen=True, slots=True)
class Placement:
    """Attributes: `layers`, the tier of each; bytes of layers and head by tier: `device`, `ram`, `ssd`;
    `ring` on the compute device and `staging` in RAM, 0 where nothing passes through them; `table`, bytes of
    the embedding on the device where it is not the head; `whole`: nothing is left elsewhere, the embedding
    neither."""

    layers: tuple[Tier, ...]
    device: int
    ram: int
    ssd: int
    ring: int = 0
    staging: int = 0
    table: int = 0
    whole: bool = False

    @property
    def streamed(self) -> int:
        """Bytes that come to the device in each pass."""
        return self.ram + self.ssd


def place(model: Outline, room: int, ram_room: int | None) -> Placement | None:
    """room: bytes for the model on the compute device. ram_room: in RAM where that is not the device's
    memory, else None. None: a ring does not fit."""
    order = spread(len(model.layers))
    # In the order of becoming resident; the head, which may be larger than what is left, comes last.
    sizes = [*(model.layers[layer] for layer in order), model.head]
    if sum(sizes) <= room:
        whole = model.nbytes <= room
        table = model.embedding if whole and not model.tied else 0
        return Placement(resident_layers(model), sum(sizes), 0, 0, table=table, whole=whole)
    if (ring := ring_nbytes(model, room)) is None:
        return None
    resident = _fitting(sizes, room - ring)
    rest, staging, kept = sizes[resident:], 0, 0
    if ram_room is not None:
        if sum(rest) > ram_room:
            if (needed := ring_nbytes(model, ram_room)) is None:
                return None
            staging = needed
        kept = _fitting(rest, ram_room - staging)
    tiers: list[Tier] = ["ssd"] * len(model.layers)
    for place, layer in enumerate(order):
        if place < resident + kept:
            tiers[layer] = "device" if place < resident else "ram"
    in_ram = sum(rest[:kept])
    return Placement(tuple(tiers), sum(sizes[:resident]), in_ram, sum(rest) - in_ram, ring, staging)


def resident_layers(model: Outline) -> tuple[Tier, ...]:
    device: Tier = "device"
    return (device,) * len(model.layers)


def ring_nbytes(model: Outline, room: int) -> int | None:
    """Of a ring of SLOTS where `room` bytes are for it and what is resident; None where it does not fit."""
    slot = max(SECTOR, min(MAX_SLOT_NBYTES, room // (2 * SLOTS)))
    ring = SLOTS * max(slot, model.uncut)
    return ring if ring <= room else None


@cache
def spread(count: int) -> tuple[int, ...]:
    """0 .. count - 1, so ordered that the first few lie evenly between the others: van der Corput's sequence
    (each number's binary digits mirrored behind the point)."""
    digits = max(1, (count - 1).bit_length())
    return tuple(sorted(range(count), key=lambda number: int(f"{number:0{digits}b}"[::-1], 2)))


def _fitting(sizes: Sequence[int], room: int) -> int:
    """How many of the first ones."""
    for count, size in enumerate(sizes):
        room -= size
        if room < 0:
            return count
    return len(sizes)
