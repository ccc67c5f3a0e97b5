"""Four bits per number, row by row, and scales in tensors of their own.

number = scale * LEVELS[quant]. Two quants are in a byte, the one of the left column in the low half. The
parts are the quants and, for each row, the scales of its groups of columns.

MXFP4_APART, as gpt-oss stores its experts: groups of 32 columns, whose scale is a byte e, for 2^(e - 127)
(OCP Microscaling Formats, E8M0). Source: convert_moe_packed_tensors of transformers (integrations/mxfp4.py).
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from engine.formats.format import Format, Parts

# The numbers of FP4 (E2M1): a sign, two bits of exponent, one of mantissa.
FP4 = (0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0, -0.0, -0.5, -1.0, -1.5, -2.0, -3.0, -4.0, -6.0)
_MOST_EXPONENT = 252  # with larger ones, a number may be infinite; 255 is NaN


@dataclass(frozen=True, slots=True)
class NibbleFormat(Format):
    """A format of quants and scales apart. Attributes: `levels`, the number that each quant stands for;
    `group`, the columns that share a scale."""

    name: str
    levels: tuple[float, ...]
    group: int

    def valid(self, parts: Parts) -> bool:
        return not (parts[1] > _MOST_EXPONENT).any()

    def scales(self, parts: Parts) -> NDArray[np.float32]:
        """Return all scales, float32 [scales]."""
        return np.ldexp(np.float32(1), parts[1].astype(np.int32) - 127)


FORMATS = (NibbleFormat("MXFP4_APART", FP4, 32),)
