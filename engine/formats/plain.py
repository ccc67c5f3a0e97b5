"""The formats of plain numbers: float64, float32, float16 and bfloat16, little-endian, row by row."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.formats.format import Parts, RowFormat


@dataclass(frozen=True, slots=True)
class PlainFormat(RowFormat):
    """A format of floating-point numbers.

    Attributes: `words`, unsigned integers as wide as a number; `infinity`, the bits of infinity as such.
    """

    name: str
    words: type[np.unsignedinteger[Any]]
    infinity: int

    @property
    def part_types(self) -> tuple[str, ...]:
        return (self.name,)

    def valid(self, parts: Parts) -> bool:
        # As integers, numbers are ordered by size: those with a sign lie above the others, and beyond the
        # infinity of each sign lie only NaN.
        words = parts[0].view(self.words)
        if not len(words):
            return True
        signed = words.view(f"i{words.itemsize}")
        negative = self.infinity | 1 << 8 * words.itemsize - 1
        return bool(signed.max() < self.infinity) and bool(words.max() < negative)

    def numbers(self, data: NDArray[np.uint8]) -> NDArray[np.floating[Any]]:
        """Return bytes, uint8 [bytes], as float64, float32 or float16; bfloat16 becomes float32."""
        words = data.view(self.words)
        if self is BF16:
            return (words.astype(np.uint32) << np.uint32(16)).view(np.float32)
        return words.view(f"f{words.itemsize}")

    def unpack(self, data: NDArray[np.uint8], out: NDArray[Any]) -> None:
        out[:] = self.numbers(data)


F64 = PlainFormat("F64", np.uint64, 0x7FF << 52)
F32 = PlainFormat("F32", np.uint32, 0x7F80_0000)
F16 = PlainFormat("F16", np.uint16, 0x7C00)
BF16 = PlainFormat("BF16", np.uint16, 0x7F80)
