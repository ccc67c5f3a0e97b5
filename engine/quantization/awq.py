"""The AWQ formats as stored by AutoAWQ's GEMM version, with 4 bits per number.

The quants are int32 [columns, rows / 8], the zero points int32 [groups, rows / 8]. Each word holds the
numbers of 8 rows, in the order 0, 2, 4, 6, 1, 3, 5, 7 from the lowest bits up. Source: `dequantize_gemm` of
AutoAWQ (awq/utils/packing_utils.py).
"""

import numpy as np
from torch import Tensor

from engine.checkpoints import Groups
from engine.formats.jit import kernel, store
from engine.quantization.gptq import fields

_PLACES = (0, 4, 1, 5, 2, 6, 3, 7)  # position of each row's number in its word
_SHIFTS = np.array([4 * place for place in _PLACES], np.uint32)


@kernel
def unpack(data, scales, zeros, group, bits, rows, start, first, out):  # type: ignore[no-untyped-def]
    """See `engine.quantization.gptq.unpack`."""
    # The words may be unaligned; x86 and ARM can read them at any address.
    words = data.view(np.uint32)
    count = scales.shape[1]
    values = np.empty(count, np.float32)
    for i in range(len(group)):
        s, z = scales[group[i]], zeros[group[i]]
        at = ((start + i) * rows + first) // 8
        row = words[at : at + count // 8]
        for n in range(len(row)):
            word = row[n]
            for k in range(8):
                quant = np.uint32(np.uint32(word >> _SHIFTS[k]) & np.uint32(15))
                values[8 * n + k] = s[8 * n + k] * (np.float32(quant) - z[8 * n + k])
        store(values, out, i * count)


def ordered(words: Tensor) -> Tensor:
    """Unpack 4-bit numbers in the order of the rows. words: int32 [words, n]. Return int32 [words * 8, n]."""
    return fields(words, 4).reshape(-1, 8, words.shape[1])[:, list(_PLACES)].flatten(0, 1)


def quants(words: Tensor, shape: tuple[int, int], first: int, count: int, bits: int) -> Tensor:
    """See `engine.quantization.gptq.quants`."""
    words = words.view(shape[1], -1)[:, first // 8 : (first + count) // 8]
    return ordered(words.t()).t()


def zeros(words: Tensor, groups: Groups) -> Tensor:
    """See `engine.quantization.gptq.zeros`."""
    return ordered(words)
