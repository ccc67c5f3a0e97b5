"""Q5_K: 256 numbers in 176 bytes, 5.5 bits each.

A block is laid out as in Q4_K, but 32 more bytes, before those with 4 bits of each quant, hold the fifth
bits: bit j of byte i is that of number i in sub-block j.
number = scale of scales * scale * quant - scale of minima * minimum. Source: block_q5_K and
dequantize_row_q5_K of ggml (ggml-quants.c).
"""

from collections.abc import Callable

import numpy as np

from engine.formats.blocks import BlockFormat, BlockParts, Word
from engine.formats.jit import half
from engine.formats.q4_k import fours, packed_scales, scale_and_minimum


def split(word: Callable[[int], Word]) -> BlockParts:
    """See `engine.formats.blocks.Split`."""
    fifth = [word(16 + 4 * i) >> j & 0x01010101 for j in range(8) for i in range(8)]
    quads = [low | bit << 4 for low, bit in zip(fours(word, 48), fifth, strict=True)]
    return BlockParts(quads, word(0), word(0) >> 16, packed_scales(word))


def unpack(data, p, values):  # type: ignore[no-untyped-def]
    """See `engine.formats.blocks.Unpack`."""
    d, dmin = half(data, p), half(data, p + 2)
    for j in range(8):
        scale, minimum = scale_and_minimum(data, p + 4, j)
        s, m = d * np.float32(scale), dmin * np.float32(minimum)
        fifth, q, shift = p + 16, p + 48 + 32 * (j // 2), 4 * (j & 1)
        for i in range(32):
            quant = data[q + i] >> shift & 15 | (data[fifth + i] >> j & 1) << 4
            values[32 * j + i] = s * np.float32(quant) - m


FORMAT = BlockFormat("Q5_K", (0, 2), unpack, split, bits=5)
