"""How a matrix lies in memory when it is multiplied at its packed size: in tiles of LANES rows.

A matrix [rows, columns] is stored once more, its quants in the same number of bits. A tile holds first the
scales of its rows, then their quants, both in the order of the columns, so that a product reads two streams.
Products go by blocks of 32 columns. A vector of quants has one 32-bit lane per row; a lane holds the quants
of four adjacent columns (a quad) in its bytes, for as many quads as their bits leave room for. Quants of 3, 5
or 6 bits are split into planes: the low bits of all eight quads, then the high bits.

number = factor * scale * (quant - offset), or scale * quant - minimum. A tile may begin with a factor of each
row, by which sums are multiplied once they are complete.

A format whose quants and scales are in tensors of their own has the tiles of another one, with the same
numbers (`layout_of`): FP8 stays E4M3, a byte for each number, with a float32 for 128 columns of a row.
"""

from dataclasses import dataclass, replace

from engine.compiled.instructions import LANES
from engine.formats import FORMATS, BlockFormat
from engine.formats.block_scales import KINDS
from engine.planner.tiles import IN_PARTS

BLOCK = 32  # columns of a block
ALIGNMENT = 64  # bytes, a cache line


@dataclass(frozen=True, slots=True)
class TileLayout:
    """A format of weights, as a product reads it.

    bits: of a quant. offset: is subtracted from quants. levels: the numbers, 0 to 255, that quants stand for
    before the offset is subtracted; empty if quants are these numbers themselves. unit: columns whose scales
    lie together, and of which a row of quants has a multiple. group: columns that share a scale. minima:
    whether a group has a minimum. supers: whether scales (and minima) are 8-bit numbers times a number of
    16 bits per unit; they have 16 bits otherwise. signed: whether those 8-bit scales are.
    number: for plain numbers, the format they are stored in: F32, F16, BF16 or F8_E4M3, of which only the
    last has scales. scale: the type of scales and minima with 16 bits: F16 or BF16; those of F8_E4M3 are F32.
    factor: of all scales. row_factors: whether tiles begin with a float32 for each row.
    """

    bits: int
    offset: float = 0
    unit: int = BLOCK
    group: int = BLOCK
    minima: bool = False
    supers: bool = False
    signed: bool = False
    number: str = ""
    levels: tuple[int, ...] = ()
    scale: str = "F16"
    factor: float = 1.0
    row_factors: bool = False

    @property
    def scaled(self) -> bool:
        """Whether these are plain numbers with scales."""
        return self.number == "F8_E4M3"

    @property
    def step(self) -> int:
        """Of how many columns a row has a multiple. Of plain numbers, the last unit may end early."""
        return BLOCK if self.number else self.unit

    @property
    def lead_nbytes(self) -> int:
        """Bytes of the factors with which a tile begins."""
        return ALIGNMENT if self.row_factors else 0

    @property
    def planes(self) -> tuple[tuple[int, int], ...]:
        """The planes of the quants: their bits, and the place of these bits in the quant."""
        if self.bits in (1, 8):
            return ((self.bits, 0),)
        low = 4 if self.bits >= 4 else 2
        return ((low, 0),) if self.bits == low else ((low, 0), (self.bits - low, low))

    @property
    def block_nbytes(self) -> int:
        """Bytes of the quants of a block of all rows of a tile."""
        return BLOCK * LANES * self.bits // 8

    @property
    def scales_nbytes(self) -> int:
        """Bytes of the scales of a unit of all rows of a tile."""
        if self.number:
            return 4 * LANES if self.scaled else 0
        kinds = 2 if self.minima else 1
        groups = self.unit // self.group
        return LANES * kinds * (2 + groups if self.supers else 2 * groups)

    def head_nbytes(self, columns: int) -> int:
        """Bytes of a tile's scales, rounded up so that the quants start at a multiple of ALIGNMENT."""
        return _rounded_up(-(-columns // self.unit) * self.scales_nbytes)

    def tile_nbytes(self, columns: int) -> int:
        """Bytes of a tile, a multiple of ALIGNMENT."""
        body = columns // BLOCK * self.block_nbytes
        return self.lead_nbytes + _rounded_up(self.head_nbytes(columns) + body)


def _rounded_up(nbytes: int) -> int:
    return -(-nbytes // ALIGNMENT) * ALIGNMENT


def _layout(form: BlockFormat) -> TileLayout:
    """Return the layout of a block format. Levels are shifted to begin at 0: products are faster where they
    have fewer bits."""
    least = min(form.levels, default=0)
    return TileLayout(
        form.bits,
        offset=-least if form.levels else form.offset,
        unit=form.values,
        group=form.group,
        minima=form.minima,
        supers=form.supers,
        signed=form.signed,
        levels=tuple(level - least for level in form.levels),
        scale=KINDS[form.scale].tile,
        factor=form.factor,
    )


LAYOUTS: dict[str, TileLayout] = {
    "F32": TileLayout(32, number="F32"),
    "F16": TileLayout(16, number="F16"),
    "BF16": TileLayout(16, number="BF16"),
    **{name: _layout(form) for name, form in FORMATS.items() if isinstance(form, BlockFormat)},
}

# The layouts of formats in several parts, and those of LAYOUTS, by name.
TILES: dict[str, TileLayout] = {
    **LAYOUTS,
    # The bits of E4M3 become those of a float16, whose exponent is biased by 8 more.
    "FP8": TileLayout(8, number="F8_E4M3", unit=128, group=128, scale="F32", factor=256.0),
    "NVFP4_FACTORED": replace(LAYOUTS["NVFP4"], unit=BLOCK, row_factors=True),
    "Q4_0_BF16": replace(LAYOUTS["Q4_0"], scale="BF16"),
    "Q5_0_BF16": replace(LAYOUTS["Q5_0"], scale="BF16"),
}


def layout_of(stored: str) -> str | None:
    """Return the name of the layout that a stored format's tiles have; None if it has none."""
    return stored if stored in LAYOUTS else IN_PARTS.get(stored)
