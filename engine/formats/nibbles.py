"""Four bits per number, row by row, and scales in tensors of their own.

number = scale * (LEVELS[quant] - zero point). Two quants are in a byte, the one of the left column in the low
half. The parts are the quants; for each row, the scales of its groups of columns; and in some formats a third
one.

MXFP4_APART, as gpt-oss stores its experts: groups of 32 columns, whose scale is a byte e, for 2^(e - 127)
(OCP Microscaling Formats, E8M0). Source: convert_moe_packed_tensors of transformers (integrations/mxfp4.py).

NVFP4_APART, of compressed-tensors: groups of 16 columns, whose scales are E4M3, divided by one float32 of the
matrix, the third part. NVFP4_SCALED, of ModelOpt: the same, multiplied by that number.
W4: quants less 8, groups of any size, scales of 16 or 32 bits; W4_ZEROS has zero points, the third part:
int32 [⌈rows / 8⌉, groups], eight rows in a word. Source: compressed-tensors (compressors/nvfp4 and
pack_quantized).
"""

from dataclasses import dataclass

import numpy as np

from engine.formats.format import Format, Parts
from engine.formats.plain import BF16, F16, F32, PlainFormat

# The numbers of FP4 (E2M1): a sign, two bits of exponent, one of mantissa.
FP4 = (0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0, -0.0, -0.5, -1.0, -1.5, -2.0, -3.0, -4.0, -6.0)
WHOLE = tuple(float(quant - 8) for quant in range(16))
_MOST_EXPONENT = 252  # of E8M0: with larger ones, a number may be infinite; 255 is NaN
_NAN = 0x7F  # of E4M3: all bits but the sign


@dataclass(frozen=True, slots=True)
class NibbleFormat(Format):
    """A format of quants and scales apart.

    Attributes: `levels`, the number that each quant stands for; `scales`, the format of the scales: a plain
    one, or "E8M0" or "E4M3"; `group`, the columns that share a scale, or 0 if these differ between matrices;
    `third`, the third part: "divisor", "factor", "zeros" or "".
    """

    name: str
    levels: tuple[float, ...]
    scales: PlainFormat | str
    group: int = 0
    third: str = ""

    @property
    def part_types(self) -> tuple[str, ...]:
        scales = self.scales.name if isinstance(self.scales, PlainFormat) else "U8"
        return ("U8", scales, *({"": (), "zeros": ("I32",)}.get(self.third, ("F32",))))

    @property
    def has_groups(self) -> bool:
        return isinstance(self.scales, PlainFormat)

    def valid(self, parts: Parts) -> bool:
        if self.scales == "E8M0":
            return not (parts[1] > _MOST_EXPONENT).any()
        if self.scales == "E4M3":
            number = float(F32.numbers(parts[2])[0]) if len(parts[2]) == 4 else np.nan
            fits = 1e-30 < number < np.inf if self.third == "divisor" else 0 <= number < 1e30
            return fits and not (parts[1] & _NAN == _NAN).any()
        assert isinstance(self.scales, PlainFormat)
        if not self.scales.valid(parts[1:2]):
            return False
        largest = float(np.abs(self.scales.numbers(parts[1])).max(initial=0))
        return largest < 1e37  # times 15, a number is finite


FORMATS = (
    NibbleFormat("MXFP4_APART", FP4, "E8M0", 32),
    NibbleFormat("NVFP4_APART", FP4, "E4M3", 16, "divisor"),
    NibbleFormat("NVFP4_SCALED", FP4, "E4M3", 16, "factor"),
    *(
        NibbleFormat(f"W4{zeros}{suffix}", WHOLE, scales, third=third)
        for zeros, third in (("", ""), ("_ZEROS", "zeros"))
        for suffix, scales in (("", F16), ("_BF16", BF16), ("_F32", F32))
    ),
)
