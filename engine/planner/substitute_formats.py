"""The formats of the substitutes with which a streamed target drafts for itself.

Plans choose the one that promises most tokens per second: with more bits, more guesses are right, but less of
the target is resident beside the substitutes, so that a pass reads more.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from math import fsum

from engine.checkpoints.storage import BLOCKS, stored_nbytes


@dataclass(frozen=True, slots=True)
class SubstituteFormat:
    """A format of substitutes.

    Attributes: `name`, as in BLOCKS; `bits`: per weight in the tiles of compiled passes, which is what
    substitutes take in memory (see `engine.compiled.layout`); `gain`: the gain of trees that are grown with
    them (see `planner.acceptance`), relative to the gain with Q4_0.
    """

    name: str
    bits: float
    gain: float

    @property
    def stored_bits(self) -> float:
        """Bits per weight on the disk."""
        values, nbytes = BLOCKS[self.name]
        return 8 * nbytes / values


# Fewest bits first. Each gain is an estimate for any model from what was measured with one, Qwen2.5-Coder
# 1.5B in bfloat16 (docs/benchmarks/streaming.md, "A target as its own draft").
FORMATS = (
    SubstituteFormat("Q2_K", 3.125, 0.8),
    SubstituteFormat("Q3_K", 3.5625, 1.0),
    SubstituteFormat("Q4_0", 4.5, 1.0),
)
MOST_SHARE = 0.8  # of a matrix's bytes that its substitute may take; otherwise too little is saved
# Making substitutes takes minutes. If the disk has them in one format, another one must promise this many
# times as many tokens per second: predictions are no more exact, and the free RAM differs at every start.
CLEARLY = 1.1

Sized = tuple[int, int, int]  # a matrix: rows, columns, bytes as stored


@dataclass(frozen=True, slots=True)
class Substitutes:
    """The substitutes of all matrices of a model, each in the format nearest to the same one.

    Attributes: `name`: that of this format; `layers`, `head`: bytes in tiles of those of each layer, and of
    the head's; `stored`: bytes of all on the disk; `gain`: as in `SubstituteFormat`, on average over weights.
    """

    name: str
    layers: tuple[int, ...]
    head: int
    stored: int
    gain: float


def usable_formats(columns: int, bits: float) -> list[SubstituteFormat]:
    """Return the formats for a matrix with rows of so many columns, stored in so many bits per weight: those
    that are much smaller. Fewest bits first."""
    return [each for each in FORMATS if not columns % BLOCKS[each.name][0] and each.bits <= MOST_SHARE * bits]


def nearest_format(wanted: str, columns: int, bits: float) -> SubstituteFormat | None:
    """Return the usable format that has about as many bits as the one called `wanted`; None if none is
    usable. columns, bits: as for `usable_formats`."""
    aim = next(each.bits for each in FORMATS if each.name == wanted)
    return min(usable_formats(columns, bits), key=lambda each: abs(each.bits - aim), default=None)


def substitutes_of(layers: Sequence[Sequence[Sized]], head: Sized) -> tuple[Substitutes, ...]:
    """Return the substitutes of a model for each format that makes a difference, fewest bits first; none if
    some matrix has none. layers: the matrices of each layer."""
    found: dict[tuple[int, ...], Substitutes] = {}
    for wanted in FORMATS:
        made = _in_format(wanted.name, layers, head)
        if made is None:
            return ()
        found.setdefault((*made.layers, made.head), made)
    return tuple(found.values())


def _in_format(wanted: str, layers: Sequence[Sequence[Sized]], head: Sized) -> Substitutes | None:
    every = [*chain.from_iterable(layers), head]
    formats: dict[Sized, SubstituteFormat] = {}
    for rows, columns, nbytes in {*every}:
        form = nearest_format(wanted, columns, 8 * nbytes / (rows * columns))
        if form is None:
            return None
        formats[rows, columns, nbytes] = form

    def in_tiles(matrices: Sequence[Sized]) -> int:
        return sum(int(rows * columns * formats[rows, columns, n].bits) // 8 for rows, columns, n in matrices)

    weights = [rows * columns for rows, columns, _ in every]
    gains = (formats[matrix].gain * count for matrix, count in zip(every, weights, strict=True))
    stored = sum(stored_nbytes(formats[matrix].name, matrix[:2]) for matrix in every)
    of_layers = tuple(map(in_tiles, layers))
    return Substitutes(wanted, of_layers, in_tiles([head]), stored, fsum(gains) / sum(weights))
