"""Q1_0: 128 numbers in 18 bytes, 1.125 bits each.

A block holds: float16 scale; 16 bytes with a bit for each number, the first one lowest.
number = scale if the bit is set, else -scale: twice the scale times (quant - 1/2). Source: block_q1_0 and
dequantize_row_q1_0 of ggml (ggml-quants.c).
"""

from collections.abc import Callable

from engine.formats.blocks import BlockFormat, BlockParts, Word, bits_of_quad
from engine.formats.jit import half


def split(word: Callable[[int], Word]) -> BlockParts:
    """See `engine.formats.blocks.Split`."""
    quads = [bits_of_quad(word(2 + 4 * j), at) for j in range(4) for at in range(0, 32, 4)]
    return BlockParts(quads, word(0))


def unpack(data, p, values):  # type: ignore[no-untyped-def]
    """See `engine.formats.blocks.Unpack`."""
    d = half(data, p)
    for i in range(128):
        bit = data[p + 2 + i // 8] >> i % 8 & 1
        values[i] = d if bit else -d


FORMAT = BlockFormat("Q1_0", (0,), unpack, split, bits=1, offset=0.5, group=128, factor=2.0)
