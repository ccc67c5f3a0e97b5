"""IQ2_XS: 256 numbers in 74 bytes, 2.3125 bits each.

A block holds: float16 scale of scales; 2 bytes for each eight numbers, a little-endian word with the index of
their vector of magnitudes in its low nine bits and seven signs in the others; 8 bytes with a 4-bit scale for
each 16 numbers, low half first. The eighth sign makes the number of set ones even.
number = scale of scales * (2 * scale + 1) / 8 * sign * magnitude. Source: block_iq2_xs, iq2xs_grid
(ggml-common.h) and dequantize_row_iq2_xs of ggml (ggml-quants.c).
"""

import numpy as np

from engine.formats.blocks import BlockFormat, BlockParts, BlockWords, Word
from engine.formats.code_book import CodeBook, eight_signs, put, signs_of
from engine.formats.iq2_xxs import MAGNITUDES, vector
from engine.formats.jit import half

BOOK = CodeBook(
    MAGNITUDES,
    8,
    "RaI3{RYgG+MFCV*RZvAi5Cs7MR8bH>K?DE+0RT`{ML`u60TcuPP(?ui1px#E002Ni01yQL06+i$Kve}16a)bf06;(m0RRL506-7`"
    "009650RR9101yFGRZ&nyK|loo08~*BKtTWi0Z;%?5dc5{0096108m9i07U^11ONa)K>z>&0000006+i)00031000001qA>EKmY&)"
    "000pH000001ONa400000KmY&$003205I{iy00965P!Iq>5C9MW000mG0096100aO4L_q*R0RR91002M$000CK0000G0096200000"
    "000m{0R#X50RRvH1ONa40000G009610T2KH002Y*08mv$K~)726a)ZJML_@s0RTh*KtMqOKmh;%0000$6-5CQ1ON~K0RRO75Ci}K"
    "002M$0RaF&5C8xG000yO01yEI0RR911P}lKK>$Di002M$0000000000P(?uy1pxpA002Ni1ONp900000KmY&$5C8xG002M*0R#j9"
    "5I_I`0YLx&0000$5C8xG01yBG01yBG1Oz|;KtKQh0003101!X{000000000000000KmY(hK>z>&5D)+X08jt`0000000000000mG"
    "1ONa40RRC&000000000000aOK0RR9101yBG00000000005C8xG000010000000aO40000000aO401yxW002N01pyTV08jt`P!$0H"
    "1P}xO0000100aO406+l%K@?N~5CA{`KmY&)0000100000KmY&)000000RR9H1ONm8009&L00aa80000000000000C4000mK1P}!Q"
    "00aO5009610RRvH00031000000000406+i$L;wH)K@b1{0000001yBG000yK000000RR910000000004000001ONa40096100000"
    "5C8xG5C8xG07U@=1ONa4000310000$5C8xGKokK05C8xG0RRL5002M$0000$0000000000000000000006+i$1OPw)MF0Q*002M`"
    "1ONa4000050000000jU5000310R",
)
NUMBERS = BOOK.numbers()


def odd_scales(block: BlockWords, at: int) -> list[Word]:
    """Return the scales of 16 numbers each, stored in the eight bytes from offset `at` on."""
    return [(block(at + 4 * (j // 8)) >> 4 * (j % 8) & 15) * 2 + 1 for j in range(16)]


def split(block: BlockWords) -> BlockParts:
    """See `engine.formats.blocks.Split`."""
    quads = []
    for k in range(32):
        both = block(2 + 4 * (k // 2)) >> 16 * (k % 2)
        quads += vector(block, BOOK, both & 511, eight_signs(both >> 9 & 127))
    return BlockParts(quads, block(0), small=odd_scales(block, 66))


def unpack(data, p, values):  # type: ignore[no-untyped-def]
    """See `engine.formats.blocks.Unpack`."""
    d = half(data, p) * np.float32(0.125)
    for j in range(16):
        s = d * np.float32(2 * (data[p + 66 + j // 2] >> 4 * (j & 1) & 15) + 1)
        for k in range(2):
            q = p + 2 + 4 * j + 2 * k
            index, signs = data[q] | (data[q + 1] & 1) << 8, signs_of(data[q + 1] >> 1)
            put(values, 16 * j + 8 * k, s, NUMBERS, 8 * index, signs, 8)


FORMAT = BlockFormat("IQ2_XS", (0,), unpack, split, bits=3, levels=BOOK.levels, group=16, factor=1 / 8)
