"""NVFP4 as ggml stores it: 64 numbers in 36 bytes, 4.5 bits each.

A block holds: four scales in E4M3, a byte for each 16 numbers, whose sign is ignored and whose NaN counts as
0; for each scale, 8 bytes of 4-bit quants, the first eight numbers in the low halves.
number = scale / 2 * LEVELS[quant]: numbers of FP4 (E2M1), doubled. Source: block_nvfp4, kvalues_mxfp4,
ggml_ue4m3_to_fp32 and dequantize_row_nvfp4 of ggml.
"""

import numpy as np

from engine.formats.blocks import BlockFormat, BlockParts, BlockWords, Word, in_bytes
from engine.formats.jit import half_of
from engine.formats.mxfp4 import LEVELS, TABLE

# As float16, the bits of E4M3 have an exponent that is smaller by 8: the factor is half of 2^8.
FACTOR = 128.0


def as_half(small: Word) -> Word:
    """Return the bits of a scale as a float16. small: in the low byte."""
    number = ((small & 255 ^ 127) + 255) >> 8 & 1  # 0 for NaN
    return (small & 127) * number << 7


def split(block: BlockWords) -> BlockParts:
    """See `engine.formats.blocks.Split`."""
    words = [[block(4 + 8 * j + 4 * i) for i in range(2)] for j in range(4)]
    quads = [word >> shift & 0x0F0F0F0F for pair in words for shift in (0, 4) for word in pair]
    return BlockParts(quads, scales=[as_half(small) for small in in_bytes([block(0)])])


def unpack(data, p, values):  # type: ignore[no-untyped-def]
    """See `engine.formats.blocks.Unpack`."""
    for j in range(4):
        small = data[p + j]
        word = np.uint32(0) if small == 127 else np.uint32(small & 127) << 7
        d, q = half_of(word & 255, word >> 8) * np.float32(FACTOR), p + 4 + 8 * j
        for i in range(8):
            values[16 * j + i] = d * TABLE[data[q + i] & 15]
            values[16 * j + 8 + i] = d * TABLE[data[q + i] >> 4]


FORMAT = BlockFormat(
    "NVFP4", (0, 1, 2, 3), unpack, split, bits=4, levels=LEVELS, group=16, scale="E4M3", factor=FACTOR
)
