"""Code books: the vectors of which numbers in IQ1, IQ2 and IQ3 consist.

A quant is a sign and one of a few magnitudes. A vector of four or eight magnitudes is stored as its index in
the format's code book; signs are stored beside it. (In IQ1_S, vectors have signs and a shift.) ggml lists
the vectors in ascending order (grids in ggml-common.h), so that a book is a set, and is kept here as one bit
for each possible vector.
"""

from base64 import b85decode
from dataclasses import dataclass
from functools import cached_property
from math import ceil, log2

import numpy as np
from numpy.typing import NDArray

from engine.formats.jit import helper


@dataclass(frozen=True, eq=False)
class CodeBook:
    """The code book of a format.

    Attributes: `values`, of which vectors consist, in ascending order: magnitudes, if signs are stored beside
    vectors; `columns` of a vector, 4 or 8; `members`, the set of the vectors, in base 85: a bit for each
    number whose digits are the indices of a vector's values, that of the first column lowest; the lowest bit
    of the first byte is that of number 0.
    """

    values: tuple[int, ...]
    columns: int
    members: str

    @property
    def sign(self) -> int:
        """The place of the sign in a quant, above the index of its magnitude."""
        return ceil(log2(len(self.values)))

    @property
    def levels(self) -> tuple[int, ...]:
        """The number that each quant of a sign and a magnitude stands for; 0 for quants that do not occur."""
        padding = (0,) * ((1 << self.sign) - len(self.values))
        return (*self.values, *padding, *(-each for each in self.values), *padding)

    @cached_property
    def words(self) -> NDArray[np.uint32]:
        """The vectors, uint32 [vectors, columns / 4]: four indices of values in the bytes of each word."""
        bits = np.unpackbits(np.frombuffer(b85decode(self.members), np.uint8), bitorder="little")
        digits = len(self.values) ** np.arange(self.columns)
        indices = np.flatnonzero(bits)[:, None] // digits % len(self.values)
        return indices.astype(np.uint8).view("<u4").astype(np.uint32)

    def numbers(self) -> NDArray[np.float32]:
        """Return the values of the vectors, one after another, float32 [vectors * columns]."""
        return np.array(self.values, np.float32)[self.words.flatten().astype("<u4").view(np.uint8)]


# The factors of eight numbers for each byte of their signs, one after another.
SIGNS = (1 - 2.0 * np.unpackbits(np.arange(256, dtype=np.uint8), bitorder="little")).astype(np.float32)


def eight_signs(seven):  # type: ignore[no-untyped-def]
    """Return eight signs, of which seven are stored: an even number of them is set. seven: a word of which
    higher bits are zero."""
    folded = seven ^ seven >> 4
    folded = folded ^ folded >> 2
    return seven | ((folded ^ folded >> 1) & 1) << 7


signs_of = helper(eight_signs)  # for kernels


@helper
def put(values, at, scale, numbers, first, signs, count):  # type: ignore[no-untyped-def]
    """Write `count` numbers, numbers[first] and those after it with their signs, times `scale`, to `values`
    from index `at` on. signs: 0 to 255."""
    for i in range(count):
        values[at + i] = scale * numbers[first + i] * SIGNS[8 * signs + i]
