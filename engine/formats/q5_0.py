"""Q5_0: 32 numbers in 22 bytes, 5.5 bits each.

A block holds: float16 scale; 4 bytes with the fifth bits of the quants (that of number i is bit i of the
little-endian word); 16 bytes with the low four bits, those of numbers 0..15 in the low halves of the bytes
and those of numbers 16..31 in the high halves.
number = scale * (quant - 16). Source: block_q5_0 and dequantize_row_q5_0 of ggml (ggml-quants.c).
"""

from collections.abc import Callable

import numpy as np

from engine.formats.blocks import BlockFormat, BlockParts, Word, bits_of_quad
from engine.formats.jit import half, word
from engine.formats.q4_0 import nibbles


def fives(word: Callable[[int], Word], at: int) -> list[Word]:
    """Return 32 quants of five bits, stored in the 20 bytes from offset `at` on, as eight quads."""
    low, fifth = nibbles(word, at + 4), word(at)
    return [quad | bits_of_quad(fifth, 4 * i) << 4 for i, quad in enumerate(low)]


def split(word: Callable[[int], Word]) -> BlockParts:
    """See `engine.formats.blocks.Split`."""
    return BlockParts(fives(word, 2), word(0))


def unpack(data, p, values):  # type: ignore[no-untyped-def]
    """See `engine.formats.blocks.Unpack`."""
    d, fifth, q = half(data, p), word(data, p + 2), p + 6
    for i in range(16):
        values[i] = d * np.float32((data[q + i] & 15 | (fifth >> i & 1) << 4) - 16)
        values[16 + i] = d * np.float32((data[q + i] >> 4 | (fifth >> 16 + i & 1) << 4) - 16)


FORMAT = BlockFormat("Q5_0", (0,), unpack, split, bits=5, offset=16)
