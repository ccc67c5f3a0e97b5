"""IQ2_S: 256 numbers in 82 bytes, 2.5625 bits each.

A block holds: float16 scale of scales; 32 bytes with the low eight bits of the indices, each of a vector of
eight magnitudes; 32 bytes of signs, that of number 8j+i at bit i of byte j; 8 bytes with the high two bits of
the indices, those of index 4j+i at bits 2i and 2i+1 of byte j; 8 bytes with a 4-bit scale for each 16
numbers, low half first.
number = scale of scales * (2 * scale + 1) / 8 * sign * magnitude. Source: block_iq2_s, iq2s_grid
(ggml-common.h) and dequantize_row_iq2_s of ggml (ggml-quants.c).
"""

import numpy as np

from engine.formats.blocks import BlockFormat, BlockParts, BlockWords
from engine.formats.code_book import CodeBook, put
from engine.formats.iq2_xs import odd_scales
from engine.formats.iq2_xxs import MAGNITUDES, vector
from engine.formats.jit import half

BOOK = CodeBook(
    MAGNITUDES,
    8,
    "RaI3{RYg@51rb$MQBXxy6a^I&R8bI6RRjPL5fD&SMO9T*6;wr0P*qhFRaF#JQ4l~?1OQPK1W*tFKowOHRaH?C0Rcb-RRly)5I{fx"
    "009&b1rPuL06+j#RZ&qzRTULc6jW7JMO76ARTKbF6hT1*1ppKT08m9$6jfCeR8bH>RTTwQ6a-KZ06-K40TcuP5C8x`RZ#>~Q4l}@"
    "0031K1W*tF5C8xK5Ci}a00aO4002}`6;VM21OX8MR8T=c1qA^V1ON~a08s=1000F5L{$_8RTKnJ5CA|F1pyQU01*HH00jX61ONm8"
    "0000H6aY{V002M$02KrP0000001yBG1V8`)00ck*08mv`MO9T56hu)_MO6h=RTNZF5I{i{1W^<OPyhfxRaI3~RZ&nyK>$@%6jV_V"
    "P(c6yRTKnJ5CA{`01y;aQBXxe00aR5R8bH>K>z>&Kmbq>06+i$00000P(@W0RaF#JQ2;<y6$Mok1W*tFKokW56a)Yi00010RTNZF"
    "5I{iy096zOP!Iq>0000K1OO2L0000008~*BKtVtN0RR9{5CA{`0000001yBW00000KmY(lMHK~66a+vJ06-N50TcuP5C9MW1OWg9"
    "0096100B`H1W*tFKmY&$6a)Ye5C9MW1ONm800000000mGP!IqB000mG009sH06+i$00000000001ONa406;($MG+KK5fDKE07X?4"
    "R8asxK>$Dz6#!5W0000008~{GP(?ui1pxq5Q4l~u0003208kJBPyhe`0000GK>+{-0RR91KtKTi0096%00000000C400lq*00Bi+"
    "5L8hRKtTWi5flJW5D)+W000yO01yBG0000$R8bH>K>z>&Kmbq>06+i$0000H5C8xG5C9MW002Ni01yEH00000Pyhe`01*HH00000"
    "00000002M$01*)oR1g3F000C5000mG00aO401yN~6aWAKL;(O%5CA{`00001Ko9^B0000000000000001ONa4002M$KmY&$00001"
    "00000KmY&)002M%6afGL01yBG0R",
)
NUMBERS = BOOK.numbers()


def split(block: BlockWords) -> BlockParts:
    """See `engine.formats.blocks.Split`."""
    quads = []
    for k in range(32):
        at, shift = 4 * (k // 4), 8 * (k % 4)
        low, high = block(2 + at) >> shift & 255, block(66 + 4 * (k // 16)) >> 2 * (k % 16) & 3
        quads += vector(block, BOOK, low | high << 8, block(34 + at) >> shift)
    return BlockParts(quads, block(0), small=odd_scales(block, 74))


def unpack(data, p, values):  # type: ignore[no-untyped-def]
    """See `engine.formats.blocks.Unpack`."""
    d = half(data, p) * np.float32(0.125)
    for j in range(16):
        s = d * np.float32(2 * (data[p + 74 + j // 2] >> 4 * (j & 1) & 15) + 1)
        for k in range(2 * j, 2 * j + 2):
            index = data[p + 2 + k] | (data[p + 66 + k // 4] >> 2 * (k & 3) & 3) << 8
            put(values, 8 * k, s, NUMBERS, 8 * index, data[p + 34 + k], 8)


FORMAT = BlockFormat("IQ2_S", (0,), unpack, split, bits=3, levels=BOOK.levels, group=16, factor=1 / 8)
