"""ggml's block formats: a row is a sequence of blocks, and a block holds a few numbers with scales of its
own."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from engine.checkpoints.storage import BLOCKS
from engine.formats.block_scales import KINDS
from engine.formats.code_book import CodeBook
from engine.formats.format import Parts, RowFormat
from engine.formats.jit import helper, kernel, spread, store

# How many blocks a thread unpacks at a time: so many that taking the next piece costs next to nothing.
_PIECE = 2048

# Unpacks one block, in compiled code: (data uint8 [bytes], the block's offset there, float32 [values of a
# block], which it fills)
Unpack = Callable[[NDArray[np.uint8], int, NDArray[np.float32]], None]
# A compiled loop over blocks: (data uint8 [blocks * bytes], out [blocks * values], float32, or uint16 for
# bfloat16)
Kernel = Callable[[NDArray[np.uint8], NDArray[Any]], None]

# An unsigned 32-bit word, or a vector or array of them: anything with the operators << >> & | ^ * + -.
Word = Any


@dataclass(frozen=True, slots=True)
class BlockParts:
    """A block taken apart into words.

    Attributes: `quads`: the quants in the order of the columns, four in the bytes of a word; quants are
    unsigned: a format's offset is added. `scale`, `minimum`: float16 (bfloat16 for scales of E8M0), in the
    low half of a word. `small`: the 8-bit scales in the order of the columns, each followed by its minimum if
    there is one, in the low byte of a word; higher bytes have no meaning. `scales`: in place of `scale`,
    where groups have 16-bit scales of their own, these in the order of the columns.
    """

    quads: Sequence[Word]
    scale: Word | None = None
    minimum: Word | None = None
    small: Sequence[Word] = ()
    scales: Sequence[Word] = ()


class BlockWords(Protocol):
    """The words of a block, or of many at once."""

    def __call__(self, at: int, /) -> Word:
        """Return the little-endian word at offset `at` in the block."""

    def vector(self, book: CodeBook, index: Word) -> list[Word]:
        """Return the words of the vector `index` in `book`, four columns in each."""


# Takes a block apart. Formats without a code book only call its argument.
Split = Callable[[BlockWords], BlockParts]


@cache
def kernel_of(name: str, unpack: Unpack) -> Kernel:
    """Return the kernel of a format whose blocks `unpack` unpacks."""
    count, nbytes = BLOCKS[name]
    unpack_block = helper(unpack)

    def loop(data, out):  # type: ignore[no-untyped-def]
        values = np.empty(count, np.float32)
        for block in range(len(data) // nbytes):
            unpack_block(data, block * nbytes, values)
            store(values, out, block * count)

    loop.__name__ = loop.__qualname__ = f"unpack_{name}"  # the compiler's cache goes by names
    return kernel(loop)


def in_bytes(words: Sequence[Word]) -> list[Word]:
    """Return a word for each byte of `words`, with that byte as its low byte."""
    return [word >> 8 * byte for word in words for byte in range(4)]


def bits_of_quad(word: Word, at: int) -> Word:
    """Return a word whose four bytes are the bits at, at + 1, at + 2 and at + 3 of `word`."""
    return (word >> at & 15) * 0x00204081 & 0x01010101


@dataclass(frozen=True, slots=True)
class BlockFormat(RowFormat):
    """A format in which a row consists of blocks.

    number = scale * (quant - offset), or scale * factor * levels[quant], or scale * quant - minimum.

    Attributes: `scales`, the offsets of a block's scale and, in formats that have one, of its minimum;
    `scale`, how these are stored, one of `engine.formats.block_scales.KINDS`; `unpack_block`;
    `split`, which takes blocks apart; `bits`, of a quant; `offset`; `levels`, the number, -128 to 127, that
    each quant stands for, if quants are not numbers themselves, and `factor`, a power of two; `group`, how
    many numbers share a scale: if these are fewer than a block's, scale and minimum are float16 numbers times
    an 8-bit number for each group (`BlockParts.small`), unless each group has a scale in E4M3; `signed`,
    whether such 8-bit scales are signed.
    """

    name: str
    scales: tuple[int, ...]
    unpack_block: Unpack
    split: Split
    bits: int
    offset: float = 0
    levels: tuple[int, ...] = ()
    group: int = 32
    signed: bool = False
    scale: str = "F16"
    factor: float = 1.0

    @property
    def kernel(self) -> Kernel:
        """The compiled loop that unpacks blocks."""
        return kernel_of(self.name, self.unpack_block)

    @property
    def values(self) -> int:
        """How many numbers a block holds."""
        return BLOCKS[self.name][0]

    @property
    def nbytes(self) -> int:
        """The size of a block."""
        return BLOCKS[self.name][1]

    @property
    def minima(self) -> bool:
        """Whether a group has a minimum."""
        return len(self.scales) == 2

    @property
    def supers(self) -> bool:
        """Whether each group has an 8-bit scale, by which the scale of the block is multiplied."""
        return self.group < self.values and self.scale != "E4M3"

    @property
    def part_types(self) -> tuple[str, ...]:
        return ("U8",)

    def valid(self, parts: Parts) -> bool:
        blocks = parts[0].reshape(-1, self.nbytes)
        return all(KINDS[self.scale].finite(blocks, at) for at in self.scales)

    def limit_scales(self, blocks: Any) -> None:
        """Make the scales of random blocks, uint8 [blocks, bytes], finite and of usual size, in place."""
        for at in self.scales:
            KINDS[self.scale].limit(blocks, at)

    def unpack(self, data: NDArray[np.uint8], out: NDArray[Any]) -> None:
        """Unpack whole blocks at any address, uint8 [bytes], on all cores, to `out` [numbers]: float32, or
        uint16 for bfloat16."""

        kernel, values, nbytes = self.kernel, self.values, self.nbytes

        def work(start: int, stop: int) -> None:
            kernel(data[start * nbytes : stop * nbytes], out[start * values : stop * values])

        spread(len(data) // nbytes, work, _PIECE)
