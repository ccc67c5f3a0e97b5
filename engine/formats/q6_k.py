"""Q6_K: 256 numbers in 210 bytes, 6.5625 bits each.

A block holds: 128 bytes with the low four bits of the quants: the first 64 bytes hold those of numbers
0..127, the others those of numbers 128..255, with the first 64 of these numbers in the low halves of the
bytes and the other 64 in the high halves; 64 bytes with the high two bits of the quants, laid out as the
quants of Q2_K; 16 int8 scales, each for 16 numbers; float16 scale of scales.
number = scale of scales * scale * (quant - 32). Source: block_q6_K and dequantize_row_q6_K of ggml
(ggml-quants.c).
"""

from collections.abc import Callable

import numpy as np

from engine.formats.blocks import BlockFormat, BlockParts, Word, in_bytes
from engine.formats.jit import half
from engine.formats.q2_k import twos


def split(word: Callable[[int], Word]) -> BlockParts:
    """See `engine.formats.blocks.Split`."""
    places = [(64 * (j // 4) + 32 * (j & 1), 4 * (j % 4 // 2)) for j in range(8)]  # of 32 numbers each
    low = [word(start + 4 * i) >> shift & 0x0F0F0F0F for start, shift in places for i in range(8)]
    quads = [four | two << 4 for four, two in zip(low, twos(word, 128), strict=True)]
    return BlockParts(quads, word(206) >> 16, small=in_bytes([word(192 + 4 * i) for i in range(4)]))


def unpack(data, p, values):  # type: ignore[no-untyped-def]
    """See `engine.formats.blocks.Unpack`."""
    d = half(data, p + 208)
    for h in range(2):
        for j in range(8):
            s = d * np.float32(np.int8(data[p + 192 + 8 * h + j]))
            low, low_shift = p + 64 * h + 16 * (j & 3), 4 * (j // 4)
            high, high_shift = p + 128 + 32 * h + 16 * (j & 1), 2 * (j // 2)
            for i in range(16):
                quant = data[low + i] >> low_shift & 15 | (data[high + i] >> high_shift & 3) << 4
                values[128 * h + 16 * j + i] = s * np.float32(quant - 32)


FORMAT = BlockFormat("Q6_K", (208,), unpack, split, bits=6, offset=32, group=16, signed=True)
