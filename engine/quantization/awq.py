"""Unpacks the AWQ formats; `engine.formats.grouped` says how they are packed."""

import numpy as np

from engine.formats.grouped import AWQ_PLACES
from engine.formats.jit import kernel, store

_SHIFTS = np.array([4 * place for place in AWQ_PLACES], np.uint32)


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
