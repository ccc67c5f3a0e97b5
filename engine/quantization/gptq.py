"""The GPTQ formats as stored by AutoGPTQ and its successors, with 2, 3, 4 or 8 bits per number.

The quants are int32 [columns * bits / 32, rows]: the numbers of one row, column by column, form a stream of
bits, lowest first. The zero points are int32 [groups, rows * bits / 32]: those of one group, row by row, form
such a stream; version 1 stores each of them minus one. Source: `TorchLinear.dequantize_weight` and
`convert_gptq_v1_to_v2_format_module` of GPTQModel.
"""

import numpy as np
import torch
from torch import Tensor

from engine.checkpoints import Groups
from engine.formats.jit import kernel, store

_ONES = {2: 0x55555555, 4: 0x11111111, 8: 0x01010101}  # by bits per number: a word whose numbers are all one


@kernel
def unpack(data, scales, zeros, group, bits, rows, start, first, out):  # type: ignore[no-untyped-def]
    """Unpack columns start..start + n of rows first..first + count.

    data: the matrix's words, uint8 at any address. scales, zeros: float32 [groups, count]. group: of each
    column, int32 [n]. bits: per number. rows: of the matrix. out: [n * count], float32, or uint16 for
    bfloat16.
    """
    # The words may be unaligned; x86 and ARM can read them at any address.
    words = data.view(np.uint32)
    count = scales.shape[1]
    mask = np.uint32((1 << bits) - 1)
    # Few rows are unpacked at a time, so that their words stay in the cache until all their numbers are read.
    for left in range(0, count, 1024):
        width = min(1024, count - left)
        values = np.empty(width, np.float32)
        for i in range(len(group)):
            s = scales[group[i], left : left + width]
            z = zeros[group[i], left : left + width]
            begin = (start + i) * bits
            shift = np.uint32(begin % 32)
            at = begin // 32 * rows + first + left
            low = words[at : at + width]
            if begin % 32 + bits <= 32:
                for n in range(width):
                    values[n] = s[n] * (np.float32(np.uint32(np.uint32(low[n] >> shift) & mask)) - z[n])
            else:
                high = words[at + rows : at + rows + width]
                rest = np.uint32(32 - shift)
                for n in range(width):
                    both = np.uint32(np.uint32(low[n] >> shift) | np.uint32(high[n] << rest))
                    values[n] = s[n] * (np.float32(np.uint32(both & mask)) - z[n])
            store(values, out, i * count + left)


def quants(words: Tensor, shape: tuple[int, int], first: int, count: int, bits: int) -> Tensor:
    """Unpack the quants of rows first..first + count on any device: int32 [columns, count]. words: the int32
    words of all rows."""
    return fields(words.view(-1, shape[0])[:, first : first + count], bits)


def zeros(words: Tensor, groups: Groups) -> Tensor:
    """Unpack zero points. words: int32 [words, groups]. Return int32 [rows, or a few more, groups]."""
    if not groups.zero_offset:
        return fields(words, groups.bits)
    # GPTQModel subtracts the ones from whole words, where a number may borrow from the next. Adding them to
    # whole words undoes that.
    if groups.bits in _ONES:
        return fields(words + _ONES[groups.bits], groups.bits)
    return fields(words, groups.bits) + 1 & (1 << groups.bits) - 1


def fields(words: Tensor, bits: int) -> Tensor:
    """Unpack numbers of `bits` bits from n streams of words, lowest bits first. A number of 3 bits may span
    two words.

    words: int32 [words, n]. Returns int32 [words * 32 / bits, n].
    """
    block = bits if 32 % bits else 1  # words after which a number starts at a word boundary again
    begin = torch.arange(0, 32 * block, bits, dtype=torch.int32, device=words.device)[:, None]
    word, shift = begin[:, 0] // 32, begin % 32
    within = (32 - shift).clamp(max=bits)  # bits of each number in its first word
    words = words.reshape(-1, block, words.shape[1])
    low = words[:, word] >> shift & (1 << within) - 1
    high = words[:, (word + 1) % block] << within
    return ((low | high) & (1 << bits) - 1).reshape(-1, words.shape[2])
