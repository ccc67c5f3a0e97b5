"""GPTQ and AWQ: numbers of a few bits, a scale and a zero point per group of columns.

number = scale * (quant - zero point). The parts are quants and zero points (packed into int32 words), scales
[groups, rows], and perhaps the group of each column. Quants are stored transposed, [columns, rows]: the
numbers of one column lie next to each other. How words are packed is told beside the code that unpacks them.
"""

from dataclasses import dataclass

import numpy as np

from engine.formats.format import Format, Parts
from engine.formats.plain import BF16, F16, F32, PlainFormat


@dataclass(frozen=True, slots=True)
class GroupedFormat(Format):
    """One of the GPTQ and AWQ formats. Attributes: `awq`, whether words are packed as AWQ packs them;
    `scales`, the format of the scales."""

    name: str
    awq: bool
    scales: PlainFormat

    def valid(self, parts: Parts) -> bool:
        if not len(parts[2]):
            return True
        if not self.scales.valid(parts[2:3]):
            return False
        scales = self.scales.numbers(parts[2])
        with np.errstate(over="ignore"):  # quants have 8 bits at most
            largest = np.array([scales.min(), scales.max()], np.float32) * np.float32(255)
        if not np.isfinite(largest).all():
            return False
        if len(parts) == 3:
            return True
        group = parts[3].view(np.int32)
        groups = parts[1].nbytes * len(group) // parts[0].nbytes
        return bool(group.min() >= 0) and bool(group.max() < groups)


FORMATS = tuple(
    GroupedFormat(f"{method}{suffix}", method == "AWQ", scales)
    for method in ("GPTQ", "AWQ")
    for suffix, scales in (("", F16), ("_BF16", BF16), ("_F32", F32))
)
