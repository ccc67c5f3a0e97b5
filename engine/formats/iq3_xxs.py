"""IQ3_XXS: 256 numbers in 98 bytes, 3.0625 bits each.

A block holds: float16 scale of scales; 64 indices of a byte, each of a vector of four magnitudes; a
little-endian word for each 32 numbers with seven signs for each eight numbers, those of eight k at bits 7k to
7k+6, and in its highest four bits the scale. The eighth sign makes the number of set ones even.
number = scale of scales * (2 * scale + 1) / 4 * sign * magnitude. Source: block_iq3_xxs, iq3xxs_grid
(ggml-common.h) and dequantize_row_iq3_xxs of ggml (ggml-quants.c).
"""

import numpy as np

from engine.formats.blocks import BlockFormat, BlockParts, BlockWords, bits_of_quad
from engine.formats.code_book import CodeBook, eight_signs, put, signs_of
from engine.formats.jit import half, word

BOOK = CodeBook(
    (4, 12, 20, 28, 36, 44, 52, 62),
    4,
    "6^aD{1ONai3I!qs0uTTJ6#@l{0D=G@f(0M|0000100;np5P$$Ef&c&n00aO40000W000mG08sz{2mk^A3Iz%kfB^si1p);C00000"
    "3IzfI000041pom8Kmb4hA^-pY00961000pHKmY&&AOHXW00000000C40RR911qww11ONa4Dg^=o004*q1%d^D0U!VX0ucZJ0000H"
    "0000W00;m82mpWp0ssII00000000003P1n=AOHXW0tE^H00AHb1pom8Pyhe`3IQMh00aO800ICA0000000001fB*mlK>!2*03ZMW"
    "01yB`000O800008000315P$%n0Ehqp000000000G0004i0RTY&fB*mhAOHXW5C8xG00IyI001BW2mk;90000000000AO!#c00000"
    "00aO40ssI3K>$Di03ZMW01yBK000041ONa400;m800D>q000041ONa6000000000000961000mG1ONa4000mGPyi4B0006200062"
    "0Du4h000mG0000%00000000005C8xGAOHXW00aO400008000002mk^A00000r~v>300aO4002M$0RR9100aO4AOrva0U!Vf00031"
    "000620ssI21pp8L0000000001000000000000000",
)
NUMBERS = BOOK.numbers()


def split(block: BlockWords) -> BlockParts:
    """See `engine.formats.blocks.Split`."""
    quads, small = [], []
    for j in range(8):
        rest = block(66 + 4 * j)
        for k in range(8):
            signs = bits_of_quad(eight_signs(rest >> 7 * (k // 2) & 127), 4 * (k % 2))
            index = block(2 + 8 * j + 4 * (k // 4)) >> 8 * (k % 4) & 255
            quads += [word | signs << BOOK.sign for word in block.vector(BOOK, index)]
        small.append((rest >> 28 & 15) * 2 + 1)
    return BlockParts(quads, block(0), small=small)


def unpack(data, p, values):  # type: ignore[no-untyped-def]
    """See `engine.formats.blocks.Unpack`."""
    d = half(data, p) * np.float32(0.25)
    for j in range(8):
        rest = word(data, p + 66 + 4 * j)
        s = d * np.float32(2 * (rest >> 28) + 1)
        for k in range(8):
            signs = signs_of(rest >> 7 * (k // 2) & 127) >> 4 * (k & 1)
            put(values, 32 * j + 4 * k, s, NUMBERS, 4 * data[p + 2 + 8 * j + k], signs & 15, 4)


FORMAT = BlockFormat("IQ3_XXS", (0,), unpack, split, bits=4, levels=BOOK.levels, factor=1 / 4)
