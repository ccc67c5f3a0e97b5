"""Q2_K: 256 numbers in 84 bytes, 2.625 bits each.

A block holds: 16 bytes, one for each sub-block of 16 numbers, with a 4-bit scale in the low half and a 4-bit
minimum in the high half; 64 bytes of 2-bit quants: the first 32 bytes hold numbers 0..127, the others numbers
128..255, with numbers 32j..32j+31 of each half at bits 2j and 2j+1; float16 scale of scales; float16 scale
of minima.
number = scale of scales * scale * quant - scale of minima * minimum. Source: block_q2_K and
dequantize_row_q2_K of ggml (ggml-quants.c).
"""

from collections.abc import Callable

import numpy as np

from engine.formats.blocks import BlockFormat, BlockParts, Word, in_bytes
from engine.formats.jit import half


def twos(word: Callable[[int], Word], at: int) -> list[Word]:
    """Return 256 quants of two bits, stored in the 64 bytes from offset `at` on, as 64 quads."""
    places = [(at + 32 * (j // 4), 2 * (j % 4)) for j in range(8)]  # of 32 numbers each
    return [word(start + 4 * i) >> shift & 0x03030303 for start, shift in places for i in range(8)]


def split(word: Callable[[int], Word]) -> BlockParts:
    """See `engine.formats.blocks.Split`."""
    pairs = in_bytes([word(4 * i) for i in range(4)])
    small = [part for pair in pairs for part in (pair & 15, pair >> 4 & 15)]
    return BlockParts(twos(word, 16), word(80), word(80) >> 16, small)


def unpack(data, p, values):  # type: ignore[no-untyped-def]
    """See `engine.formats.blocks.Unpack`."""
    d, dmin = half(data, p + 80), half(data, p + 82)
    for h in range(2):
        for j in range(8):
            scale, minimum = data[p + 8 * h + j] & 15, data[p + 8 * h + j] >> 4
            s, m = d * np.float32(scale), dmin * np.float32(minimum)
            q, shift = p + 16 + 32 * h + 16 * (j & 1), 2 * (j // 2)
            for i in range(16):
                values[128 * h + 16 * j + i] = s * np.float32(data[q + i] >> shift & 3) - m


FORMAT = BlockFormat("Q2_K", (80, 82), unpack, split, bits=2, group=16)
