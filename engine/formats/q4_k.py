"""Q4_K: 256 numbers in 144 bytes, 4.5 bits each.

A block holds: float16 scale of scales; float16 scale of minima; 12 bytes with eight 6-bit scales and eight
6-bit minima, one of each for every sub-block of 32 numbers, packed as `scale_and_minimum` reads them; 128
bytes of 4-bit quants: bytes 32j..32j+31 hold sub-block 2j in their low halves and sub-block 2j+1 in their
high halves.
number = scale of scales * scale * quant - scale of minima * minimum. Source: block_q4_K and
dequantize_row_q4_K of ggml (ggml-quants.c).
"""

from collections.abc import Callable

import numpy as np

from engine.formats.blocks import BlockFormat, BlockParts, Word, in_bytes
from engine.formats.jit import half, helper


@helper
def scale_and_minimum(data, at, j):  # type: ignore[no-untyped-def]
    """Return scale and minimum of sub-block j from the 12 bytes at data[at]."""
    if j < 4:
        return data[at + j] & 63, data[at + 4 + j] & 63
    low = data[at + 4 + j]
    return low & 15 | data[at + j - 4] >> 6 << 4, low >> 4 | data[at + j] >> 6 << 4


def packed_scales(word: Callable[[int], Word]) -> list[Word]:
    """Return the eight scales, each followed by its minimum, of the 12 bytes from offset 4 on."""
    low, high, rest = word(4), word(8), word(12)
    scales = low & 0x3F3F3F3F, rest & 0x0F0F0F0F | (low >> 6 & 0x03030303) << 4
    minima = high & 0x3F3F3F3F, rest >> 4 & 0x0F0F0F0F | (high >> 6 & 0x03030303) << 4
    pairs = zip(in_bytes(scales), in_bytes(minima), strict=True)
    return [part for pair in pairs for part in pair]


def fours(word: Callable[[int], Word], at: int) -> list[Word]:
    """Return 256 quants of four bits, stored in the 128 bytes from offset `at` on, as 64 quads."""
    places = [(at + 32 * (j // 2), 4 * (j & 1)) for j in range(8)]
    return [word(start + 4 * i) >> shift & 0x0F0F0F0F for start, shift in places for i in range(8)]


def split(word: Callable[[int], Word]) -> BlockParts:
    """See `engine.formats.blocks.Split`."""
    return BlockParts(fours(word, 16), word(0), word(0) >> 16, packed_scales(word))


def unpack(data, p, values):  # type: ignore[no-untyped-def]
    """See `engine.formats.blocks.Unpack`."""
    d, dmin = half(data, p), half(data, p + 2)
    for j in range(8):
        scale, minimum = scale_and_minimum(data, p + 4, j)
        s, m = d * np.float32(scale), dmin * np.float32(minimum)
        q, shift = p + 16 + 32 * (j // 2), 4 * (j & 1)
        for i in range(32):
            values[32 * j + i] = s * np.float32(data[q + i] >> shift & 15) - m


FORMAT = BlockFormat("Q4_K", (0, 2), unpack, split, bits=4)
