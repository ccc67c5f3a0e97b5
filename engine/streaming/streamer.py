"""A model's matrices between RAM and SSD, for a CPU as compute device.

Some chunks stay in memory, spread evenly between the others, which pass through a ring of slots in the order
of use.
"""

from collections.abc import Sequence
from pathlib import Path

from engine.errors import BadOption
from engine.quantization import Packed
from engine.streaming.chunks import Stored, split, spread_resident
from engine.streaming.disk import SECTOR, DiskFile
from engine.streaming.ring import Ring

# Slots of the ring: one is computed with, one waits, two are being read.
SLOTS = 4
# The largest slot: from 16 MB on a disk gains nothing.
MAX_SLOT_NBYTES = 32 << 20


def slot_nbytes(limit: int) -> int:
    """A slot's size under a limit of `limit` bytes: half of them for the ring at most."""
    return max(SECTOR, min(MAX_SLOT_NBYTES, limit // (2 * SLOTS)))


class Streamer:
    """`quantization.Mover` over files. Attributes as there, and `resident`, the matrices that stay in memory
    and whose bytes whoever builds the model reads."""

    def __init__(self, stored: Sequence[Stored], limit: int, files: dict[Path, DiskFile]) -> None:
        """stored: the matrices in the order of use. limit: bytes for resident matrices and the ring together.

        files: those the matrices lie in, open; closed with the streamer.
        Raises BadOption where the limit is smaller than the smallest ring, StreamBroken.
        """
        self._files = files
        chunks = split(stored, slot_nbytes(limit))
        slot = max(chunk.nbytes for chunk in chunks)
        slots = max(2, min(SLOTS, limit // slot))
        if sum(chunk.nbytes for chunk in chunks) <= limit:
            stays = [True] * len(chunks)
        else:
            least = 2 * slot
            if limit < least:
                raise BadOption(
                    f"The weights that are being computed with and read take {least / 2**30:.2f} GiB.",
                    f"Give a limit of {least / 2**30 + 0.005:.2f} GiB or more.",
                )
            stays = spread_resident(chunks, limit - slots * slot)
        self.resident = [
            each for chunk, here in zip(chunks, stays, strict=True) if here for each in chunk.stored
        ]
        streamed = [chunk for chunk, here in zip(chunks, stays, strict=True) if not here]
        self._ring = Ring(streamed, slots, files) if streamed else None
        self._number = {id(each.matrix): i for i, chunk in enumerate(streamed) for each in chunk.stored}
        for chunk in streamed:
            for each in chunk.stored:
                each.matrix.mover = self

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
        assert self._ring is not None
        self._ring.fetch(self._number[id(matrix)])

    def close(self) -> None:
        if self._ring:
            self._ring.close()
        for file in self._files.values():
            file.close()
