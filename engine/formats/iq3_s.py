"""IQ3_S: 256 numbers in 110 bytes, 3.4375 bits each.

A block holds: float16 scale of scales; 64 bytes with the low eight bits of the indices, each of a vector of
four magnitudes; 8 bytes with the ninth bits of the indices, that of index 8j+i at bit i of byte j; 32 bytes
of signs, that of number 8j+i at bit i of byte j; 4 bytes with a 4-bit scale for each 32 numbers, low half
first.
number = scale of scales * (2 * scale + 1) * sign * magnitude. Source: block_iq3_s, iq3s_grid (ggml-common.h)
and dequantize_row_iq3_s of ggml (ggml-quants.c).
"""

import numpy as np

from engine.formats.blocks import BlockFormat, BlockParts, BlockWords, bits_of_quad
from engine.formats.code_book import CodeBook, put
from engine.formats.jit import half

BOOK = CodeBook(
    (1, 3, 5, 7, 9, 11, 13, 15),
    4,
    "r&l8gr3wX-7bA%x5C9?sqe&tWqzV8D2qFba5CwoD0f-U=2?78C6aYmCq5wb$Knef?00aO66#zvD01*HH7pnzQ08j!1OA!JI0tEm;"
    "0i+QG2_OLkk_mzl0ssU7C=>t+L=gZ00to^I00IC2005ByPyhe`3Izfn0ssU7t5u2xDg}Tk1&JgQ1Ofm6k^l;U0*C+-B?1%*1OY$*"
    "f&d950ssIc5CQ~%0SEvAg#ZEo03ZSYAOb)E2mt^91gZoolmZ9>Di8_)0RRC+0R#aQ009610uhP<iXZ?82tot`00a>L0tFxh5I_J3"
    "06+i$0ssI23IGKl000005d@J00s#O4gbD;92qFLg3Lydr0e}Pn5DEn%000001pp9$0RR93pa22@000C400;mO0003103iSY2m$~A"
    "1Q7%Pkpw^xDg*)q000040Rjj?00;m8gaLp65CR|w5&!`NKmY&$00ck)015yA000001ONa46aWMO0000004e|q000310RVvj000mG"
    "00aOK1Rw+f0T2QJ0RR91001BW2mk~C2><{P00031AOHXW0RR91015yA00000kpKli0T2WL1OgBMC;$Ke5<vn100IC21ONae00;m8"
    "A_xHh00961000C41ONa41ONa6000000RR9100000",
)
NUMBERS = BOOK.numbers()


def split(block: BlockWords) -> BlockParts:
    """See `engine.formats.blocks.Split`."""
    quads = []
    for k in range(64):
        low, high = block(2 + 4 * (k // 4)) >> 8 * (k % 4) & 255, block(66 + 4 * (k // 32)) >> k % 32 & 1
        signs = bits_of_quad(block(74 + 4 * (k // 8)), 4 * (k % 8))
        quads += [word | signs << BOOK.sign for word in block.vector(BOOK, low | high << 8)]
    return BlockParts(quads, block(0), small=[(block(106) >> 4 * j & 15) * 2 + 1 for j in range(8)])


def unpack(data, p, values):  # type: ignore[no-untyped-def]
    """See `engine.formats.blocks.Unpack`."""
    d = half(data, p)
    for j in range(8):
        s = d * np.float32(2 * (data[p + 106 + j // 2] >> 4 * (j & 1) & 15) + 1)
        for k in range(8):
            index = data[p + 2 + 8 * j + k] | (data[p + 66 + j] >> k & 1) << 8
            signs = data[p + 74 + 4 * j + k // 2] >> 4 * (k & 1)
            put(values, 32 * j + 4 * k, s, NUMBERS, 4 * index, signs & 15, 4)


FORMAT = BlockFormat("IQ3_S", (0,), unpack, split, bits=4, levels=BOOK.levels)
