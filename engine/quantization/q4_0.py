"""Q4_0: 32 numbers in 18 bytes, 4.5 bits each.

A block holds: float16 scale; 16 bytes of 4-bit quants, with numbers 0..15 in the low halves of the bytes and
numbers 16..31 in the high halves.
number = scale * (quant - 8). Source: block_q4_0 and dequantize_row_q4_0 of ggml (ggml-quants.c).
"""

import numpy as np
import torch
from torch import Tensor

from engine.quantization.blocks import BlockFormat, halves
from engine.quantization.jit import half, helper, kernel, store, stored_half


@helper
def split(data, p, quants, small):  # type: ignore[no-untyped-def]
    """See `engine.quantization.blocks.Split`."""
    for i in range(16):
        quants[i], quants[16 + i] = data[p + 2 + i] & 15, data[p + 2 + i] >> 4
    return stored_half(data, p), np.uint16(0)


@kernel
def unpack(data, out):  # type: ignore[no-untyped-def]
    values = np.empty(32, np.float32)
    for block in range(len(data) // 18):
        p = block * 18
        d, q = half(data, p), p + 2
        for i in range(16):
            values[i] = d * np.float32((data[q + i] & 15) - 8)
            values[16 + i] = d * np.float32((data[q + i] >> 4) - 8)
        store(values, out, block * 32)


def numbers(blocks: Tensor) -> Tensor:
    quants = torch.cat([blocks[:, 2:] & 15, blocks[:, 2:] >> 4], dim=1)
    return halves(blocks[:, :2]) * (quants.float() - 8)


FORMAT = BlockFormat("Q4_0", (0,), unpack, numbers, split)
