"""TQ1_0: 256 numbers in 54 bytes, 1.6875 bits each.

A block holds three runs of bytes, then a float16 scale. Each byte holds digits in base 3, as a fraction of
256: quant n is the integer part of three times the fraction (byte * 3^n mod 256) / 256. 32 bytes hold five
times 32 numbers, those of quant 0 first; 16 bytes five times 16 numbers; four bytes four times four.
number = scale * (quant - 1): of models whose weights are -1, 0 or 1. Source: block_tq1_0 and
dequantize_row_tq1_0 of ggml (ggml-quants.c).
"""

from collections.abc import Callable

import numpy as np

from engine.formats.blocks import BlockFormat, BlockParts, Word
from engine.formats.jit import half

# The runs: offset of the first byte, number of bytes, quants in a byte.
RUNS = ((0, 32, 5), (32, 16, 5), (48, 4, 4))


def digits(bytes_: Word, power: int) -> Word:
    """Return the quant of two bytes, each in the low half of 16 bits."""
    fraction = bytes_ * power & 0x00FF00FF
    return fraction * 3 >> 8 & 0x00030003


def split(word: Callable[[int], Word]) -> BlockParts:
    """See `engine.formats.blocks.Split`."""
    quads = []
    for first, nbytes, quants in RUNS:
        for n in range(quants):
            for at in range(first, first + nbytes, 4):
                even, odd = word(at) & 0x00FF00FF, word(at) >> 8 & 0x00FF00FF
                quads.append(digits(even, 3**n) | digits(odd, 3**n) << 8)
    return BlockParts(quads, word(50) >> 16)


def unpack(data, p, values):  # type: ignore[no-untyped-def]
    """See `engine.formats.blocks.Unpack`."""
    d = half(data, p + 52)
    at = 0
    for first, nbytes, quants in RUNS:
        power = 1
        for _ in range(quants):
            for i in range(nbytes):
                quant = (data[p + first + i] * power & 255) * 3 >> 8
                values[at + i] = d * np.float32(quant - 1)
            at += nbytes
            power *= 3


FORMAT = BlockFormat("TQ1_0", (52,), unpack, split, bits=2, offset=1, group=256)
