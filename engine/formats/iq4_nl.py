"""IQ4_NL: 32 numbers in 18 bytes, 4.5 bits each.

A block holds: float16 scale; 16 bytes of 4-bit quants, laid out as in Q4_0.
number = scale * LEVELS[quant]. Source: block_iq4_nl, kvalues_iq4nl (ggml-common.h) and dequantize_row_iq4_nl
of ggml (ggml-quants.c).
"""

from collections.abc import Callable

import numpy as np

from engine.formats.blocks import BlockFormat, BlockParts, Word
from engine.formats.jit import half
from engine.formats.q4_0 import nibbles

# The code book of IQ4_NL and IQ4_XS: the number that each quant stands for, before scaling.
LEVELS = (-127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113)
TABLE = np.array(LEVELS, np.float32)


def split(word: Callable[[int], Word]) -> BlockParts:
    """See `engine.formats.blocks.Split`."""
    return BlockParts(nibbles(word, 2), word(0))


def unpack(data, p, values):  # type: ignore[no-untyped-def]
    """See `engine.formats.blocks.Unpack`."""
    d, q = half(data, p), p + 2
    for i in range(16):
        values[i] = d * TABLE[data[q + i] & 15]
        values[16 + i] = d * TABLE[data[q + i] >> 4]


FORMAT = BlockFormat("IQ4_NL", (0,), unpack, split, bits=4, levels=LEVELS)
