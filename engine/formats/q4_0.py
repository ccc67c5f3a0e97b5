"""Q4_0: 32 numbers in 18 bytes, 4.5 bits each.

A block holds: float16 scale; 16 bytes of 4-bit quants, with numbers 0..15 in the low halves of the bytes and
numbers 16..31 in the high halves.
number = scale * (quant - 8). Source: block_q4_0 and dequantize_row_q4_0 of ggml (ggml-quants.c).
"""

from collections.abc import Callable

import numpy as np

from engine.formats.blocks import BlockFormat, BlockParts, Word
from engine.formats.jit import half


def nibbles(word: Callable[[int], Word], at: int) -> list[Word]:
    """Return 32 quants of four bits, stored in the 16 bytes from offset `at` on, as eight quads."""
    return [word(at + 4 * i) >> shift & 0x0F0F0F0F for shift in (0, 4) for i in range(4)]


def split(word: Callable[[int], Word]) -> BlockParts:
    """See `engine.formats.blocks.Split`."""
    return BlockParts(nibbles(word, 2), word(0))


def unpack(data, p, values):  # type: ignore[no-untyped-def]
    """See `engine.formats.blocks.Unpack`."""
    d, q = half(data, p), p + 2
    for i in range(16):
        values[i] = d * np.float32((data[q + i] & 15) - 8)
        values[16 + i] = d * np.float32((data[q + i] >> 4) - 8)


FORMAT = BlockFormat("Q4_0", (0,), unpack, split, bits=4, offset=8)
