"""MXFP4 whose scales are apart, as gpt-oss's own folders have it, written as ggml's blocks of MXFP4: the same
numbers, in another order of the same bytes. See `engine.formats.nibbles` and `engine.formats.mxfp4`."""

import numpy as np
from numpy.typing import NDArray

from engine.formats.format import Parts
from engine.formats.jit import helper, kernel, spread

APART, JOINED = "MXFP4_APART", "MXFP4"
BLOCK, BLOCK_NBYTES = 32, 17
_LOW, _HALF = np.uint64(0x0F0F0F0F0F0F0F0F), np.uint64(0xFFFFFFFF)
_PIECE = 1 << 13  # how many blocks a thread writes at a time


def joined_nbytes(shape: tuple[int, int]) -> int:
    """Return the bytes of a matrix as blocks."""
    return shape[0] * (shape[1] // BLOCK) * BLOCK_NBYTES


def join(parts: Parts, shape: tuple[int, int], in_turn: bool, out: NDArray[np.uint8]) -> None:
    """Write a matrix of `shape` as blocks, row by row, to `out`, uint8 [`joined_nbytes`].

    parts: quants and scales. in_turn: whether the file has the rows of two matrices in turn, which are
    written one after the other.
    """
    rows, columns = shape
    quants, scales = parts

    def work(start: int, stop: int) -> None:
        _join(quants, scales, rows, columns // BLOCK, in_turn, start, stop, out)

    spread(rows, work, max(1, _PIECE * BLOCK // columns))


def prepare_kernel() -> None:
    """Compile the kernel, or read it from the cache."""
    nothing = np.empty(0, np.uint8)
    _join(nothing, nothing, 0, 0, False, 0, 0, nothing)


@helper
def _apart(half):  # type: ignore[no-untyped-def]
    """Return a word with the four bytes of `half`, a zero byte behind each."""
    half = np.uint64((half | half << np.uint64(16)) & np.uint64(0x0000FFFF0000FFFF))
    return np.uint64((half | half << np.uint64(8)) & np.uint64(0x00FF00FF00FF00FF))


@kernel
def _join(quants, scales, rows, blocks, in_turn, first, last, out):  # type: ignore[no-untyped-def]
    """Write the rows first..last. blocks: of a row."""
    words = quants.view(np.uint64)  # may be unaligned; x86 and ARM can read them at any address
    made = np.empty(2 * blocks, np.uint64)  # the quants of a row, in their new order
    written = made.view(np.uint8)
    for row in range(first, last):
        source = row
        if in_turn:
            source = 2 * (row % (rows // 2)) + row // (rows // 2)
        # Bytes of the file hold neighbours; those of a block, columns that are 16 apart.
        read = words[2 * source * blocks : 2 * (source + 1) * blocks]
        for block in range(blocks):
            left, right = read[2 * block], read[2 * block + 1]
            even = np.uint64(left & _LOW | (right & _LOW) << np.uint64(4))
            odd = np.uint64(left >> np.uint64(4) & _LOW | right & ~_LOW)
            made[2 * block] = _apart(even & _HALF) | _apart(odd & _HALF) << np.uint64(8)
            made[2 * block + 1] = _apart(even >> np.uint64(32)) | _apart(odd >> np.uint64(32)) << np.uint64(8)
        place = out[row * blocks * BLOCK_NBYTES : (row + 1) * blocks * BLOCK_NBYTES]
        for block in range(blocks):
            place[BLOCK_NBYTES * block] = scales[source * blocks + block]
            for i in range(16):
                place[BLOCK_NBYTES * block + 1 + i] = written[16 * block + i]
