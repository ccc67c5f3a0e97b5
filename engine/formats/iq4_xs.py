"""IQ4_XS: 256 numbers in 136 bytes, 4.25 bits each.

A block holds: float16 scale of scales; 2 bytes with the high two bits of eight 6-bit scales, each for 32
numbers (those of scale j at bits 2j and 2j+1 of the little-endian word); 4 bytes with the low four bits of
the scales, two scales in a byte, low half first; 128 bytes of 4-bit quants: 16 bytes for each 32 numbers,
laid out as in IQ4_NL.
number = scale of scales * (scale - 32) * LEVELS[quant]. Source: block_iq4_xs and dequantize_row_iq4_xs of
ggml (ggml-quants.c).
"""

from collections.abc import Callable

import numpy as np

from engine.formats.blocks import BlockFormat, BlockParts, Word
from engine.formats.iq4_nl import LEVELS, TABLE
from engine.formats.jit import half
from engine.formats.q4_0 import nibbles


def split(word: Callable[[int], Word]) -> BlockParts:
    """See `engine.formats.blocks.Split`."""
    low, high = word(4), word(0) >> 16
    scales = [low >> 4 * j & 15 | (high >> 2 * j & 3) << 4 for j in range(8)]
    quads = [quad for j in range(8) for quad in nibbles(word, 8 + 16 * j)]
    return BlockParts(quads, word(0), small=[scale - 32 for scale in scales])


def unpack(data, p, values):  # type: ignore[no-untyped-def]
    """See `engine.formats.blocks.Unpack`."""
    d = half(data, p)
    for j in range(8):
        low, high = data[p + 4 + j // 2] >> 4 * (j & 1) & 15, data[p + 2 + j // 4] >> 2 * (j & 3) & 3
        s, q = d * np.float32((low | high << 4) - 32), p + 8 + 16 * j
        for i in range(16):
            values[32 * j + i] = s * TABLE[data[q + i] & 15]
            values[32 * j + 16 + i] = s * TABLE[data[q + i] >> 4]


FORMAT = BlockFormat("IQ4_XS", (0,), unpack, split, bits=4, levels=LEVELS, signed=True)
