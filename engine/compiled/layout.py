"""How a matrix lies in memory when it is multiplied at its packed size: in tiles of LANES rows.

A matrix [rows, columns] is stored once more, its quants in the same number of bits. A tile holds first the
scales of its rows, then their quants, both in the order of the columns, so that a product reads two streams.
Products go by blocks of 32 columns. A vector of quants has one 32-bit lane per row; a lane holds the quants
of four adjacent columns (a quad) in its bytes, for as many quads as their bits leave room for. Quants of 3, 5
or 6 bits are split into planes: the low bits of all eight quads, then the high bits.

number = factor * scale * (quant - offset), or scale * quant - minimum.
"""

from dataclasses import dataclass

from engine.compiled.instructions import LANES
from engine.formats import FORMATS, BlockFormat
from engine.formats.block_scales import KINDS

BLOCK = 32  # columns of a block
ALIGNMENT = 64  # bytes, a cache line
_MUCH = 0.2  # Q2_K, whose 4-bit scales take 8 bits in tiles, grows by less


@dataclass(frozen=True, slots=True)
class TileLayout:
    """A format of weights, as a product reads it.

    bits: of a quant. offset: is subtracted from quants. levels: the numbers, 0 to 255, that quants stand for
    before the offset is subtracted; empty if quants are these numbers themselves. unit: columns whose scales
    lie together, and of which a row has a multiple. group: columns that share a scale. minima: whether a
    group has a minimum. supers: whether scales (and minima) are 8-bit numbers times a number of 16 bits per
    unit; they have 16 bits otherwise. signed: whether those 8-bit scales are.
    number: for plain numbers, the format they are stored in: F32, F16 or BF16. scale: the type of scales and
    minima with 16 bits: F16 or BF16. factor: of all scales.
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
            return 0
        kinds = 2 if self.minima else 1
        groups = self.unit // self.group
        return LANES * kinds * (2 + groups if self.supers else 2 * groups)

    def head_nbytes(self, columns: int) -> int:
        """Bytes of a tile's scales, rounded up so that the quants start at a multiple of ALIGNMENT."""
        return _rounded_up(columns // self.unit * self.scales_nbytes)

    def tile_nbytes(self, columns: int) -> int:
        """Bytes of a tile, a multiple of ALIGNMENT."""
        return _rounded_up(self.head_nbytes(columns) + columns // BLOCK * self.block_nbytes)


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


def expansion(name: str) -> float:
    """Return the bytes that a format's tiles take beyond the stored ones, as a share of these, where that is
    much because the file stores indices of vectors or digits of a number; else 0."""
    form = FORMATS[name]
    if not isinstance(form, BlockFormat):
        return 0.0
    layout = LAYOUTS[name]
    nbytes = (layout.scales_nbytes + layout.unit // BLOCK * layout.block_nbytes) // LANES
    share = nbytes / form.nbytes - 1
    return share if share > _MUCH else 0.0


LAYOUTS: dict[str, TileLayout] = {
    "F32": TileLayout(32, number="F32"),
    "F16": TileLayout(16, number="F16"),
    "BF16": TileLayout(16, number="BF16"),
    **{name: _layout(form) for name, form in FORMATS.items() if isinstance(form, BlockFormat)},
}
