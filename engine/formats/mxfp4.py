"""MXFP4: 32 numbers in 17 bytes, 4.25 bits each.

A block holds: a byte, the exponent of the scale; 16 bytes of 4-bit quants, laid out as in Q4_0.
number = 2^(exponent - 128) * LEVELS[quant]: numbers of FP4 (E2M1), doubled, by the half of an E8M0 scale
(OCP Microscaling Formats). Source: block_mxfp4, kvalues_mxfp4 and dequantize_row_mxfp4 of ggml.
"""

from collections.abc import Callable

import numpy as np

from engine.formats.blocks import BlockFormat, BlockParts, Word
from engine.formats.q4_0 import nibbles

# The numbers of FP4, doubled: a sign, two bits of exponent, one of mantissa.
LEVELS = (0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12)
TABLE = np.array(LEVELS, np.float32)


def split(word: Callable[[int], Word]) -> BlockParts:
    """See `engine.formats.blocks.Split`."""
    exponent = word(0) & 255
    normal = exponent + 254 >> 8  # whether it is at least 2; bfloat16 is subnormal for smaller ones
    scale = (exponent - 1 << 7) * normal | (exponent + 1 << 5) * (normal ^ 1)
    return BlockParts(nibbles(word, 1), scale)


def unpack(data, p, values):  # type: ignore[no-untyped-def]
    """See `engine.formats.blocks.Unpack`."""
    exponent, q = np.uint32(data[p]), p + 1
    bits = np.uint32((exponent - 1) << 23 if exponent > 1 else 0x200000 << exponent)
    d = bits.view(np.float32)
    for i in range(16):
        values[i] = d * TABLE[data[q + i] & 15]
        values[16 + i] = d * TABLE[data[q + i] >> 4]


FORMAT = BlockFormat("MXFP4", (0,), unpack, split, bits=4, levels=LEVELS, scale="E8M0")
