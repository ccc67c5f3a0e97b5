"""IQ4_NL: 32 numbers in 18 bytes, 4.5 bits each.

A block holds: float16 scale; 16 bytes of 4-bit quants, laid out as in Q4_0.
number = scale * LEVELS[quant]. Source: block_iq4_nl, kvalues_iq4nl and dequantize_row_iq4_nl of ggml
(ggml-quants.c).
"""

from collections.abc import Callable

import numpy as np
import torch
from torch import Tensor

from engine.quantization.blocks import BlockFormat, BlockParts, Word, halves
from engine.quantization.code_book import LEVELS, levels
from engine.quantization.jit import half, kernel, store
from engine.quantization.q4_0 import nibbles


def split(word: Callable[[int], Word]) -> BlockParts:
    """See `engine.quantization.blocks.Split`."""
    return BlockParts(nibbles(word, 2), word(0))


@kernel
def unpack(data, out):  # type: ignore[no-untyped-def]
    values = np.empty(32, np.float32)
    for block in range(len(data) // 18):
        p = block * 18
        d, q = half(data, p), p + 2
        for i in range(16):
            values[i] = d * LEVELS[data[q + i] & 15]
            values[16 + i] = d * LEVELS[data[q + i] >> 4]
        store(values, out, block * 32)


def numbers(blocks: Tensor) -> Tensor:
    quants = torch.cat([blocks[:, 2:] & 15, blocks[:, 2:] >> 4], dim=1)
    return halves(blocks[:, :2]) * levels(quants)


FORMAT = BlockFormat("IQ4_NL", (0,), unpack, numbers, split)
