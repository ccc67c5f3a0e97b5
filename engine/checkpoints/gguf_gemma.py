"""Gemma 3n and 4 in GGUF files: their settings, and their tensors, whose shapes differ between layers.

Both have inputs of their own for layers, and layers that use the keys and values of an earlier one. Sources:
ggml-org/llama.cpp, conversion/gemma.py (Gemma3NModel, Gemma4Model), src/models/gemma3n.cpp and gemma4.cpp.
"""

import math
from collections.abc import Iterator

import numpy as np

from engine.checkpoints.gguf_header import DAMAGED
from engine.checkpoints.gguf_keys import Keys
from engine.checkpoints.gguf_places import TensorPlace, linear
from engine.checkpoints.gguf_rope import proportional_parameters
from engine.checkpoints.gguf_settings import Config, head_width, heads, layer_types, whole_head
from engine.checkpoints.limits import COUNT_LIMIT, STREAMS_LIMIT, WIDTH_LIMIT
from engine.errors import BadCheckpoint, UnsupportedModel

FULL, SLIDING = "full_attention", "sliding_attention"
PATTERN = "{arch}.attention.sliding_window_pattern"
SHARED, NARROW = "attention.shared_kv_layers", "embedding_length_per_layer_input"
GEMMA3N = (SHARED, NARROW, "altup.active_idx", "altup.num_inputs", "activation_sparsity_scale")
GEMMA4 = (
    *(SHARED, NARROW, "attention.key_length_swa", "attention.value_length_swa", "rope.dimension_count_swa"),
    *("expert_count", "expert_used_count", "expert_feed_forward_length"),
)
NORMS = {  # of Gemma 2 and 3, too
    "attn_norm": "input_layernorm",
    "post_attention_norm": "post_attention_layernorm",
    "ffn_norm": "pre_feedforward_layernorm",
    "post_ffw_norm": "post_feedforward_layernorm",
}


# -- settings ------------------------------------------------------------------------------------------------


def gemma3n(keys: Keys, config: Config) -> Config:
    """Return the settings of Gemma 3n. The rank of its learned residuals is not in the metadata."""
    layers = config["num_hidden_layers"]
    of_heads = heads(keys, config)
    laurel = keys.header.tensors.get("blk.0.laurel_l.weight")
    if laurel is None:
        raise BadCheckpoint(
            f"{keys.path.name} is incomplete: tensor blk.0.laurel_l.weight is missing.", DAMAGED
        )
    streams = keys.number("{arch}.altup.num_inputs", least=2, most=STREAMS_LIMIT)
    return (
        of_heads
        | _common(keys, config)
        | {
            "intermediate_size": _widths(keys, layers),
            "layer_types": layer_types(keys, layers, period=5),
            "final_logit_softcapping": keys.real("{arch}.final_logit_softcapping", 30.0),
            "rope_parameters": {
                FULL: whole_head(keys, config | of_heads, theta=1000000.0),
                SLIDING: _local_positions(keys),
            },
            "activation_sparsity_pattern": _shares(keys, layers),
            "altup_num_inputs": streams,
            "altup_active_idx": keys.number("{arch}.altup.active_idx", 0, most=streams - 1),
            "laurel_rank": laurel.shape[0],
        }
    )


def gemma4(keys: Keys, config: Config, own: int = 1) -> Config:
    """Return the settings of Gemma 4. `head_dim` and `num_key_value_heads` are those of layers with a window.

    A layer without a window that has no matrix for values takes its keys for them, which are not in the
    metadata either. own: the least number of layers with keys and values of their own. Raises
    `UnsupportedModel` for the mixture of experts.
    """
    if keys.number("{arch}.expert_count", 0):
        raise UnsupportedModel(
            f"{keys.path.name} is a mixture of experts of Gemma 4 ({keys.prefix}.expert_count), which is not "
            "supported.",
            "Choose a dense model of the family.",
        )
    layers = config["num_hidden_layers"]
    if not isinstance(keys.get(PATTERN), np.ndarray):
        raise keys.bad(PATTERN, keys.get(PATTERN))
    types = layer_types(keys, layers, period=1)
    if types[-1] != FULL:  # transformers would change it
        raise keys.bad(PATTERN, keys.get(PATTERN))
    wide, narrow = head_width(keys), head_width(keys, suffix="_swa")
    for suffix, width in (("", wide), ("_swa", narrow)):
        if keys.number(f"{{arch}}.rope.dimension_count{suffix}", width) != width:
            raise UnsupportedModel(
                f"{keys.path.name} rotates only part of each head, which is not supported.",
                "Choose another model.",
            )
    values_are_keys = f"blk.{types.index(FULL)}.attn_v.weight" not in keys.header.tensors
    few, many = _kv_heads(keys, config, types)
    if few != many and not values_are_keys:
        raise _different_sizes(keys, "attention.head_count_kv")
    common = _common(keys, config, own)
    capped = keys.get("{arch}.final_logit_softcapping") is not None
    return (
        common
        | _mlps(keys, layers, common["num_kv_shared_layers"])
        | {
            "head_dim": narrow,
            "global_head_dim": wide,
            "num_key_value_heads": many,
            "num_global_key_value_heads": few if values_are_keys else None,
            "attention_k_eq_v": values_are_keys,
            "layer_types": types,
            "final_logit_softcapping": keys.real("{arch}.final_logit_softcapping") if capped else None,
            "rope_parameters": {
                FULL: proportional_parameters(keys, wide),
                SLIDING: _local_positions(keys),
            },
        }
    )


