"""TQ2_0: 256 numbers in 66 bytes, 2.0625 bits each.

A block holds: 64 bytes of 2-bit quants, laid out as in Q2_K; float16 scale.
number = scale * (quant - 1): of models whose weights are -1, 0 or 1. Source: block_tq2_0 and
dequantize_row_tq2_0 of ggml (ggml-quants.c).
"""

from collections.abc import Callable

import numpy as np

from engine.formats.blocks import BlockFormat, BlockParts, Word
from engine.formats.jit import half
from engine.formats.q2_k import twos


def split(word: Callable[[int], Word]) -> BlockParts:
    """See `engine.formats.blocks.Split`."""
    return BlockParts(twos(word, 0), word(62) >> 16)


def unpack(data, p, values):  # type: ignore[no-untyped-def]
    """See `engine.formats.blocks.Unpack`."""
    d = half(data, p + 64)
    for j in range(8):
        q, shift = p + 32 * (j // 4), 2 * (j % 4)
        for i in range(32):
            values[32 * j + i] = d * np.float32((data[q + i] >> shift & 3) - 1)


FORMAT = BlockFormat("TQ2_0", (64,), unpack, split, bits=2, offset=1, group=256)
