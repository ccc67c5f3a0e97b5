"""The matrices of a made-up mixture (`engine.bench.made_routes`) in ggml's formats: its embedding, and a head
that says the trace's tokens one after the other, since the row of a token has the signs of the one before."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from engine.bench.made_routes import Signs


def successors(trace: Sequence[int], signs: Signs) -> tuple[Signs, NDArray[np.float32]]:
    """Return the signs of the head's rows, and the sizes [tokens] of their numbers, which are small but for
    the trace's second and later tokens. signs: of all tokens."""
    rows, sizes = signs[::-1].copy(), np.full(len(signs), 1 / 1024, np.float32)
    rows[trace[1:]] = signs[trace[:-1]]
    sizes[trace[1:]] = 1 / 32
    return rows, sizes


def as_q4_k(signs: Signs, size: float) -> NDArray[np.uint8]:
    """Return ggml's Q4_K of numbers of equal size: 2 * size * q - size, with q = 0 or 1."""
    # Of 64 numbers, 32 are in low halves of bytes, the next in high ones.
    halves = signs.reshape(len(signs), -1, 4, 2, 32)
    blocks = np.zeros((*halves.shape[:2], 144), np.uint8)
    blocks[..., 0:2] = np.frombuffer(np.float16(2 * size).tobytes(), np.uint8)
    blocks[..., 2:4] = np.frombuffer(np.float16(size).tobytes(), np.uint8)
    blocks[..., 4:12], blocks[..., 12:16] = 1, 0x11  # all 8 scales and minima are 1
    blocks[..., 16:] = (halves[..., 0, :] | halves[..., 1, :].astype(np.uint8) << 4).reshape(
        *halves.shape[:2], 128
    )
    return blocks.reshape(len(signs), -1)


def as_q6_k(signs: Signs, sizes: NDArray[np.float32]) -> NDArray[np.uint8]:
    """Return ggml's Q6_K of numbers of one size in each row: size * (q - 32), with q = 31 or 33."""
    quarters = np.where(signs, 33, 31).astype(np.uint8).reshape(len(signs), -1, 2, 4, 32)
    blocks = np.zeros((*quarters.shape[:2], 210), np.uint8)
    low, high = quarters & 15, quarters >> 4
    blocks[..., :128] = (low[..., :2, :] | low[..., 2:, :] << 4).reshape(*blocks.shape[:2], 128)
    shifts = np.array([0, 2, 4, 6], np.uint8)[:, None]
    blocks[..., 128:192] = np.bitwise_or.reduce(high << shifts, axis=-2).reshape(*blocks.shape[:2], 64)
    blocks[..., 192:208] = 1
    blocks[..., 208:] = sizes.astype(np.float16)[:, None].view(np.uint8)[:, None, :]
    return blocks.reshape(len(signs), -1)
