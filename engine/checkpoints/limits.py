"""Limits for the dimensions of a model, far from those of real models.

With them, an absurd number in a configuration is refused before a model is built from it.
"""

from collections.abc import Mapping
from typing import Any

from engine.errors import BadCheckpoint

LAYERS_LIMIT = 1 << 10  # Llama 3.1 405B: 126
COUNT_LIMIT = 1 << 12  # number of heads, size of a head, number of experts
WIDTH_LIMIT = 1 << 20  # Llama 3.1 405B: 16,384, and 53,248 within the MLP
VOCABULARY_LIMIT = 1 << 22  # Gemma 3: 262,208
CONTEXT_LEAST, CONTEXT_LIMIT = 16, 1 << 31
WINDOW_LEAST = 2  # in a window of 1, a token sees only itself
EXPERTS_LIMIT = 1 << 15  # experts in all layers together; Mixtral 8x22B: 448
# Each expert has three matrices, and a quantized matrix consists of several tensors. Qwen3-Next 80B A3B:
# 76,000 tensors unpacked, and twice as many in FP8.
TENSORS_LIMIT = 1 << 18
STREAMS_LIMIT = 64  # Gemma 3n: 4
# 0 in Granite 4 hybrids that are no mixtures, and in Gemma 4 without inputs of each layer.
_OR_NONE = ("num_local_experts", "num_experts_per_tok", "hidden_size_per_layer_input")
# fmt: off
_MOST = {
    "num_hidden_layers": LAYERS_LIMIT, "num_attention_heads": COUNT_LIMIT, "num_key_value_heads": COUNT_LIMIT,
    "head_dim": COUNT_LIMIT, "num_experts": COUNT_LIMIT, "num_local_experts": COUNT_LIMIT,
    "num_experts_per_tok": COUNT_LIMIT, "num_labels": COUNT_LIMIT, "hidden_size": WIDTH_LIMIT,
    "intermediate_size": WIDTH_LIMIT, "moe_intermediate_size": WIDTH_LIMIT, "vocab_size": VOCABULARY_LIMIT,
    "global_head_dim": COUNT_LIMIT, "num_global_key_value_heads": COUNT_LIMIT, "laurel_rank": WIDTH_LIMIT,
    "hidden_size_per_layer_input": WIDTH_LIMIT, "mamba_n_heads": COUNT_LIMIT, "mamba_n_groups": COUNT_LIMIT,
    "mamba_d_state": COUNT_LIMIT, "mamba_d_conv": COUNT_LIMIT, "mamba_expand": COUNT_LIMIT,
    "shared_intermediate_size": WIDTH_LIMIT, "vocab_size_per_layer_input": VOCABULARY_LIMIT,
    "mamba_num_heads": COUNT_LIMIT, "mamba_head_dim": COUNT_LIMIT, "ssm_state_size": COUNT_LIMIT,
    "n_groups": COUNT_LIMIT, "conv_kernel": COUNT_LIMIT,
    "altup_num_inputs": STREAMS_LIMIT,
    "max_position_embeddings": CONTEXT_LIMIT, "original_max_position_embeddings": CONTEXT_LIMIT,
}
# fmt: on
_DAMAGED = "The file is damaged. Download it again."


def check_sizes(config: Mapping[str, Any]) -> None:
    """Raise `BadCheckpoint` if the sizes in a config.json are implausible or contradict each other.

    Missing and null sizes are accepted, because they stand for the architecture's defaults.
    """
    sizes = {key: config[key] for key in _MOST if config.get(key) is not None}
    if isinstance(sizes.get("intermediate_size"), list):  # Gemma 3n: one for each layer
        for each in sizes.pop("intermediate_size"):
            check_sizes({"intermediate_size": each})
    for key, value in sizes.items():
        if type(value) is not int or not (key not in _OR_NONE) <= value <= _MOST[key]:
            raise BadCheckpoint(f"config.json is invalid: {key} is {str(value)[:40]!r}.", _DAMAGED)
    heads, kv_heads = sizes.get("num_attention_heads"), sizes.get("num_key_value_heads")
    experts = sizes.get("num_local_experts", sizes.get("num_experts", COUNT_LIMIT))
    chosen = sizes.get("num_experts_per_tok", 1)
    if heads and kv_heads and heads % kv_heads:
        raise BadCheckpoint(f"config.json is invalid: {heads} heads, {kv_heads} key-value heads.", _DAMAGED)
    if sizes.get("head_dim", 2) % 2:
        raise BadCheckpoint(f"config.json is invalid: head_dim {sizes['head_dim']} is odd.", _DAMAGED)
    if experts and chosen > experts:
        raise BadCheckpoint(f"config.json is invalid: {chosen} active experts of {experts}.", _DAMAGED)
