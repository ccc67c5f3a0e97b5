"""IQ1_M: 256 numbers in 56 bytes, 1.75 bits each.

A block holds: 32 bytes with the low eight bits of the indices, each of a vector of eight numbers -1, 0 or 1,
from the code book of IQ1_S; 16 bytes, four bits for each vector: the high three of its index and the sign of
a shift of 1/8; four little-endian words of 16 bits, each with four 3-bit scales, each of 16 numbers, lowest
first, and in its highest four bits a quarter of the float16 scale of scales.
number = scale of scales * (2 * scale + 1) * (-1, 0 or 1, plus or minus 1/8). Source: block_iq1_m, iq1s_grid,
IQ1M_DELTA (ggml-common.h) and dequantize_row_iq1_m of ggml (ggml-quants.c).
"""

import numpy as np

from engine.formats.blocks import BlockFormat, BlockParts, BlockWords
from engine.formats.iq1_s import BOOK, LEVELS, NUMBERS
from engine.formats.jit import half_of


def split(block: BlockWords) -> BlockParts:
    """See `engine.formats.blocks.Split`."""
    quads, small = [], []
    for k in range(32):
        high = block(32 + 4 * (k // 8)) >> 4 * (k % 8)
        down = (high >> 3 & 1) * 0x04040404
        index = block(4 * (k // 4)) >> 8 * (k % 4) & 255 | (high & 7) << 8
        quads += [word | down for word in block.vector(BOOK, index)]
    first, second = block(48), block(52)
    for j in range(16):
        word = first if j < 8 else second
        small.append((word >> 16 * (j // 4 % 2) + 3 * (j % 4) & 7) * 2 + 1)
    scale = first >> 12 & 0xF | first >> 24 & 0xF0 | second >> 4 & 0xF00 | second >> 16 & 0xF000
    return BlockParts(quads, scale, small=small)


def unpack(data, p, values):  # type: ignore[no-untyped-def]
    """See `engine.formats.blocks.Unpack`."""
    d = half_of(data[p + 49] >> 4 | data[p + 51] & 0xF0, data[p + 53] >> 4 | data[p + 55] & 0xF0)
    for k in range(32):
        j = k // 2
        both = data[p + 48 + 2 * (j // 4)] | data[p + 49 + 2 * (j // 4)] << 8
        s = d * np.float32(2 * (both >> 3 * (j % 4) & 7) + 1)
        high = data[p + 32 + k // 2] >> 4 * (k % 2)
        shift = np.float32(-0.125) if high & 8 else np.float32(0.125)
        first = 8 * (data[p + k] | (high & 7) << 8)
        for i in range(8):
            values[8 * k + i] = s * (NUMBERS[first + i] + shift)


FORMAT = BlockFormat(
    "IQ1_M",
    (48,),
    unpack,
    split,
    bits=3,
    levels=LEVELS,
    group=16,
    scale="F16_IN_QUARTERS",
    factor=1 / 8,
)
