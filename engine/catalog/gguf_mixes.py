"""Which storage format llama.cpp gives each matrix of a GGUF file when it is told "Q4_K_M" or the like.

Source: llama_tensor_get_type in llama-quant.cpp of ggml-org/llama.cpp.
"""

from engine.catalog.models import Model, Variant
from engine.checkpoints.storage import BLOCKS

MIXES: dict[str, tuple[str, str]] = {  # name: (usual format, format of the matrices that matter most)
    "Q4_0": ("Q4_0", "Q4_0"),
    "Q4_1": ("Q4_1", "Q4_1"),
    "Q4_K_M": ("Q4_K", "Q6_K"),
    "Q4_K_M-2023": ("Q4_K", "Q4_K"),  # of mixtures, before llama.cpp found the layer of an expert by its name
    "Q5_K_M": ("Q5_K", "Q6_K"),
    "Q6_K": ("Q6_K", "Q6_K"),
    "Q8_0": ("Q8_0", "Q8_0"),
}
_FOR_NARROW = {"Q4_K": "Q5_0", "Q5_K": "Q5_1", "Q6_K": "Q8_0"}  # where rows are no whole number of 256


def storage(model: Model, variant: Variant, matrix: str, layer: int, columns: int) -> str:
    """The storage format of `matrix`: "embedding", "head", or in `layer` "q", "k", "v", "o", "gate", "up",
    "down"; `columns`: length of its rows."""
    usual, better = MIXES[variant.mix]
    found = usual
    if matrix == "head" or (matrix == "embedding" and model.tied and not variant.own_head):
        found = "Q8_0" if usual == "Q8_0" or columns % BLOCKS[usual][0] else "Q6_K"
    elif matrix in ("v", "down") and _matters(layer, model.layers):
        found = better
    if matrix == "v" and model.layers == 80 and found == "Q4_K":  # the 70B models: eight heads share a row
        found = "Q5_K"
    if model.experts == 8:
        if matrix in ("k", "v"):
            found = "Q8_0"
        elif matrix == "o" and variant.mix == "Q4_K_M":
            found = "Q5_K"
    return _FOR_NARROW.get(found, found) if columns % BLOCKS[found][0] else found


def _matters(layer: int, layers: int) -> bool:
    """The first and last eighth of the layers, and every third between (`use_more_bits`).

    llama.cpp counts layers as they follow each other in the file; in some they are sorted by name (0, 1, 10,
    11, ...), so that others get more, but as many.
    """
    eighth = layers // 8
    return layer < eighth or layer >= 7 * layers // 8 or (layer - eighth) % 3 == 2
