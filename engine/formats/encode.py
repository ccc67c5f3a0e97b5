"""Rounding weights to formats of few bits: for substitutes of a model's own weights, which draft for it.

Each group's scale is the best of a few, by least squares. Blocks are those of engine.formats.q4_0, q3_k and
q2_k.
"""

import numpy as np
from numpy.typing import NDArray

from engine.checkpoints.storage import BLOCKS
from engine.formats.jit import half, helper, kernel, spread

_PIECE = 512  # blocks that a thread encodes at a time

SHRINKS = np.linspace(0.75, 1.0, 6).astype(np.float32)  # shares of a block's range that are tried for Q2_K
STEPS = np.arange(-4, 5).astype(np.float32) / np.float32(10)  # changes of the largest quant, for Q4_0
WIDE_STEPS = np.arange(-9, 10).astype(np.float32) / np.float32(10)  # the same for Q3_K


def encoded(name: str, values: NDArray[np.float32]) -> NDArray[np.uint8]:
    """Return numbers, float32 [numbers], rounded to the blocks of a format, uint8 [bytes], on all cores.

    name: Q4_0, Q3_K or Q2_K. The number of numbers is a multiple of the block's.
    """
    count, nbytes = BLOCKS[name]
    work = {"Q4_0": encode_q4_0, "Q3_K": encode_q3_k, "Q2_K": encode_q2_k}[name]
    blocks = len(values) // count
    assert blocks * count == len(values)
    out = np.empty(blocks * nbytes, np.uint8)
    spread(
        blocks,
        lambda start, stop: work(values[start * count : stop * count], out[start * nbytes : stop * nbytes]),
        _PIECE,
    )
    return out


@helper
def put_half(value, out, at):  # type: ignore[no-untyped-def]
    """Write a float32, rounded to float16 (to nearest, ties away from zero), to out[at] (uint8), and return
    what was written as float32. Too large a number becomes the largest; small ones are subnormal."""
    bits = np.float32(value).view(np.uint32)
    sign = np.uint32(bits >> np.uint32(16)) & np.uint32(0x8000)
    rest = np.uint32(np.uint32(bits & np.uint32(0x7FFFFFFF)) + np.uint32(0x1000))
    exponent = np.int32(rest >> np.uint32(23)) - 112
    word = np.uint32(0)
    if exponent >= 31:
        word = np.uint32(0x7BFF)
    elif exponent > 0:
        word = np.uint32(
            np.uint32(np.uint32(exponent) << np.uint32(10))
            | np.uint32(np.uint32(rest >> np.uint32(13)) & np.uint32(0x3FF))
        )
    else:
        steps = np.uint32(bits & np.uint32(0x7FFFFFFF)).view(np.float32) * np.float32(2.0**24)
        word = np.uint32(steps + np.float32(0.5))
    word = np.uint32(word | sign)
    out[at] = word & np.uint32(0xFF)
    out[at + 1] = word >> np.uint32(8)
    return half(out, at)


