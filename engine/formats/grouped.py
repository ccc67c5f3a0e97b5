"""GPTQ and AWQ: numbers of a few bits, a scale and a zero point per group of columns.

number = scale * (quant - zero point). The parts are quants and zero points (packed into int32 words), scales
[groups, rows], and perhaps the group of each column. Quants are stored transposed, [columns, rows]: the
numbers of one column lie next to each other.

GPTQ, as stored by AutoGPTQ and its successors, has 2, 3, 4 or 8 bits per number. The quants are int32
[columns * bits / 32, rows]: the numbers of one row, column by column, form a stream of bits, lowest first.
The zero points are int32 [groups, rows * bits / 32]: those of one group, row by row, form such a stream;
version 1 stores each of them minus one. Source: `TorchLinear.dequantize_weight` and
`convert_gptq_v1_to_v2_format_module` of GPTQModel.

AWQ, as stored by AutoAWQ's GEMM version, has 4 bits per number. The quants are int32 [columns, rows / 8], the
zero points int32 [groups, rows / 8]. Each word holds the numbers of 8 rows, in the order 0, 2, 4, 6, 1, 3, 5,
7 from the lowest bits up. Source: `dequantize_gemm` of AutoAWQ (awq/utils/packing_utils.py).
"""

from collections.abc import Sized
from dataclasses import dataclass

import numpy as np

from engine.arrays import Array, like
from engine.checkpoints import Groups
from engine.formats.format import Format, Parts
from engine.formats.plain import BF16, F16, F32, PlainFormat

AWQ_PLACES = (0, 4, 1, 5, 2, 6, 3, 7)  # position of each row's number in its word
_ONES = {2: 0x55555555, 4: 0x11111111, 8: 0x01010101}  # by bits per number: a word whose numbers are all one


@dataclass(frozen=True, slots=True)
class GroupedFormat(Format):
    """One of the GPTQ and AWQ formats. Attributes: `awq`, whether words are packed as AWQ packs them;
    `scales`, the format of the scales."""

    name: str
    awq: bool
    scales: PlainFormat

    @property
    def part_types(self) -> tuple[str, ...]:
        return "I32", "I32", self.scales.name, *(() if self.awq else ("I32",))

    def has_index(self, parts: Sized) -> bool:
        """Return whether the last of a matrix's parts is the group of each column."""
        return len(parts) == 4

    @property
    def has_groups(self) -> bool:
        return True

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
        if not self.has_index(parts):
            return True
        group = parts[3].view(np.int32)
        groups = parts[1].nbytes * len(group) // parts[0].nbytes
        return bool(group.min() >= 0) and bool(group.max() < groups)

    def quants(self, words: Array, shape: tuple[int, int], first: int, count: int, bits: int) -> Array:
        """Unpack the quants of rows first..first + count: int32 [columns, count]. words: the int32 words of
        all rows of the matrix, whose `shape` is [rows, columns]."""
        rows, columns = shape
        if self.awq:
            return _ordered(words.reshape(columns, -1)[:, first // 8 : (first + count) // 8].T).T
        return _fields(words.reshape(-1, rows)[:, first : first + count], bits)

    def zeros(self, words: Array, groups: Groups) -> Array:
        """Unpack zero points. words: int32 [words, groups]. Return int32 [rows, or a few more, groups]."""
        if self.awq:
            return _ordered(words)
        if not groups.zero_offset:
            return _fields(words, groups.bits)
        # GPTQModel subtracts the ones from whole words, where a number may borrow from the next. Adding them
        # to whole words undoes that.
        if groups.bits in _ONES:
            return _fields(words + _ONES[groups.bits], groups.bits)
        return _fields(words, groups.bits) + 1 & (1 << groups.bits) - 1


def _ordered(words: Array) -> Array:
    """Unpack 4-bit numbers in the order of AWQ's rows: int32 [words, n] -> int32 [words * 8, n]."""
    count = words.shape[1]
    return _fields(words, 4).reshape(-1, 8, count)[:, list(AWQ_PLACES)].reshape(-1, count)


def _fields(words: Array, bits: int) -> Array:
    """Unpack numbers of `bits` bits from n streams of words, lowest bits first. A number of 3 bits may span
    two words.

    words: int32 [words, n]. Returns int32 [words * 32 / bits, n].
    """
    block = bits if 32 % bits else 1  # words after which a number starts at a word boundary again
    begin = np.arange(0, 32 * block, bits)
    within = np.minimum(32 - begin % 32, bits)  # bits of each number in its first word
    first, second = like(words, begin // 32), like(words, (begin // 32 + 1) % block)
    shift, low_bits, mask = (
        like(words, each.astype(np.int32)[:, None]) for each in (begin % 32, within, (1 << within) - 1)
    )
    count = words.shape[1]
    words = words.reshape(-1, block, count)
    low, high = words[:, first] >> shift & mask, words[:, second] << low_bits
    return ((low | high) & (1 << bits) - 1).reshape(-1, count)


FORMATS = tuple(
    GroupedFormat(f"{method}{suffix}", method == "AWQ", scales)
    for method in ("GPTQ", "AWQ")
    for suffix, scales in (("", F16), ("_BF16", BF16), ("_F32", F32))
)
