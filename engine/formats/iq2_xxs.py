"""IQ2_XXS: 256 numbers in 66 bytes, 2.0625 bits each.

A block holds: float16 scale of scales; 8 bytes for each 32 numbers: four indices, each of a vector of eight
magnitudes; a little-endian word with seven signs for each vector, those of vector k at bits 7k to 7k+6, and
in its highest four bits the scale. The eighth sign makes the number of set ones even.
number = scale of scales * (2 * scale + 1) / 8 * sign * magnitude. Source: block_iq2_xxs, iq2xxs_grid
(ggml-common.h) and dequantize_row_iq2_xxs of ggml (ggml-quants.c).
"""

import numpy as np

from engine.formats.blocks import BlockFormat, BlockParts, BlockWords, Word, bits_of_quad
from engine.formats.code_book import CodeBook, eight_signs, put, signs_of
from engine.formats.jit import half, word

MAGNITUDES = 8, 25, 43  # in all books of two bits

BOOK = CodeBook(
    MAGNITUDES,
    8,
    "RTUIf5JW*i00b0701yBG00ck)6aYW~00004002-BKtT}z0Tcv4Py|2#5C8xL5C8yB0003106+i$K@<c)6chje1ONa8000C400000"
    "00a;K000000000K1P~AaKmY_000aRL06;(h0RR91000350000001yN~1V8`)1ONa401yBG01yBG06+i`00000000001pxpA002M$"
    "000pH000000000100000KmY&$000yO000310R;d60000G5C8xG002+`0000000000KtTWi0YCr%002M$000C4KmY&$0000000000"
    "KmY(h00aO400004000000000000000000010000008kJ_K@boD6a)Ye06+i$00cw;06;(h06;(h0RR9%5C8!H000mG5C8xK5C8xG"
    "000000RR9100000000yO01yEH000001ONa401yEL00000000C4000C45JXS_000040RR92000C4000000RR9100000KmY&$00000"
    "002M%000310000000004000000RR9100a;O0000400000002M$00000000C40000000000K>z>&0003106+i$002M$0000006+i$"
    "01yBG000pH000000000002BZK00004000000000000000000000RR910000000000000000000000000002Ni000C406+i$00ck)"
    "1ONa4000001ONa40000002D+35CA{`00004000040000G000C4KmY&%0000$00000000000003100000000000096100000000C5"
    "5Ci}K0000106+i$002M$0000000031000001OPw)0RR910000000001000000000000000000000000001yBG000010000000000"
    "000000000000aO401yBG1ONa40RR910000000aO4000000000000aO400000000000000000000000000000000000000C400000"
    "1ONa40000000000000000000000",
)
NUMBERS = BOOK.numbers()


def vector(block: BlockWords, book: CodeBook, index: Word, signs: Word) -> list[Word]:
    """Return a vector of eight numbers as two quads. signs: in the low eight bits."""
    words = block.vector(book, index)
    return [word | bits_of_quad(signs, 4 * i) << book.sign for i, word in enumerate(words)]


def split(block: BlockWords) -> BlockParts:
    """See `engine.formats.blocks.Split`."""
    quads, small = [], []
    for j in range(8):
        indices, rest = block(2 + 8 * j), block(6 + 8 * j)
        for k in range(4):
            signs = eight_signs(rest >> 7 * k & 127)
            quads += vector(block, BOOK, indices >> 8 * k & 255, signs)
        small.append((rest >> 28 & 15) * 2 + 1)
    return BlockParts(quads, block(0), small=small)


def unpack(data, p, values):  # type: ignore[no-untyped-def]
    """See `engine.formats.blocks.Unpack`."""
    d = half(data, p) * np.float32(0.125)
    for j in range(8):
        q = p + 2 + 8 * j
        rest = word(data, q + 4)
        s = d * np.float32(2 * (rest >> 28) + 1)
        for k in range(4):
            signs = signs_of(rest >> 7 * k & 127)
            put(values, 32 * j + 8 * k, s, NUMBERS, 8 * data[q + k], signs, 8)


FORMAT = BlockFormat("IQ2_XXS", (0,), unpack, split, bits=3, levels=BOOK.levels, factor=1 / 8)
