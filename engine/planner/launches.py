"""Counts the pieces of matrices that a pass on a graphics card launches one by one, each of which takes
Python its time. They are cut by the code that the engine cuts them with (`engine.checkpoints.cuts`)."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

from engine.catalog import CatalogModel, Variant, sizes
from engine.checkpoints import Weight
from engine.checkpoints.cuts import cut_rows, moved_rows, unpacked_rows
from engine.planner.run_rows import RECORDED, RECORDED_ROWS, SEEN_KEYS


def recordings_nbytes(slots: int, vocabulary: int, in_a_layer: int, read: int, itemsize: int) -> int:
    """Return the bytes that the recordings of a model's passes take on a card, once there are all of them.

    slots: of the model's cache. Numbers of a row, of `itemsize` bytes each: `vocabulary`: logits;
    `in_a_layer`: what a pass has at one time besides; `read`: what heads read.
    """
    doublings = ((slots - 1) // SEEN_KEYS).bit_length()
    buckets = [min(SEEN_KEYS << doubling, slots) for doubling in range(doublings + 1)]
    rows = sum(RECORDED)
    # Recordings share a copy of their logits, and memory of their own for what passes compute, as only one is
    # replayed at a time.
    numbers = RECORDED_ROWS * (2 * vocabulary + in_a_layer) + len(buckets) * rows * read
    # Tokens, positions and slots of the rows, positions of the keys, in 8 bytes each; and what each row sees.
    places = 8 * (len(buckets) * 3 * rows + len(RECORDED) * sum(buckets)) + rows * sum(buckets)
    return numbers * itemsize + places


def numbers_in_a_layer(width: int, widest: int, halves: bool) -> int:
    """Return how many numbers a pass has of each row at one time, besides the choices of a mixture. A product
    in float16 has its input as half as many numbers, and its output before it is multiplied by a power.

    width: of a row between layers; widest: of the widest one within a layer; halves: as in `Compute`.
    """
    return 6 * width + 3 * widest + (3 * widest // 2 if halves else 0)


@dataclass(frozen=True, slots=True, order=True)
class OutlinedMatrix:
    """The sizes of a matrix.

    Attributes: `nbytes`: as stored; `plain`: whether it is stored as plain numbers; `uncut`: whether it is
    moved as a whole, however large it is; `expert`: whether it belongs to an expert of a mixture.
    """

    rows: int
    columns: int
    nbytes: int
    plain: bool = False
    uncut: bool = False
    expert: bool = False

    def pieces(self, slot: int | None, packed: bool, plain: bool) -> int:
        """Return how many pieces are launched. slot: bytes of a piece that is moved, at most; None if nothing
        is moved. packed, plain: whether what is moved at once is multiplied at once, of matrices that are
        packed, and of those of plain numbers."""
        heights = [self.rows]
        if slot is not None and self.nbytes > slot and not self.uncut:
            heights = cut_rows(self.rows, moved_rows(self.nbytes // self.rows, slot))
        if plain if self.plain else packed:
            return len(heights)
        step = unpacked_rows(self.columns)
        return sum(len(cut_rows(height, step)) for height in heights)


# Matrices, with the number of each kind.
Matrices = tuple[tuple[OutlinedMatrix, int], ...]


@lru_cache(maxsize=256)  # a search for a plan asks for the same ones many times
def pieces(matrices: Matrices, slot: int | None, packed: bool, plain: bool = False) -> tuple[int, int]:
    """Return how many pieces are launched of the matrices that every pass uses, and of those of all experts.
    slot, packed, plain: as for `OutlinedMatrix.pieces`."""
    counts = {False: 0, True: 0}
    for matrix, count in matrices:
        counts[matrix.expert] += count * matrix.pieces(slot, packed, plain)
    return counts[False], counts[True]


# Bytes that products in float16 move besides (`engine.quantization.halves`): of each input, which is read
# twice in float32 and written in float16; of each output, which is float32 and is read and written once more.
HALVED = 4 + 4 + 2
RESTORED = 2 + 4 + 4


@lru_cache(maxsize=256)
def halving_nbytes(matrices: Matrices, chosen: float) -> float:
    """Return the bytes that products in float16 move besides, for each row of a pass. chosen: the share of
    the experts that a row uses."""
    return sum(
        (HALVED * matrix.columns + RESTORED * matrix.rows) * count * (chosen if matrix.expert else 1.0)
        for matrix, count in matrices
    )


def catalogued_matrices(model: CatalogModel, variant: Variant) -> Matrices:
    """Return the matrices by which a pass of a catalogue model multiplies."""
    plain, uncut = variant.format == "16-bit", bool(variant.bits)
    counts = Counter[OutlinedMatrix]()
    for rows, columns, nbytes, expert in sizes.multiplied(model, variant):
        matrix = OutlinedMatrix(rows, columns, nbytes, plain, uncut or expert, expert)
        counts[matrix] += model.experts if expert else 1
    head = sizes.head_nbytes(model, variant) or sizes.embedding_nbytes(model, variant)
    counts[OutlinedMatrix(model.vocabulary, model.hidden, head, plain=variant.format != "gguf")] += 1
    return tuple(sorted(counts.items()))


def stored_matrices(weights: Mapping[str, Weight], head: Weight) -> Matrices:
    """Return the same of a model that exists locally. weights: all, by name."""
    counts = Counter(
        _stored(weight, ".experts." in name)
        for name, weight in weights.items()
        if ".layers." in name and len(weight.shape) == 2
    )
    counts[_stored(head, False)] += 1
    return tuple(sorted(counts.items()))


def _stored(weight: Weight, expert: bool) -> OutlinedMatrix:
    rows, columns = weight.shape
    plain = weight.format in ("F32", "F16", "BF16")
    return OutlinedMatrix(rows, columns, weight.nbytes, plain, expert or len(weight.spans) > 1, expert)
