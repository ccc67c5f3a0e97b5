"""How the slots of a cache are cut out of slabs of a graphics card's memory, so that next to nothing is lost.

torch takes memory from the driver in segments, and gives back none of which a part is in use: blocks of up
to 1 MiB share segments of 2 MiB, those of less than 10 MiB segments of 20 MiB, and each larger one has a
segment of its own, of whole 2 MiB (`get_allocation_size` in c10/cuda/CUDACachingAllocator.cpp). With a block
of its own for each expert, a cache takes 11 % more than the bytes of experts of 2.6 MB, and giving one back
frees nothing.
"""

from dataclasses import dataclass

_MIB = 1 << 20
_SHARED = ((_MIB, 2 * _MIB), (10 * _MIB - 1, 20 * _MIB))  # the largest block in a segment, the segment
_UNIT = 2 * _MIB
# A slab is a sixteenth to an eighth of a cache: so large that rounding it up costs little, and so small that
# a cache which is short of memory need not give up much.
_SMALLEST, _LARGEST = 16, 8


@dataclass(frozen=True, slots=True)
class Slabs:
    """Attributes: `slots`, the number of each slab's slots, but for the last one, which may have fewer;
    `size`, the bytes of a slot."""

    slots: int
    size: int

    @classmethod
    def cut(cls, slots: int, size: int) -> "Slabs":
        """Return the slabs in which so many slots of so many bytes take the least memory. In those of a small
        cache there may be more slots, up to half of them, as far as one shared segment has room."""
        least = max(1, slots // _SMALLEST)
        most = max(least, slots // _LARGEST, min(slots // 2, -(-_SHARED[-1][1] // size)))
        ways = (cls(count, size) for count in range(least, most + 1))
        return min(ways, key=lambda way: way._segments(slots))

    def slab_nbytes(self, slots: int) -> int:
        """Return the bytes of a slab with so many slots, which the device rounds no further."""
        nbytes = slots * self.size
        return nbytes if nbytes <= _SHARED[-1][0] else -(-nbytes // _UNIT) * _UNIT

    def nbytes(self, slots: int) -> int:
        """Return the bytes of the slabs of so many slots."""
        full, rest = divmod(slots, self.slots)
        return full * self.slab_nbytes(self.slots) + self.slab_nbytes(rest)

    def _segments(self, slots: int) -> int:
        """Return the bytes of the segments that so many slots take."""
        full, rest = divmod(slots, self.slots)
        return self._of_segments(full, self.slots) + self._of_segments(1 if rest else 0, rest)

    def _of_segments(self, count: int, slots: int) -> int:
        """Return the same for `count` slabs with so many slots each."""
        nbytes = self.slab_nbytes(slots)
        for largest, segment in _SHARED:
            if nbytes <= largest:
                return -(-count // (segment // max(nbytes, 1))) * segment
        return count * nbytes


def fitting(nbytes: int, size: int) -> int:
    """Return how many slots of `size` bytes fit into `nbytes` in slabs."""
    slots = max(0, nbytes // size)
    while slots and Slabs.cut(slots, size).nbytes(slots) > nbytes:
        slots -= 1
    return slots