def _common(keys: Keys, config: Config, own: int = 1) -> Config:
    """Return the settings that Gemma 3n and 4 share. own: as for `gemma4`."""
    return {
        "hidden_activation": "gelu_pytorch_tanh",
        "attention_bias": False,
        "sliding_window": keys.number("{arch}.attention.sliding_window", least=1),
        "num_kv_shared_layers": keys.number("{arch}." + SHARED, 0, most=config["num_hidden_layers"] - own),
        "hidden_size_per_layer_input": keys.number("{arch}." + NARROW, 0, most=WIDTH_LIMIT),
        # Converters add rows for tokens of images and sound to the table of these inputs.
        "vocab_size_per_layer_input": config["vocab_size"],
    }


def _local_positions(keys: Keys) -> Config:
    return {"rope_type": "default", "rope_theta": keys.real("{arch}.rope.freq_base_swa", 10000.0)}


def _widths(keys: Keys, layers: int) -> list[int]:
    return keys.numbers("{arch}.feed_forward_length", layers, least=1, most=WIDTH_LIMIT)


def _mlps(keys: Keys, layers: int, shared: int) -> Config:
    """Return the width of the MLPs, and whether those of the last `shared` layers are twice as wide. Raises
    `UnsupportedModel` for other widths."""
    widths = _widths(keys, layers)
    twice = bool(shared) and widths[-1] == 2 * widths[0]
    if widths != [widths[0]] * (layers - shared) + [widths[0] * (1 + twice)] * shared:
        raise _different_sizes(keys, "feed_forward_length")
    return {"intermediate_size": widths[0], "use_double_wide_mlp": twice}


def _kv_heads(keys: Keys, config: Config, types: list[str]) -> tuple[int, int]:
    """Return the key-value heads of layers without a window, and of those with one."""
    count, key = config["num_attention_heads"], "{arch}.attention.head_count_kv"
    every = keys.numbers(key, len(types), count, least=1, most=COUNT_LIMIT)
    of_type = dict(zip(types, every, strict=True))
    if [of_type[kind] for kind in types] != every:
        raise _different_sizes(keys, "attention.head_count_kv")
    if any(count % each for each in every):
        raise keys.bad(key, keys.get(key))
    return of_type[FULL], of_type.get(SLIDING, of_type[FULL])


def _different_sizes(keys: Keys, key: str) -> UnsupportedModel:
    return UnsupportedModel(
        f"{keys.path.name} has layers of other sizes than Gemma 4's, which is not supported: "
        f"{keys.prefix}.{key}.",
        "Choose another model.",
    )


def _shares(keys: Keys, layers: int) -> list[float]:
    """Return the share of activations that each layer drops, which HF's configurations have.

    The file has the number z of standard deviations below which they are: Φ(z) of a normal distribution.
    """
    key = "{arch}.activation_sparsity_scale"
    scales = keys.get(key)
    if not isinstance(scales, np.ndarray) or len(scales) != layers or np.isnan(scales).any():
        raise keys.bad(key, scales)
    shares = [0.5 * (1 + math.erf(scale / math.sqrt(2))) for scale in scales.tolist()]
    return [float(str(np.float32(share))) for share in shares]  # as `Keys.real`


# -- tensors -------------------------------------------------------------------------------------------------


def places_of_gemma3n(config: Config) -> Iterator[tuple[str, TensorPlace]]:
    """Yield (GGUF name, place) for every tensor of a Gemma 3n. config: as `gemma3n` completes it."""
    hidden, streams = config["hidden_size"], config["altup_num_inputs"]
    yield from _outside(config)
    for name, hf_name in (("proj", "projections"), ("unembd_proj", "unembed_projections")):
        place = TensorPlace(f"model.altup_{hf_name}.{{}}.weight", (streams - 1, hidden, hidden))
        yield f"altup_{name}.weight", place
    mixing = (
        linear("altup_correct_coef", "altup.correction_coefs", streams, streams, bias=False)
        | linear("altup_predict_coef", "altup.prediction_coefs", streams**2, streams, bias=False)
        | linear("altup_router", "altup.modality_router", streams, hidden, bias=False)
        | linear("laurel_l", "laurel.linear_left", config["laurel_rank"], hidden, bias=False)
        | linear("laurel_r", "laurel.linear_right", hidden, config["laurel_rank"], bias=False)
        | _norms({"altup_router_norm": "altup.router_norm"}, hidden)
        | _norms({"laurel_post_norm": "laurel.post_laurel_norm"}, hidden)
        | {"altup_correct_scale.weight": TensorPlace("altup.correct_output_scale", (hidden,))}
    )
    for layer, width in enumerate(config["intermediate_size"]):
        places = mixing | _inputs(config) | _norms(NORMS, hidden) | _mlp(hidden, width)
        places |= _attention(config, layer, config["num_key_value_heads"], config["head_dim"], values=True)
        yield from _of_layer(layer, places)


