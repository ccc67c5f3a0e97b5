"""The keys and values of a token, from a checkpoint's headers."""

import re
from collections.abc import Collection, Mapping

from engine.checkpoints import Weight

_OF_LAYER = re.compile(r"model\.layers\.(\d+)\.")


def kv_width(weights: Mapping[str, Weight], layers: Collection[int] | None = None) -> int:
    """Return how many numbers the keys of one token have in all layers that attend. layers: only in these."""
    width = 0
    for name, weight in weights.items():
        found = _OF_LAYER.match(name)
        if layers is not None and (found is None or int(found[1]) not in layers):
            continue
        if name.endswith(("self_attn.k_proj.weight", "mixer.k_proj.weight")):
            width += weight.shape[0]
        elif name.endswith("self_attn.qkv_proj.weight"):
            output = weights[name.replace("qkv_proj", "o_proj")]
            width += (weight.shape[0] - output.shape[1]) // 2
    return width
