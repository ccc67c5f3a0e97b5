"""How large the parts of a model may be.

Far above real models, so that an absurd number in a configuration is refused before anything is built
from it.
"""

from collections.abc import Mapping
from typing import Any

from engine.errors import BadCheckpoint

LAYERS_LIMIT = 1 << 10  # Llama 3.1 405B: 126
COUNT_LIMIT = 1 << 12  # heads, and numbers of one head
WIDTH_LIMIT = 1 << 20  # Llama 3.1 405B: 16,384, within the MLP 53,248
VOCABULARY_LIMIT = 1 << 22  # Gemma 3: 262,208
CONTEXT_LIMIT = 1 << 31
EXPERTS_LIMIT = 1 << 15  # of all layers; Mixtral 8x22B: 448
TENSORS_LIMIT = 1 << 17  # three of each expert, and their parts where they are quantized
# fmt: off
_MOST = {
    "num_hidden_layers": LAYERS_LIMIT, "num_attention_heads": COUNT_LIMIT, "num_key_value_heads": COUNT_LIMIT,
    "head_dim": COUNT_LIMIT, "num_experts": COUNT_LIMIT, "num_local_experts": COUNT_LIMIT,
    "num_experts_per_tok": COUNT_LIMIT, "num_labels": COUNT_LIMIT, "hidden_size": WIDTH_LIMIT,
    "intermediate_size": WIDTH_LIMIT, "vocab_size": VOCABULARY_LIMIT,
    "max_position_embeddings": CONTEXT_LIMIT, "original_max_position_embeddings": CONTEXT_LIMIT,
}
# fmt: on
_OTHER = "The file is damaged; download it again."


def check_sizes(config: Mapping[str, Any]) -> None:
    """Raise `BadCheckpoint` for sizes in a config.json that no model has, or that contradict each other.

    What is missing or null is the architecture's own default.
    """
    sizes = {key: config[key] for key in _MOST if config.get(key) is not None}
    for key, value in sizes.items():
        if type(value) is not int or not 1 <= value <= _MOST[key]:
            raise BadCheckpoint(f"config.json is not valid: {key} is {str(value)[:40]!r}.", _OTHER)
    heads, kv_heads = sizes.get("num_attention_heads"), sizes.get("num_key_value_heads")
    experts = sizes.get("num_local_experts", sizes.get("num_experts", COUNT_LIMIT))
    chosen = sizes.get("num_experts_per_tok", 1)
    if heads and kv_heads and heads % kv_heads:
        raise BadCheckpoint(f"config.json is not valid: {heads} heads, {kv_heads} key-value heads.", _OTHER)
    if sizes.get("head_dim", 2) % 2:
        raise BadCheckpoint(f"config.json is not valid: heads of {sizes['head_dim']} numbers.", _OTHER)
    if chosen > experts:
        raise BadCheckpoint(f"config.json is not valid: {chosen} of {experts} experts at a time.", _OTHER)
