"""Tiers of memory, and the rings of slots through which weights pass from one to another. The streamer makes
rings of these sizes, and plans reckon with them."""

from typing import Literal

from engine.machine.disk_reads import SECTOR

Tier = Literal["device", "ram", "ssd"]

# Slots of a ring: one in use, one ready, two being filled.
SLOTS = 4
# Maximum bytes of a slot. Transfers of more than 16 MB are no faster, neither from a disk nor over a bus.
MAX_SLOT_NBYTES = 32 << 20


def slot_nbytes(device_nbytes: int) -> int:
    """Return roughly how many bytes a slot should have. What is resident and the ring share `device_nbytes`
    bytes; the ring takes at most half of them."""
    return max(SECTOR, min(MAX_SLOT_NBYTES, device_nbytes // (2 * SLOTS)))
