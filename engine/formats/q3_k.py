"""Q3_K: 256 numbers in 110 bytes, 3.4375 bits each.

A block holds: 32 bytes with the third bits of the quants (that of number 32j+i is bit j of byte i); 64 bytes
with the low two bits of the quants, laid out as in Q2_K; 12 bytes with sixteen 6-bit scales, each for 16
numbers; float16 scale of scales. Of the 12 bytes, bytes 0..7 hold the low four bits of scales 0..7 in their
low halves and of scales 8..15 in their high halves; bytes 8..11 hold the high two bits, those of scales
4k..4k+3 at bits 2k and 2k+1.
number = scale of scales * (scale - 32) * (quant - 4). Source: block_q3_K and dequantize_row_q3_K of ggml
(ggml-quants.c).
"""

from collections.abc import Callable

import numpy as np

from engine.formats.blocks import BlockFormat, BlockParts, Word, in_bytes
from engine.formats.jit import half
from engine.formats.q2_k import twos


def split(word: Callable[[int], Word]) -> BlockParts:
    """See `engine.formats.blocks.Split`."""
    third = [word(4 * i) >> j & 0x01010101 for j in range(8) for i in range(8)]
    high = word(104)
    scales = [
        word(96 + 4 * (i & 1)) >> 4 * (i // 2) & 0x0F0F0F0F | (high >> 2 * i & 0x03030303) << 4
        for i in range(4)
    ]
    quads = [low | bit << 2 for low, bit in zip(twos(word, 32), third, strict=True)]
    return BlockParts(quads, word(106) >> 16, small=[(byte & 63) - 32 for byte in in_bytes(scales)])


def unpack(data, p, values):  # type: ignore[no-untyped-def]
    """See `engine.formats.blocks.Unpack`."""
    d = half(data, p + 108)
    for h in range(2):
        for j in range(8):
            low = data[p + 96 + j] >> 4 * h & 15
            high = data[p + 104 + (j & 3)] >> 4 * h + 2 * (j // 4) & 3
            s = d * np.float32((low | high << 4) - 32)
            q, shift = p + 32 + 32 * h + 16 * (j & 1), 2 * (j // 2)
            third, bit = p + 16 * (j & 1), 4 * h + j // 2
            for i in range(16):
                quant = data[q + i] >> shift & 3 | (data[third + i] >> bit & 1) << 2
                values[128 * h + 16 * j + i] = s * np.float32(quant - 4)


FORMAT = BlockFormat("Q3_K", (108,), unpack, split, bits=3, offset=4, group=16, signed=True)
