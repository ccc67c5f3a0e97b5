"""Unpacks the GPTQ formats; `engine.formats.grouped` says how they are packed."""

import numpy as np

from engine.formats.jit import kernel, store


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
