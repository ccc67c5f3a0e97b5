"""Random blocks in every format, and gguf's own unpacking of them."""

import numpy as np
from gguf import GGMLQuantizationType
from gguf.quants import dequantize

from engine.formats import FORMATS, BlockFormat

BLOCKS = [each for each in FORMATS.values() if isinstance(each, BlockFormat)]


def with_scales(form, blocks, scales):
    """Write `scales` [blocks, places] into blocks, uint8 [blocks, bytes], as float16 or the exponent of the
    next smaller power of two; return them."""
    if form.scale == "E8M0":
        blocks[:, form.scales] = np.frexp(np.abs(scales))[1] + 126
        return blocks
    for place, column in zip(form.scales, np.asarray(scales, np.float16).T, strict=True):
        blocks[:, place : place + 2] = column[:, None].copy().view(np.uint8)
    return blocks


def random_blocks(form, count, seed=0):
    """Return uint8 [count, bytes]: random quants, scales like those of real weights."""
    generator = np.random.default_rng(seed)
    blocks = generator.integers(0, 256, (count, form.nbytes), dtype=np.uint8)
    return with_scales(form, blocks, generator.normal(0, 0.02, (count, len(form.scales))))


def reference(form, blocks):
    """Return float32 [blocks, values], unpacked by gguf."""
    with np.errstate(invalid="ignore"):  # the product of infinity and zero
        return dequantize(blocks, GGMLQuantizationType[form.name])
