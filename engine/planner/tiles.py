"""What the weights of each format take in the tiles of compiled passes: whether there are any, their bytes,
and the work of bringing streamed bytes into them."""

from collections.abc import Collection, Mapping

from engine.checkpoints import Weight
from engine.checkpoints.names import EMBEDDINGS

# The formats in engine.compiled.layout, which is not imported here because it imports the compiler. GPTQ and
# AWQ are not among them, although compiled passes run them: they do only without streaming, in the order of
# the columns and with float16 scales. A plan reckons with torch's speed, and with the memory of either.
COMPILED = (
    *("F32", "F16", "BF16", "Q4_0", "Q4_1", "Q5_0", "Q5_1", "Q8_0", "Q2_K", "Q3_K", "Q4_K", "Q5_K", "Q6_K"),
    *("IQ1_S", "IQ1_M", "IQ2_XXS", "IQ2_XS", "IQ2_S", "IQ3_XXS", "IQ3_S", "IQ4_NL", "IQ4_XS", "MXFP4"),
    *("NVFP4", "Q1_0", "TQ1_0", "TQ2_0"),
)
# And those in several parts: the layout of the tiles that are made of them (`engine.compiled.layout.TILES`).
FP8 = tuple(f"FP8_{share}{kind}" for share in ("BLOCK", "ROW", "MATRIX") for kind in ("", "_BF16", "_F16"))
IN_PARTS = {
    **{"MXFP4_APART": "MXFP4", "NVFP4_FACTORED": "NVFP4_FACTORED"},
    **dict.fromkeys(("NVFP4_APART", "NVFP4_SCALED"), "NVFP4_FACTORED"),
    **{"W4": "Q4_0", "W4_BF16": "Q4_0_BF16"},
    **{"W4_ZEROS": "Q5_0", "W4_ZEROS_BF16": "Q5_0_BF16"},  # quants less zero points are -15 to 15
    **dict.fromkeys(FP8, "FP8"),
}

# Bits per weight in tiles for each number of bits of GPTQ and AWQ, with scales: at most, whatever the zero
# points are. See engine.formats.grouped_blocks.
GROUPED_TILE_BITS = {2: 4.5, 3: 4.5, 4: 5.5, 8: 8.5}
# The same for formats that store indices of vectors, or the digits of five numbers in a byte: in tiles, each
# number is a quant of its own. Tiles of other formats take about as many bytes as the file.
INDEXED_TILE_BITS = {
    **{"TQ1_0": 2.0625, "IQ1_S": 3.3125, "IQ1_M": 3.5625},
    **{"IQ2_XXS": 3.3125, "IQ2_XS": 3.5625, "IQ2_S": 3.5625, "IQ3_XXS": 4.3125, "IQ3_S": 4.3125},
}
# The same for the layouts of formats in parts, which have scales for each row.
PARTS_TILE_BITS = {
    **{"FP8": 8.25, "NVFP4_FACTORED": 5.0, "MXFP4": 4.5},
    **{"Q4_0": 4.5, "Q4_0_BF16": 4.5, "Q5_0": 5.5, "Q5_0_BF16": 5.5},
}
# How many times as long as usual cores take to bring a streamed byte of these formats into tiles. Estimated
# from the speed of packing alone, measured on a core of an AMD EPYC (Zen 4, AVX-512): 2.7 to 6 GB/s in place
# of Q4_K's 28.
PACKING = {
    **{"TQ1_0": 2.2, "IQ1_S": 4.1, "IQ1_M": 3.8},
    **{"IQ2_XXS": 3.7, "IQ2_XS": 3.3, "IQ2_S": 2.9, "IQ3_XXS": 3.6, "IQ3_S": 3.0},
}


def have_tiles(weights: Mapping[str, Weight]) -> bool:
    """Return whether tiles can be made of all weights, as `engine.model.coverage` knows in detail."""
    return all(
        _has_tiles(weight) and not (name in EMBEDDINGS and weight.format in IN_PARTS)
        for name, weight in weights.items()
    )


def _has_tiles(weight: Weight) -> bool:
    if weight.format not in IN_PARTS:
        return weight.format in COMPILED
    columns = weight.shape[-1]
    if weight.format.startswith("W4"):
        return columns % (32 * weight.spans[1].shape[1]) == 0
    if weight.format == "NVFP4_APART":
        return columns == 16 * weight.spans[1].shape[1] and columns % 32 == 0
    return columns % 32 == 0


def tile_bits(weight: Weight) -> float:
    """Return the bits per weight in tiles; 0 if these take about as many as the file."""
    if weight.groups and weight.format in ("GPTQ", "AWQ"):
        return GROUPED_TILE_BITS[weight.groups.bits]
    if weight.format in IN_PARTS:
        return PARTS_TILE_BITS[IN_PARTS[weight.format]]
    return INDEXED_TILE_BITS.get(weight.format, 0.0)


def kept_nbytes(name: str, weight: Weight) -> int:
    """Return the bytes of a layer's matrix by which no processor can multiply beside a card; 0 of others."""
    if ".layers." not in name or len(weight.shape) < 2:
        return 0
    return 0 if _in_tiles(weight) and not _of_expert(name) else weight.nbytes


def near_experts(weights: Mapping[str, Weight]) -> bool:
    """Return whether a processor can multiply by the experts of a model beside a card."""
    experts = [weight for name, weight in weights.items() if _of_expert(name) and len(weight.shape) == 2]
    return bool(experts) and all(map(_in_tiles, experts))


def _of_expert(name: str) -> bool:
    return ".experts." in name


def _in_tiles(weight: Weight) -> bool:
    return weight.format in COMPILED and len(weight.spans) == 1 and not weight.shape[1] % 32


def average_packing(weights: Collection[Weight]) -> float:
    """Return the average of PACKING over all stored bytes."""
    usual = sum(weight.nbytes for weight in weights)
    return sum(weight.nbytes * PACKING.get(weight.format, 1.0) for weight in weights) / usual


def tiling_nbytes(weights: int, bits: float, stored: int) -> int:
    """Return the bytes that tiles with so many bits per weight take beyond the `stored` ones."""
    return max(0, int(weights * bits) // 8 - stored)