def places_of_gemma4(config: Config) -> Iterator[tuple[str, TensorPlace]]:
    """Yield (GGUF name, place) for every tensor of a Gemma 4. config: as `gemma4` completes it."""
    hidden = config["hidden_size"]
    yield from _outside(config)
    first_shared = config["num_hidden_layers"] - config["num_kv_shared_layers"]
    for layer, kind in enumerate(config["layer_types"]):
        kv_heads, head_dim = config["num_key_value_heads"], config["head_dim"]
        if kind == FULL:
            kv_heads = config["num_global_key_value_heads"] or kv_heads
            head_dim = config["global_head_dim"]
        values = not (kind == FULL and config["attention_k_eq_v"])
        twice = config["use_double_wide_mlp"] and layer >= first_shared
        places = _norms(NORMS, hidden) | _mlp(hidden, config["intermediate_size"] * (1 + twice))
        places |= _attention(config, layer, kv_heads, head_dim, values) | _inputs(config)
        places["layer_output_scale.weight"] = TensorPlace("layer_scalar", (1,))
        yield from _of_layer(layer, places)


def _of_layer(layer: int, places: dict[str, TensorPlace]) -> Iterator[tuple[str, TensorPlace]]:
    """Yield the places of a layer under their whole names."""
    for name, place in places.items():
        hf_name = f"model.layers.{layer}.{place.name}" if place.name else ""
        yield f"blk.{layer}.{name}", TensorPlace(hf_name, place.shape)


def _outside(config: Config) -> Iterator[tuple[str, TensorPlace]]:
    """Yield the places outside the layers that Gemma 3n and 4 share."""
    hidden, vocabulary = config["hidden_size"], config["vocab_size"]
    yield "token_embd.weight", TensorPlace("model.embed_tokens.weight", (vocabulary, hidden))
    yield "output_norm.weight", TensorPlace("model.norm.weight", (hidden,))
    if not config["tie_word_embeddings"]:
        yield "output.weight", TensorPlace("lm_head.weight", (vocabulary, hidden))
    if narrow := config["hidden_size_per_layer_input"]:
        rows, every = config["vocab_size_per_layer_input"], config["num_hidden_layers"] * narrow
        yield "per_layer_token_embd.weight", TensorPlace("model.embed_tokens_per_layer.weight", (rows, every))
        place = TensorPlace("model.per_layer_model_projection.weight", (every, hidden))
        yield "per_layer_model_proj.weight", place
        yield "per_layer_proj_norm.weight", TensorPlace("model.per_layer_projection_norm.weight", (narrow,))


def _inputs(config: Config) -> dict[str, TensorPlace]:
    """Return the places of what brings a layer's own inputs into it."""
    hidden, narrow = config["hidden_size"], config["hidden_size_per_layer_input"]
    if not narrow:
        return {}
    return (
        linear("inp_gate", "per_layer_input_gate", narrow, hidden, bias=False)
        | linear("proj", "per_layer_projection", hidden, narrow, bias=False)
        | _norms({"post_norm": "post_per_layer_input_norm"}, hidden)
    )


def _norms(names: dict[str, str], width: int) -> dict[str, TensorPlace]:
    return {f"{name}.weight": TensorPlace(f"{hf_name}.weight", (width,)) for name, hf_name in names.items()}


def _mlp(hidden: int, width: int) -> dict[str, TensorPlace]:
    return (
        linear("ffn_gate", "mlp.gate_proj", width, hidden, bias=False)
        | linear("ffn_up", "mlp.up_proj", width, hidden, bias=False)
        | linear("ffn_down", "mlp.down_proj", hidden, width, bias=False)
    )


def _attention(
    config: Config, layer: int, kv_heads: int, head_dim: int, values: bool
) -> dict[str, TensorPlace]:
    """Return the places of a layer's attention. values: whether it has a matrix for them.

    A layer that uses the keys and values of an earlier one may have matrices for its own all the same, which
    are never used.
    """
    hidden, rows = config["hidden_size"], config["num_attention_heads"] * head_dim
    own = linear("attn_k", "self_attn.k_proj", kv_heads * head_dim, hidden, bias=False)
    own |= _norms({"attn_k_norm": "self_attn.k_norm"}, head_dim)
    if values:
        own |= linear("attn_v", "self_attn.v_proj", kv_heads * head_dim, hidden, bias=False)
    if layer >= config["num_hidden_layers"] - config["num_kv_shared_layers"]:
        own = {name: TensorPlace("", place.shape) for name, place in own.items()}
    return (
        own
        | linear("attn_q", "self_attn.q_proj", rows, hidden, bias=False)
        | linear("attn_output", "self_attn.o_proj", hidden, rows, bias=False)
        | _norms({"attn_q_norm": "self_attn.q_norm"}, head_dim)
    )
