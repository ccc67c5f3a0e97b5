"""Q8_0: 32 numbers in 34 bytes, 8.5 bits each.

A block holds: float16 scale; 32 int8 quants.
number = scale * quant. Source: block_q8_0 and dequantize_row_q8_0 of ggml (ggml-quants.c).
"""

from collections.abc import Callable

import numpy as np

from engine.formats.blocks import BlockFormat, BlockParts, Word
from engine.formats.jit import half


def split(word: Callable[[int], Word]) -> BlockParts:
    """See `engine.formats.blocks.Split`."""
    return BlockParts([word(2 + 4 * i) ^ 0x80808080 for i in range(8)], word(0))


def unpack(data, p, values):  # type: ignore[no-untyped-def]
    """See `engine.formats.blocks.Unpack`."""
    d, q = half(data, p), p + 2
    for i in range(32):
        values[i] = d * np.float32(np.int8(data[q + i]))


FORMAT = BlockFormat("Q8_0", (0,), unpack, split, bits=8, offset=128)
