"""How a matrix lies in memory when it is multiplied at its packed size: in tiles of LANES rows.

A matrix [rows, columns] is stored once more, its quants in the same number of bits. A tile holds first the
scales of its rows, then their quants, both in the order of the columns, so that a product reads two streams.
The unit is a block of 32 columns. A vector of quants has one 32-bit lane per row; a lane holds the quants of
four adjacent columns (a quad) in its bytes, for as many quads as their bits leave room for. Quants with an
odd number of bits are split into planes: the low bits of all eight quads, then the high bits.

number = scale * (quant - offset), or scale * quant - minimum.
"""

from dataclasses import dataclass

from engine.compiled.instructions import LANES
from engine.quantization.code_book import LEVELS

BLOCK = 32  # columns of a block
SUPER = 256  # columns that share scales of scales
ALIGNMENT = 64  # bytes, a cache line


@dataclass(frozen=True, slots=True)
class TileLayout:
    """A format of weights, as a product reads it.

    bits: of a quant. offset: is subtracted from quants. levels: the numbers, 0 to 255, that quants stand for
    before the offset is subtracted; empty if quants are these numbers themselves. group: columns that share a
    scale. minima: whether a group has a minimum. supers: whether scales (and minima) are 8-bit numbers times
    a float16 per 256 columns; they are float16 otherwise. signed: whether those 8-bit scales are. number: for
    plain numbers, the format they are stored in: F32, F16 or BF16.
    """

    bits: int
    offset: int = 0
    group: int = BLOCK
    minima: bool = False
    supers: bool = False
    signed: bool = False
    number: str = ""
    levels: tuple[int, ...] = ()

    @property
    def planes(self) -> tuple[tuple[int, int], ...]:
        """The planes of the quants: their bits, and the place of these bits in the quant."""
        low = 4 if self.bits >= 4 else 2
        if self.bits == 8:
            return ((8, 0),)
        return ((low, 0),) if self.bits == low else ((low, 0), (self.bits - low, low))

    @property
    def block_nbytes(self) -> int:
        """Bytes of the quants of a block of all rows of a tile."""
        return BLOCK * LANES * self.bits // 8

    @property
    def scales_nbytes(self) -> int:
        """Bytes of the scales of all rows of a tile: of 256 columns with `supers`, of 32 without."""
        if self.number:
            return 0
        kinds = 2 if self.minima else 1
        if self.supers:
            return LANES * kinds * (2 + SUPER // self.group)
        return LANES * kinds * 2

    def head_nbytes(self, columns: int) -> int:
        """Bytes of a tile's scales, rounded up so that the quants start at a multiple of ALIGNMENT."""
        return _rounded_up(columns // (SUPER if self.supers else BLOCK) * self.scales_nbytes)

    def tile_nbytes(self, columns: int) -> int:
        """Bytes of a tile, a multiple of ALIGNMENT."""
        return _rounded_up(self.head_nbytes(columns) + columns // BLOCK * self.block_nbytes)


def _rounded_up(nbytes: int) -> int:
    return -(-nbytes // ALIGNMENT) * ALIGNMENT


_LEVELS = tuple(int(level) + 128 for level in LEVELS)

# fmt: off
LAYOUTS: dict[str, TileLayout] = {
    "F32": TileLayout(32, number="F32"),
    "F16": TileLayout(16, number="F16"),
    "BF16": TileLayout(16, number="BF16"),
    "Q4_0": TileLayout(4, offset=8),
    "Q4_1": TileLayout(4, minima=True),
    "Q5_0": TileLayout(5, offset=16),
    "Q5_1": TileLayout(5, minima=True),
    "Q8_0": TileLayout(8, offset=128),
    "Q2_K": TileLayout(2, group=16, minima=True, supers=True),
    "Q3_K": TileLayout(3, offset=4, group=16, supers=True, signed=True),
    "Q4_K": TileLayout(4, minima=True, supers=True),
    "Q5_K": TileLayout(5, minima=True, supers=True),
    "Q6_K": TileLayout(6, offset=32, group=16, supers=True, signed=True),
    "IQ4_NL": TileLayout(4, offset=128, levels=_LEVELS),
    "IQ4_XS": TileLayout(4, offset=128, levels=_LEVELS, supers=True, signed=True),
}
# fmt: on
