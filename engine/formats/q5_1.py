"""Q5_1: 32 numbers in 24 bytes, 6 bits each.

A block holds: float16 scale; float16 minimum; 20 bytes of 5-bit quants, laid out as in Q5_0.
number = scale * quant + minimum. Source: block_q5_1 and dequantize_row_q5_1 of ggml (ggml-quants.c).
"""

from collections.abc import Callable

import numpy as np

from engine.formats.blocks import BlockFormat, BlockParts, Word
from engine.formats.jit import half, word
from engine.formats.q5_0 import fives


def split(word: Callable[[int], Word]) -> BlockParts:
    """See `engine.formats.blocks.Split`."""
    return BlockParts(fives(word, 4), word(0), word(0) >> 16 ^ 0x8000)


def unpack(data, p, values):  # type: ignore[no-untyped-def]
    """See `engine.formats.blocks.Unpack`."""
    d, m, fifth, q = half(data, p), half(data, p + 2), word(data, p + 4), p + 8
    for i in range(16):
        values[i] = d * np.float32(data[q + i] & 15 | (fifth >> i & 1) << 4) + m
        values[16 + i] = d * np.float32(data[q + i] >> 4 | (fifth >> 16 + i & 1) << 4) + m


FORMAT = BlockFormat("Q5_1", (0, 2), unpack, split, bits=5)
