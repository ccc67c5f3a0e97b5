"""IQ1_S: 256 numbers in 50 bytes, 1.5625 bits each.

A block holds: float16 scale of scales; 32 bytes with the low eight bits of the indices, each of a vector of
eight numbers -1, 0 or 1; 2 bytes for each 32 numbers, a little-endian word with the high three bits of four
indices, those of index k at bits 3k to 3k+2, a 3-bit scale at bits 12 to 14, and the sign of a shift of 1/8.
number = scale of scales * (2 * scale + 1) * (-1, 0 or 1, plus or minus 1/8). Source: block_iq1_s, iq1s_grid,
IQ1S_DELTA (ggml-common.h) and dequantize_row_iq1_s of ggml (ggml-quants.c).
"""

import numpy as np

from engine.formats.blocks import BlockFormat, BlockParts, BlockWords
from engine.formats.code_book import CodeBook
from engine.formats.jit import half

BOOK = CodeBook(
    (-1, 0, 1),
    8,
    "RV5UKpaMcs2t_fdh9HWf8VD*N6opU}f*?diB^3pr0)ilj7yt-@paUwPh`Xu^kg5v+A^-}ijDnyDKv4)qA&7ub6hcu5iZBS6pa_5}"
    "2t^?jg&;^mRR~1^EW)55iY5RmB&e#Q2;#2@2q-83paMcDswg0+fFKH+2)VkbAj+<ZqOPhseCz7EyMhk5BD%`c4w3>Q03sl$in<Dd"
    "0tf&qO5mb9A|NZG0D(Y(s){HGA^{YIP!)n82}L1Pg`fxmBd9tcgn}ScLQx2!APALE6ap#;xTu1FphyBB2!f($q5>$ZDhP!j2!b#O"
    "ML+;WAryt6076j!MFA;-0E&Vt2%#_(1yB@%C<sL%6onuH0wAg?03Z^vimoWAx}mD5Z~%e|2m&Y~0)zm907!tK>aZ%R!XS&fBI??w"
    "i;HfklCUbOa*K*Y3@RW<gg_{YDhR3|$jqW5qOY2u=%@k!0stzghyWmfpo^lSD7v74f-(xazPP&n>!P45q6mr#DC(jBp)vvt`lRaK"
    "?<=S-jlO>C`uBgo=6$-}Y5OPtzb5(;>EVhZ5URcogsKR#s0)Iw|GFgUgMb8LENJqm3ZyFl0xAdy;;Iq=0)i?ErXb0JiI9RQ0HOel"
    "fD-_M2nYadimIx+0;ax-pvnS(YnLw2vgr_l5H70TC>7DA1ON(x0E&Vj2mzrWf~q;XA~J-a34j;?ilSlyffPhh07W6Jf>0DfQ3$Fa"
    "D5{4F5-JEqAru9m2trW^MFAiJpg^J`0Ehqxq6lh=Zn&zdfB+y0g5t;`AqYfJ6hcu6iXat*P!xs=2&yV7fB*_YQ3ypLr~ptDLQx3f"
    "Ac%qr7=kJYs-miju!{l;DykqTf`F<DC<rJ3sfYq1puP(zxCn~6OR}#2x}^B7svuG*Xttm*=70(UC<r2IVt^nD0;;Mjs_LStprQx}"
    "5Fnt6A^?I807W4bg`f&RQ3ypLsRjT_ssae501ypC6oM!SMIjUg00@GDtnwfL0062AC<?kD>Y@Swf=CG{=@bAFOGQxtMFFS+P!vK@"
    "2#6#Ih$sp`2mnO^6a}CHKv4)q0R",
)
NUMBERS = BOOK.numbers()
# Eight times the numbers with the shift upwards, then with that downwards.
LEVELS = (-7, 1, 9, 0, -9, -1, 7, 0)


def split(block: BlockWords) -> BlockParts:
    """See `engine.formats.blocks.Split`."""
    quads, small = [], []
    for j in range(8):
        high = block(34 + 4 * (j // 2)) >> 16 * (j % 2)
        down = (high >> 15 & 1) * 0x04040404
        for k in range(4):
            index = block(2 + 4 * j) >> 8 * k & 255 | (high >> 3 * k & 7) << 8
            quads += [word | down for word in block.vector(BOOK, index)]
        small.append((high >> 12 & 7) * 2 + 1)
    return BlockParts(quads, block(0), small=small)


def unpack(data, p, values):  # type: ignore[no-untyped-def]
    """See `engine.formats.blocks.Unpack`."""
    d = half(data, p)
    for j in range(8):
        high = data[p + 34 + 2 * j] | data[p + 35 + 2 * j] << 8
        s = d * np.float32(2 * (high >> 12 & 7) + 1)
        shift = np.float32(-0.125) if high >> 15 else np.float32(0.125)
        for k in range(4):
            first = 8 * (data[p + 2 + 4 * j + k] | (high >> 3 * k & 7) << 8)
            for i in range(8):
                values[32 * j + 8 * k + i] = s * (NUMBERS[first + i] + shift)


FORMAT = BlockFormat("IQ1_S", (0,), unpack, split, bits=3, levels=LEVELS, factor=1 / 8)