@kernel
def encode_q4_0(values, out):  # type: ignore[no-untyped-def]
    for block in range(len(values) // 32):
        x = values[block * 32 : block * 32 + 32]
        p = block * 18
        scale = put_half(symmetric(x, np.float32(-8.0), STEPS), out, p)
        inverse = np.float32(1.0) / scale if scale != 0 else np.float32(0.0)
        for i in range(16):
            low = np.int32(min(np.float32(7.0), max(np.float32(-8.0), np.rint(x[i] * inverse)))) + 8
            high = np.int32(min(np.float32(7.0), max(np.float32(-8.0), np.rint(x[16 + i] * inverse)))) + 8
            out[p + 2 + i] = low | high << 4


@kernel
def encode_q3_k(values, out):  # type: ignore[no-untyped-def]
    scales = np.empty(16, np.float32)
    for block in range(len(values) // 256):
        p = block * 110
        largest = np.float32(0.0)
        for j in range(16):
            start = block * 256 + 16 * j
            scales[j] = symmetric(values[start : start + 16], np.float32(-4.0), WIDE_STEPS)
            if abs(scales[j]) > abs(largest):
                largest = scales[j]
        d = put_half(largest / np.float32(-32.0), out, p + 108)
        for i in range(108):
            out[p + i] = 0
        for j in range(16):
            x = values[block * 256 + 16 * j : block * 256 + 16 * j + 16]
            scale, least = 0, np.float32(-1.0)
            middle = nearest(scales[j], d, -32, 31)
            for near in range(max(-32, middle - 1), min(31, middle + 1) + 1):
                unit, error = d * np.float32(near), np.float32(0.0)
                for i in range(16):
                    error += (x[i] - unit * np.float32(nearest(x[i], unit, -4, 3))) ** 2
                if least < 0 or error < least:
                    scale, least = near, error
            out[p + 96 + j % 8] |= (scale + 32 & 15) << 4 * (j // 8)
            out[p + 104 + j % 4] |= (scale + 32 >> 4) << 2 * (j // 4)
            low, shift = p + 32 + 32 * (j // 8) + 16 * (j & 1), 2 * (j % 8 // 2)
            third, bit = p + 16 * (j & 1), j // 2
            for i in range(16):
                quant = nearest(x[i], d * np.float32(scale), -4, 3) + 4
                out[low + i] |= (quant & 3) << shift
                out[third + i] |= (quant >> 2) << bit


@kernel
def encode_q2_k(values, out):  # type: ignore[no-untyped-def]
    scales, minima = np.empty(16, np.float32), np.empty(16, np.float32)
    for block in range(len(values) // 256):
        x = values[block * 256 : block * 256 + 256]
        p = block * 84
        for j in range(16):
            scales[j], minima[j] = affine(x[16 * j : 16 * j + 16])
        d = put_half(scales.max() / np.float32(15.0), out, p + 80)
        dmin = put_half(minima.max() / np.float32(15.0), out, p + 82)
        for i in range(16, 80):
            out[p + i] = 0
        for j in range(16):
            scale = nearest(scales[j], d, 0, 15)
            minimum = nearest(minima[j], dmin, 0, 15)
            out[p + j] = scale | minimum << 4
            s, m = d * np.float32(scale), dmin * np.float32(minimum)
            q, shift = p + 16 + 32 * (j // 8) + 16 * (j & 1), 2 * (j % 8 // 2)
            for i in range(16):
                quant = nearest(x[16 * j + i] + m, s, 0, 3)
                out[q + i] |= quant << shift


@helper
def nearest(value, unit, least, most):  # type: ignore[no-untyped-def]
    """Return the integer from `least` to `most` whose multiple of `unit` is nearest to `value`."""
    if unit == 0:
        return np.int32(0)
    return np.int32(min(np.float32(most), max(np.float32(least), np.rint(value / unit))))


@helper
def symmetric(x, least, steps):  # type: ignore[no-untyped-def]
    """Return the scale with which quants from `least` to -1 - `least` are near to the numbers `x`. steps:
    what is added to the quant `least` of the largest number, to try another scale."""
    largest = np.float32(0.0)
    for i in range(len(x)):
        if abs(x[i]) > abs(largest):
            largest = x[i]
    best, scale = np.float32(-1.0), np.float32(0.0)
    for step in steps:
        if largest == 0:
            break
        inverse = (least + step) / largest
        products = squares = np.float32(0.0)
        for i in range(len(x)):
            quant = min(-np.float32(1.0) - least, max(least, np.rint(x[i] * inverse)))
            products += x[i] * quant
            squares += quant * quant
        if squares > 0 and products * products / squares > best:
            best, scale = products * products / squares, products / squares
    return scale


@helper
def affine(x):  # type: ignore[no-untyped-def]
    """Return scale and minimum, both at least 0, with which 2-bit quants are near to the 16 numbers `x`:
    number = scale * quant - minimum."""
    low, high = min(np.float32(0.0), x.min()), x.max()
    best = np.float32(-1.0)
    scale, minimum = np.float32(0.0), -low
    for shrink in SHRINKS:
        unit, least = (high - low) * shrink / np.float32(3.0), low * shrink
        if unit <= 0:
            break
        n, q1, q2, x1, xq = (
            np.float32(16.0),
            np.float32(0.0),
            np.float32(0.0),
            np.float32(0.0),
            np.float32(0.0),
        )
        for i in range(16):
            quant = min(np.float32(3.0), max(np.float32(0.0), np.rint((x[i] - least) / unit)))
            q1 += quant
            q2 += quant * quant
            x1 += x[i]
            xq += x[i] * quant
        if q2 == 0:
            continue
        slope, offset = xq / q2, np.float32(0.0)
        varies = n * q2 - q1 * q1
        if varies > 0 and (n * xq - x1 * q1) / varies * q1 >= x1:  # an offset is never positive
            slope = (n * xq - x1 * q1) / varies
            offset = (x1 - slope * q1) / n
        error = np.float32(0.0)
        for i in range(16):
            quant = min(np.float32(3.0), max(np.float32(0.0), np.rint((x[i] - least) / unit)))
            error += (x[i] - slope * quant - offset) ** 2
        if slope > 0 and (best < 0 or error < best):
            best, scale, minimum = error, slope, -offset
    return scale, minimum
