"""The pieces of a streamed target's matrices, and which of them a share lends to a processor.

Only whole pieces are lent. They are cut as in `engine.checkpoints.Weight.cut`, joined to chunks as in
`engine.streaming.chunks`, and placed as in `engine.streaming.chunk_placement`, which are not imported here
because their rooms lie above, or need files. Sizes alone matter.
"""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import compress

from engine.planner.even import spread


@dataclass(frozen=True, slots=True)
class Product:
    """A product of an average layer, with a matrix of so many `columns` that takes `nbytes` as stored."""

    columns: int
    nbytes: int


@dataclass(frozen=True, slots=True)
class MatrixPiece:
    """A piece of a matrix. `of`: the number of its product among those of a pass."""

    of: int
    nbytes: int


@dataclass(frozen=True, slots=True)
class Near:
    """A product of which the processor multiplies a part. `pieces`: the bytes of each piece that is lent."""

    product: Product
    pieces: tuple[int, ...]

    @property
    def nbytes(self) -> int:
        return sum(self.pieces)


@lru_cache(maxsize=64)  # a plan asks for each share several times
def near_products(
    products: tuple[Product, ...], layers: int, slot: int, tiers: tuple[int, int], lent: int
) -> Mapping[Near, int]:
    """Return the products of a pass of which the processor multiplies a part, and how often each occurs.

    products: those of one layer, in the order of use. slot: bytes of a chunk, at most. tiers: bytes of the
    layers on the card, and of those in RAM that can be lent. lent: bytes that are lent, at most.
    """
    chunks = _chunks(products, layers, slot)
    on_card, in_ram = tiers
    streamed = _selected(chunks, on_card, False)
    near = _selected(_selected(streamed, in_ram, True), lent, True)
    pieces: defaultdict[int, list[int]] = defaultdict(list)
    for chunk in near:
        for piece in chunk:
            pieces[piece.of].append(piece.nbytes)
    return Counter(Near(products[of % len(products)], tuple(found)) for of, found in pieces.items())


Chunk = tuple[MatrixPiece, ...]


def _selected(chunks: Sequence[Chunk], nbytes: int, inside: bool) -> list[Chunk]:
    """Return the chunks that `spread` selects within `nbytes`, or else those that it does not."""
    selected = spread([sum(piece.nbytes for piece in chunk) for chunk in chunks], nbytes)
    return list(compress(chunks, (each == inside for each in selected)))


@lru_cache(maxsize=8)  # plans for several budgets have the same chunks
def _chunks(products: tuple[Product, ...], layers: int, slot: int) -> list[Chunk]:
    """Return the chunks of all layers, in the order of use."""
    chunks: list[list[MatrixPiece]] = []
    filled = slot
    for of in range(layers * len(products)):
        for nbytes in _cut(products[of % len(products)].nbytes, slot):
            if filled + nbytes > slot:
                chunks.append([])
                filled = 0
            chunks[-1].append(MatrixPiece(of, nbytes))
            filled += nbytes
    return [tuple(chunk) for chunk in chunks]


def _cut(nbytes: int, slot: int) -> list[int]:
    """Return the bytes of a matrix's pieces: as many slots as it fills, and the rest."""
    whole, rest = divmod(nbytes, slot)
    return [slot] * whole + ([rest] if rest else [])
