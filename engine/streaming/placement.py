"""Which chunk lives in which tier. Numbers in, numbers out: no memory is taken here."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from engine.errors import BadOption
from engine.streaming.disk import SECTOR

Tier = Literal["device", "ram", "ssd"]

# Slots of a ring: one is computed with, one waits, two are being filled.
SLOTS = 4
# The largest slot: from 16 MB on neither a disk nor a bus gains anything.
MAX_SLOT_NBYTES = 32 << 20


def slot_nbytes(limit: int) -> int:
    """About how large a slot should be where `limit` bytes are for resident chunks and the ring: the ring
    takes half of them at most."""
    return max(SECTOR, min(MAX_SLOT_NBYTES, limit // (2 * SLOTS)))


@dataclass(frozen=True, slots=True)
class Placement:
    """Attributes: `tiers`, one for each chunk; `slots` of the ring on the compute device, `staging` slots in
    RAM for chunks that come from the SSD to a device with memory of its own; 0 where no chunk needs them."""

    tiers: list[Tier]
    slots: int
    staging: int


def place(sizes: Sequence[int], device_limit: int, ram_limit: int | None) -> Placement:
    """sizes: bytes of the chunks, in the order of use. device_limit: for resident chunks and the ring on the
    compute device. ram_limit: for chunks in RAM and their staging; None where the compute device computes in
    RAM.

    Chunks stay on the device, and then in RAM, evenly between the others, so that the link works on while
    they are computed. Raises BadOption where a limit is smaller than the smallest ring.
    """
    if sum(sizes) <= device_limit:
        return Placement(["device"] * len(sizes), 0, 0)
    slots = _slots(max(sizes), device_limit, "--ram-limit" if ram_limit is None else "--vram-limit")
    on_device = spread(sizes, device_limit - slots * max(sizes))
    tiers: list[Tier] = ["device" if stays else "ssd" for stays in on_device]
    if ram_limit is None:
        return Placement(tiers, slots, 0)
    rest = [index for index, tier in enumerate(tiers) if tier == "ssd"]
    left = [sizes[index] for index in rest]
    staging = 0
    if sum(left) > ram_limit:
        staging = _slots(max(sizes), ram_limit, "--ram-limit")
    for index, stays in zip(rest, spread(left, ram_limit - staging * max(sizes)), strict=True):
        if stays:
            tiers[index] = "ram"
    return Placement(tiers, slots, staging)


def _slots(size: int, limit: int, option: str) -> int:
    if limit < 2 * size:
        needed = 2 * size / 2**30
        raise BadOption(
            f"The weights that are being computed with and moved take {needed:.2f} GiB.",
            f"Give {option} {needed + 0.005:.2f} or more.",
        )
    return min(SLOTS, limit // size)


def spread(sizes: Sequence[int], nbytes: int) -> list[bool]:
    """Which of them stay where `nbytes` are left: evenly between those that do not."""
    total = sum(sizes)
    share = min(1.0, nbytes / total) if total else 1.0
    stay: list[bool] = []
    seen = kept = 0
    for size in sizes:
        seen += size
        stays = kept + size <= min(share * seen, nbytes)
        kept += size if stays else 0
        stay.append(stays)
    for index, size in enumerate(sizes):  # what rounding left over
        if not stay[index] and kept + size <= nbytes:
            stay[index] = True
            kept += size
    return stay
