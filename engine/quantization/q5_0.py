"""Q5_0: 32 numbers in 22 bytes, 5.5 bits each.

A block holds: float16 scale; 4 bytes with the fifth bits of the quants (that of number i is bit i of the
little-endian word); 16 bytes with the low four bits, those of numbers 0..15 in the low halves of the bytes
and those of numbers 16..31 in the high halves.
number = scale * (quant - 16). Source: block_q5_0 and dequantize_row_q5_0 of ggml (ggml-quants.c).
"""

from collections.abc import Callable

import numpy as np
import torch
from torch import Tensor

from engine.quantization.blocks import BlockFormat, BlockParts, Word, bits_of_quad, halves
from engine.quantization.jit import half, kernel, store, word
from engine.quantization.q4_0 import nibbles


def fives(word: Callable[[int], Word], at: int) -> list[Word]:
    """Return 32 quants of five bits, stored in the 20 bytes from offset `at` on, as eight quads."""
    low, fifth = nibbles(word, at + 4), word(at)
    return [quad | bits_of_quad(fifth, 4 * i) << 4 for i, quad in enumerate(low)]


def split(word: Callable[[int], Word]) -> BlockParts:
    """See `engine.quantization.blocks.Split`."""
    return BlockParts(fives(word, 2), word(0))


@kernel
def unpack(data, out):  # type: ignore[no-untyped-def]
    values = np.empty(32, np.float32)
    for block in range(len(data) // 22):
        p = block * 22
        d, fifth, q = half(data, p), word(data, p + 2), p + 6
        for i in range(16):
            values[i] = d * np.float32((data[q + i] & 15 | (fifth >> i & 1) << 4) - 16)
            values[16 + i] = d * np.float32((data[q + i] >> 4 | (fifth >> 16 + i & 1) << 4) - 16)
        store(values, out, block * 32)


def quants(fifth: Tensor, low: Tensor) -> Tensor:
    """Combine the fifth bits, uint8 [blocks, 4], and the low four bits, uint8 [blocks, 16], to quants, uint8
    [blocks, 32]."""
    bits = (fifth[:, :, None] >> torch.arange(8, dtype=torch.uint8, device=fifth.device) & 1).view(-1, 32)
    return torch.cat([low & 15, low >> 4], dim=1) | bits << 4


def numbers(blocks: Tensor) -> Tensor:
    return halves(blocks[:, :2]) * (quants(blocks[:, 2:6], blocks[:, 6:]).float() - 16)


FORMAT = BlockFormat("Q5_0", (0,), unpack, numbers, split)
