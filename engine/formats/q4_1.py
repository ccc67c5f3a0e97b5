"""Q4_1: 32 numbers in 20 bytes, 5 bits each.

A block holds: float16 scale; float16 minimum; 16 bytes of 4-bit quants, laid out as in Q4_0.
number = scale * quant + minimum. Source: block_q4_1 and dequantize_row_q4_1 of ggml (ggml-quants.c).
"""

from collections.abc import Callable

import numpy as np

from engine.formats.blocks import BlockFormat, BlockParts, Word
from engine.formats.jit import half
from engine.formats.q4_0 import nibbles


def split(word: Callable[[int], Word]) -> BlockParts:
    """See `engine.formats.blocks.Split`."""
    return BlockParts(nibbles(word, 4), word(0), word(0) >> 16 ^ 0x8000)


def unpack(data, p, values):  # type: ignore[no-untyped-def]
    """See `engine.formats.blocks.Unpack`."""
    d, m, q = half(data, p), half(data, p + 2), p + 4
    for i in range(16):
        values[i] = d * np.float32(data[q + i] & 15) + m
        values[16 + i] = d * np.float32(data[q + i] >> 4) + m


FORMAT = BlockFormat("Q4_1", (0, 2), unpack, split, bits=4)
