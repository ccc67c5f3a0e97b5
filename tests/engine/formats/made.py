"""Random blocks in every format, and gguf's own unpacking of them."""

import numpy as np
from gguf import GGMLQuantizationType
from gguf.quants import NVFP4, dequantize

from engine.formats import FORMATS, BlockFormat

BLOCKS = [each for each in FORMATS.values() if isinstance(each, BlockFormat)]


def with_scales(form, blocks, scales):
    """Write `scales` [blocks, places] into blocks, uint8 [blocks, bytes], as float16, the exponent of the
    next smaller power of two, or E4M3; return them."""
    if form.scale == "E8M0":
        blocks[:, form.scales] = np.frexp(np.abs(scales))[1] + 126
        return blocks
    if form.scale == "E4M3":
        blocks[:, form.scales] = NVFP4.fp32_to_ue4m3(np.abs(scales))
        return blocks
    for place, column in zip(form.scales, np.asarray(scales, np.float16).T, strict=True):
        put_halves(form, blocks, place, column.view(np.uint16))
    return blocks


def put_halves(form, blocks, place, bits):
    """Write 16 bits into each block as the scale at `place`. bits: uint16 [blocks]"""
    if form.scale == "F16_IN_QUARTERS":
        for quarter in range(4):
            at = place + 2 * quarter + 1
            blocks[:, at] = blocks[:, at] & 15 | (bits >> 4 * quarter & 15) << 4
    else:
        blocks[:, place : place + 2] = bits[:, None].copy().view(np.uint8)


def random_blocks(form, count, seed=0, size=0.02):
    """Return uint8 [count, bytes]: random quants, scales like those of real weights."""
    generator = np.random.default_rng(seed)
    blocks = generator.integers(0, 256, (count, form.nbytes), dtype=np.uint8)
    return with_scales(form, blocks, generator.normal(0, size, (count, len(form.scales))))


def reference(form, blocks):
    """Return float32 [blocks, values], unpacked by gguf; gguf knows only the sizes of Q1_0."""
    if form.name == "Q1_0":
        bits = np.unpackbits(blocks[:, 2:], axis=1, bitorder="little")
        scales = blocks[:, :2].copy().view(np.float16).astype(np.float32)
        return np.where(bits == 1, scales, -scales)
    with np.errstate(invalid="ignore"):  # the product of infinity and zero
        return dequantize(blocks, GGMLQuantizationType[form.name])
