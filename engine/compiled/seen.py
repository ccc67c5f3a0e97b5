"""What the rows of a pass see in the KV cache."""

from dataclasses import dataclass

from engine.compiled.table import Ints


@dataclass(frozen=True, slots=True)
class Seen:
    """The cache slots that the rows of a pass see.

    first_slot: where the keys and values of the first row go. prefix: int64 [rows], how many slots from the
    first on a row sees. Row r also sees lists[offsets[r]:offsets[r + 1]], in the order of their positions.
    """

    first_slot: int
    prefix: Ints
    lists: Ints
    offsets: Ints

    def piece(self, start: int, stop: int) -> "Seen":
        """Return what the rows start..stop see."""
        offsets = self.offsets[start : stop + 1]
        return Seen(self.first_slot + start, self.prefix[start:stop], self.lists, offsets)
