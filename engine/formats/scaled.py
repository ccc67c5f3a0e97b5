"""FP8: one byte per number, and a scale for each block of 128 × 128 numbers, for each row, or for the matrix.

number = scale * E4M3. E4M3, most significant bit first: a sign, four bits of exponent (bias 7), three bits of
mantissa; subnormal numbers, no infinities; all seven lower bits set is NaN (OCP 8-bit floating point, E4M3;
torch.float8_e4m3fn). The parts are the bytes, row by row, and the scales: [⌈rows / 128⌉, ⌈columns / 128⌉],
[rows] or [1]. Sources: transformers' integrations/finegrained_fp8.py; compressed-tensors'
quantization/lifecycle/forward.py.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from engine.formats.format import Format, Parts
from engine.formats.plain import BF16, F16, F32, PlainFormat

BLOCK = 128  # rows and columns of a block
_NAN = 0x7F  # all bits but the sign
_LARGEST = np.float32(448)


def _numbers() -> NDArray[np.float32]:
    """Return the number that each byte stands for; as float16, its bits have an exponent smaller by 8."""
    codes = np.arange(256, dtype=np.uint16)
    halves = (codes & 0x80) << 8 | (codes & _NAN) << 7
    numbers: NDArray[np.float32] = halves.view(np.float16).astype(np.float32) * np.float32(2**8)
    numbers[codes & _NAN == _NAN] = np.nan
    return numbers


NUMBERS = _numbers()


@dataclass(frozen=True, slots=True)
class ScaledFormat(Format):
    """One of the FP8 formats. Attributes: `scales`, the format of the scales; `share`, the numbers that share
    a scale: "block", "row" or "matrix"."""

    name: str
    scales: PlainFormat
    share: str

    @property
    def part_types(self) -> tuple[str, ...]:
        return "U8", self.scales.name

    def valid(self, parts: Parts) -> bool:
        if not len(parts[0]):
            return True
        if not self.scales.valid(parts[1:]) or (parts[0] & _NAN == _NAN).any():
            return False
        with np.errstate(over="ignore"):
            largest = np.abs(self.scales.numbers(parts[1])).max() * _LARGEST
        return bool(np.isfinite(np.float32(largest)))

    def unpacked(self, parts: Parts, shape: tuple[int, int]) -> NDArray[np.float32]:
        """Return the numbers of a matrix of `shape` (rows, columns), as float32."""
        scales = self.scales.numbers(parts[1]).astype(np.float32).reshape(self.scales_shape(shape))
        if self.share == "block":
            scales = scales.repeat(BLOCK, axis=0)[: shape[0]].repeat(BLOCK, axis=1)[:, : shape[1]]
        numbers: NDArray[np.float32] = NUMBERS[parts[0]].reshape(shape) * scales
        return numbers

    def scales_shape(self, shape: tuple[int, int]) -> tuple[int, int]:
        """Return how many rows and columns of scales a matrix of `shape` (rows, columns) has."""
        rows, columns = shape
        if self.share == "block":
            return -(-rows // BLOCK), -(-columns // BLOCK)
        return rows if self.share == "row" else 1, 1


FORMATS = tuple(
    ScaledFormat(f"FP8_{share.upper()}{suffix}", scales, share)
    for share in ("block", "row", "matrix")
    for suffix, scales in (("", F32), ("_BF16", BF16), ("_F16", F16))
)


def format_of(name: str) -> ScaledFormat:
    """Return the FP8 format called `name`."""
    return next(form for form in FORMATS if form.name == name)
