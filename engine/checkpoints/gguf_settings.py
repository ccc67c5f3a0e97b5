"""The settings of a Hugging Face configuration that only some architectures have, from a GGUF file's
metadata. Each function takes the metadata and the settings that all architectures have."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from engine.checkpoints.gguf_header import DAMAGED
from engine.checkpoints.gguf_keys import Keys
from engine.checkpoints.gguf_rope import YARN, rope_parameters
from engine.checkpoints.limits import COUNT_LIMIT, EXPERTS_LIMIT, WIDTH_LIMIT
from engine.errors import BadCheckpoint, UnsupportedModel

Config = dict[str, Any]
SIGMOID = 2  # of llama.cpp's kinds of routers


def whole_head(keys: Keys, config: Config, theta: float = 10000.0, yarn: Mapping[str, str] = YARN) -> Config:
    """Return the `rope_parameters` of a model that must rotate whole heads.

    theta, yarn: as for `rope_parameters`. Raises `UnsupportedModel` if it rotates only a part of each
    head.
    """
    if keys.number("{arch}.rope.dimension_count", config["head_dim"]) != config["head_dim"]:
        raise UnsupportedModel(
            f"{keys.path.name} rotates only part of each head, which is not supported.",
            "Choose another model.",
        )
    return rope_parameters(keys, config["head_dim"], theta, yarn)


def heads(keys: Keys, config: Config) -> Config:
    """Return the key-value heads, and the width of all heads. Raises `BadCheckpoint` if these numbers cannot
    be; `UnsupportedModel` if keys and values have different widths, or layers different numbers of heads."""
    count = config["num_attention_heads"]
    kv_heads = keys.number("{arch}.attention.head_count_kv", count, least=1, most=COUNT_LIMIT)
    head_dim = head_width(keys, config["hidden_size"] // count)
    if count % kv_heads or head_dim % 2:
        raise BadCheckpoint(
            f"{keys.path.name} is invalid: {count} heads and {kv_heads} key-value heads of size {head_dim}.",
            DAMAGED,
        )
    return {"num_key_value_heads": kv_heads, "head_dim": head_dim}


def head_width(keys: Keys, default: int | None = None, suffix: str = "") -> int:
    """Return the width of heads. suffix: of the keys, "_swa" for those of layers with a window."""
    width = keys.number(f"{{arch}}.attention.key_length{suffix}", default, least=2, most=COUNT_LIMIT)
    if keys.number(f"{{arch}}.attention.value_length{suffix}", width) != width:
        raise UnsupportedModel(
            f"{keys.path.name} has keys and values of different lengths, which is not supported.",
            "Choose another model.",
        )
    return width


def swish(keys: Keys, config: Config) -> Config:
    return {"hidden_act": "silu", "rope_parameters": whole_head(keys, config)}


def llama(keys: Keys, config: Config) -> Config:
    biases = [name for name in keys.header.tensors if name.startswith("blk.0.") and name.endswith(".bias")]
    return swish(keys, config) | {
        "attention_bias": any(name.startswith("blk.0.attn_") for name in biases),
        "mlp_bias": any(name.startswith("blk.0.ffn_") for name in biases),
    }


def seed_oss(keys: Keys, config: Config) -> Config:
    """Return the settings of Seed-OSS, whose output projection may have a bias of its own."""
    out = "blk.0.attn_output.bias" in keys.header.tensors
    return llama(keys, config) | {
        "attention_bias": "blk.0.attn_q.bias" in keys.header.tensors,
        "attention_out_bias": out,
    }


def smollm3(keys: Keys, config: Config) -> Config:
    """Return the settings of SmolLM3. Which layers have no positions is not in the metadata: every fourth,
    as in llama.cpp."""
    rotated = [int((layer + 1) % 4 != 0) for layer in range(config["num_hidden_layers"])]
    return llama(keys, config) | {"no_rope_layers": rotated, "use_sliding_window": False}


def granite(keys: Keys, config: Config) -> Config:
    """Return the settings of Granite. Raises `UnsupportedModel` for its variants without positions."""
    if keys.flag("{arch}.rope.scaling.finetuned") is False:
        raise UnsupportedModel(
            f"{keys.path.name} has no positions ({keys.prefix}.rope.scaling.finetuned), not supported here.",
            "Choose another Granite model.",
        )

    return llama(keys, config) | granite_factors(keys, config)


def granite_factors(keys: Keys, config: Config) -> Config:
    """Return the factors by which models of the Granite family multiply."""

    def factor(key: str, usual: float = 1.0) -> float:
        return keys.real("{arch}." + key, usual) if keys.get("{arch}." + key) else usual

    return {
        "attention_multiplier": factor("attention.scale", config["head_dim"] ** -0.5),
        "embedding_multiplier": factor("embedding_scale"),
        "residual_multiplier": factor("residual_scale"),
        "logits_scaling": factor("logit_scale"),
    }


def olmo3(keys: Keys, config: Config) -> Config:
    """Return the settings of OLMo 3. Only layers without a window scale positions.

    The converter writes HF's attention_factor as attn_factor. llama.cpp multiplies it by the usual factor of
    YaRN once more (seen in October 2026), which is not what the model was trained with.
    """
    return {
        "hidden_act": "silu",
        "sliding_window": keys.number("{arch}.attention.sliding_window", least=1),
        "layer_types": layer_types(keys, config["num_hidden_layers"], period=4),
        "rope_parameters": {
            "full_attention": whole_head(keys, config, yarn=YARN | {"attn_factor": "attention_factor"}),
            "sliding_attention": {
                "rope_type": "default",
                "rope_theta": keys.real("{arch}.rope.freq_base", 10000.0),
            },
        },
    }


def mistral(keys: Keys, config: Config) -> Config:
    return swish(keys, config) | {"sliding_window": None}


def ministral3(keys: Keys, config: Config) -> Config:
    """Return the settings of Ministral 3, whose queries grow with their position."""
    rope = whole_head(keys, config, yarn=YARN | {"yarn_log_multiplier": "mscale_all_dim"})
    if rope.get("mscale_all_dim"):
        rope["mscale"] = 1.0
    rope.setdefault("original_max_position_embeddings", config["max_position_embeddings"])
    rope["llama_4_scaling_beta"] = keys.real("{arch}.attention.temperature_scale", 0.0)
    return {"hidden_act": "silu", "rope_parameters": rope, "sliding_window": None}


def mixture(keys: Keys, config: Config, name: str = "num_local_experts") -> Config:
    """Return the settings of a mixture's routing. name: the field of the number of experts."""
    # Each expert of each layer becomes a separate weight.
    most = min(1024, EXPERTS_LIMIT // config["num_hidden_layers"])
    experts = keys.number("{arch}.expert_count", least=1, most=most)
    return {
        name: experts,
        "num_experts_per_tok": keys.number("{arch}.expert_used_count", least=1, most=experts),
    }


def mixtral(keys: Keys, config: Config) -> Config:
    return mistral(keys, config) | mixture(keys, config)


def qwen3_moe(keys: Keys, config: Config) -> Config:
    """Return the settings of Qwen 3's mixtures. llama.cpp, too, always normalizes the experts' shares."""
    return (
        qwen(keys, config)
        | mixture(keys, config, "num_experts")
        | {
            "moe_intermediate_size": keys.number(
                "{arch}.expert_feed_forward_length", least=1, most=WIDTH_LIMIT
            ),
            "norm_topk_prob": True,
        }
    )


def olmoe(keys: Keys, config: Config) -> Config:
    """Return the settings of OLMoE. llama.cpp, too, never normalizes the experts' shares."""
    return swish(keys, config) | mixture(keys, config, "num_experts") | {"norm_topk_prob": False}


def gpt_oss(keys: Keys, config: Config) -> Config:
    """Return the settings of gpt-oss. Windows alternate; the limits of its YaRN are not rounded to whole
    frequencies, and its gate has the factor and the limit that transformers assumes."""
    rope = whole_head(keys, config)
    if rope["rope_type"] == "yarn":
        rope["truncate"] = False
    return mixture(keys, config) | {
        "hidden_act": "silu",
        "rope_parameters": rope,
        "attention_bias": True,
        "sliding_window": keys.number("{arch}.attention.sliding_window", least=1),
        "intermediate_size": keys.number("{arch}.expert_feed_forward_length", least=1, most=WIDTH_LIMIT),
    }


def granite_moe(keys: Keys, config: Config) -> Config:
    return granite(keys, config) | mixture(keys, config)


def qwen(keys: Keys, config: Config) -> Config:
    return swish(keys, config) | {"use_sliding_window": False}


def _part_of_head(keys: Keys, config: Config) -> Config:
    """Return the `rope_parameters` of a model that may rotate only the first part of each head."""
    head_dim = config["head_dim"]
    rotated = keys.number("{arch}.rope.dimension_count", head_dim, least=2, most=head_dim)
    part = rotated / head_dim
    if rotated % 2 or int(head_dim * part) != rotated:  # transformers computes int(head_dim * part)
        raise keys.bad("{arch}.rope.dimension_count", rotated)
    return rope_parameters(keys, rotated) | {"partial_rotary_factor": part}


def glm4(keys: Keys, config: Config) -> Config:
    return {
        "hidden_act": "silu",
        "rope_parameters": _part_of_head(keys, config),
        "attention_bias": "blk.0.attn_q.bias" in keys.header.tensors,
    }


SIGMOID_MIXTURE = (
    *("nextn_predict_layers", "expert_shared_count", "expert_gating_func", "expert_feed_forward_length"),
    *("expert_weights_scale", "expert_weights_norm", "expert_group_count", "expert_group_used_count"),
)


def glm4_moe(keys: Keys, config: Config) -> Config:
    """Return the settings of GLM-4.5. The blocks behind the model's layers are those for drafts."""
    layers = layers_without_drafts(keys, config)
    return (
        glm4(keys, config)
        | sigmoid_mixture(keys, config)
        | {
            "num_hidden_layers": layers,
            "use_qk_norm": "blk.0.attn_q_norm.weight" in keys.header.tensors,
            "first_k_dense_replace": keys.number("{arch}.leading_dense_block_count", 0, most=layers),
            "n_shared_experts": keys.number("{arch}.expert_shared_count", least=1, most=COUNT_LIMIT),
        }
    )


def layers_without_drafts(keys: Keys, config: Config) -> int:
    """Return the number of the model's layers, without the blocks for drafts behind them."""
    layers: int = config["num_hidden_layers"]
    layers -= keys.number("{arch}.nextn_predict_layers", 0, most=COUNT_LIMIT)
    if layers < 1:
        raise keys.bad("{arch}.nextn_predict_layers", keys.get("{arch}.nextn_predict_layers"))
    return layers


def sigmoid_mixture(keys: Keys, config: Config) -> Config:
    """Return the settings of a mixture whose router computes sigmoids, and chooses in groups. Raises as
    `sigmoid_router`."""
    return sigmoid_router(keys, config, "n_routed_experts") | {
        "n_group": keys.number("{arch}.expert_group_count", 1, least=1, most=COUNT_LIMIT),
        "topk_group": keys.number("{arch}.expert_group_used_count", 1, least=1, most=COUNT_LIMIT),
    }


def sigmoid_router(keys: Keys, config: Config, name: str) -> Config:
    """Return the settings of a mixture whose router computes sigmoids, and has corrections by which it
    chooses. name: as for `mixture`. Raises `UnsupportedModel` if the router's scores are no sigmoids."""
    if keys.number("{arch}.expert_gating_func", SIGMOID) != SIGMOID:
        raise UnsupportedModel(
            f"{keys.path.name} has a router of an unsupported kind (expert_gating_func).",
            "Choose another model.",
        )
    return mixture(keys, config, name) | {
        "moe_intermediate_size": keys.number("{arch}.expert_feed_forward_length", least=1, most=WIDTH_LIMIT),
        "routed_scaling_factor": keys.real("{arch}.expert_weights_scale", 1.0),
        "norm_topk_prob": keys.get("{arch}.expert_weights_norm") is not False,
    }


def phi3(keys: Keys, config: Config) -> Config:
    return {
        "hidden_act": "silu",
        "rope_parameters": _part_of_head(keys, config),
        # transformers uses this value instead of the one in rope_parameters
        "original_max_position_embeddings": keys.number(
            "{arch}.rope.scaling.original_context_length", config["max_position_embeddings"], least=1
        ),
        # llama.cpp ignores the window, but the models were trained with it.
        "sliding_window": keys.number("{arch}.attention.sliding_window", 0) or None,
    }


DELTA = (
    *("ssm.conv_kernel", "ssm.state_size", "ssm.group_count", "ssm.time_step_rank", "ssm.inner_size"),
    *("full_attention_interval", "nextn_predict_layers", "rope.dimension_sections"),
)


def qwen35(keys: Keys, config: Config) -> Config:
    """Return the settings of Qwen 3.5.

    The converter puts the first head of each key head before the second ones (_LinearAttentionVReorderBase).
    Columns of packed matrices cannot be put back, so the layer is told. A name with _ cannot come from a
    config.json.
    """
    return _delta(keys, config) | {"_tiled_heads": True}


def _delta(keys: Keys, config: Config) -> Config:
    """Return the settings of a model with layers of gated DeltaNet. The blocks behind the model's layers are
    those for drafts."""
    layers = layers_without_drafts(keys, config)
    period = keys.number("{arch}.full_attention_interval", 4, least=1)
    heads = keys.number("{arch}.ssm.time_step_rank", least=1, most=COUNT_LIMIT)
    key_heads = keys.number("{arch}.ssm.group_count", least=1, most=COUNT_LIMIT)
    inner = keys.number("{arch}.ssm.inner_size", least=1, most=WIDTH_LIMIT)
    if heads % key_heads or inner % heads:
        raise keys.bad("{arch}.ssm.time_step_rank", heads)
    return {
        "hidden_act": "silu",
        "attention_bias": False,
        "num_hidden_layers": layers,
        "layer_types": [
            "linear_attention" if (layer + 1) % period else "full_attention" for layer in range(layers)
        ],
        "linear_conv_kernel_dim": keys.number("{arch}.ssm.conv_kernel", least=2, most=COUNT_LIMIT),
        "linear_key_head_dim": keys.number("{arch}.ssm.state_size", least=1, most=COUNT_LIMIT),
        "linear_value_head_dim": inner // heads,
        "linear_num_key_heads": key_heads,
        "linear_num_value_heads": heads,
        "rope_parameters": _part_of_head(keys, config),
    }


def qwen35_moe(keys: Keys, config: Config) -> Config:
    """Return the settings of Qwen 3.5's mixtures."""
    return qwen35(keys, config) | _with_shared_expert(keys, config)


def qwen3_next(keys: Keys, config: Config) -> Config:
    """Return the settings of Qwen3-Next. llama.cpp, too, always normalizes the experts' shares.

    The converter parts the matrix that makes queries, keys, values and gates, and no other one; it did not in
    the first files, of November 2025 (llama.cpp's src/models/qwen3next.cpp reads both).
    """
    found = _delta(keys, config) | _with_shared_expert(keys, config) | {"norm_topk_prob": True}
    if not any(name.endswith(".ssm_in.weight") for name in keys.header.tensors):
        found["_delta_inputs"] = ("qkv", "z", "ba")
    return found


def _with_shared_expert(keys: Keys, config: Config) -> Config:
    """Return the settings of mixtures each of which has an expert that every token uses."""
    return mixture(keys, config, "num_experts") | {
        name: keys.number(f"{{arch}}.{key}", least=1, most=WIDTH_LIMIT)
        for name, key in (
            ("moe_intermediate_size", "expert_feed_forward_length"),
            ("shared_expert_intermediate_size", "expert_shared_feed_forward_length"),
        )
    }


def _gemma(keys: Keys, config: Config, layers_of_27b: int) -> Config:
    """Return the settings shared by Gemma 2 and 3.

    `query_pre_attn_scalar` is not in the metadata. It is the head size except in the 27B models, which are
    recognized by their number of layers, as in llama.cpp.
    """
    of_27b = config["num_hidden_layers"] == layers_of_27b
    return {
        "hidden_activation": "gelu_pytorch_tanh",
        "attention_bias": False,
        "query_pre_attn_scalar": (
            config["hidden_size"] // config["num_attention_heads"] if of_27b else config["head_dim"]
        ),
    }


def gemma2(keys: Keys, config: Config) -> Config:
    return _gemma(keys, config, layers_of_27b=46) | {
        "rope_parameters": whole_head(keys, config),
        "sliding_window": keys.number("{arch}.attention.sliding_window", 4096, least=1),
        "layer_types": layer_types(keys, config["num_hidden_layers"], period=2),
        "attn_logit_softcapping": keys.real("{arch}.attn_logit_softcapping", 50.0),
        "final_logit_softcapping": keys.real("{arch}.final_logit_softcapping", 30.0),
    }


def gemma3(keys: Keys, config: Config) -> Config:
    window = keys.number("{arch}.attention.sliding_window", 0) or None
    capped = keys.get("{arch}.final_logit_softcapping") is not None
    return _gemma(keys, config, layers_of_27b=62) | {
        "rope_parameters": {
            "full_attention": whole_head(keys, config, theta=1000000.0),
            "sliding_attention": {
                "rope_type": "default",
                "rope_theta": keys.real("{arch}.rope.freq_base_swa", 10000.0),
            },
        },
        "sliding_window": window,
        "layer_types": layer_types(keys, config["num_hidden_layers"], period=6 if window else 1),
        "final_logit_softcapping": keys.real("{arch}.final_logit_softcapping") if capped else None,
    }


def layer_types(keys: Keys, layers: int, period: int) -> list[str]:
    """Return HF's `layer_types`: full attention in every `period`-th layer, sliding attention in the others.

    A pattern or period in the file's metadata takes precedence.
    """
    key = "{arch}.attention.sliding_window_pattern"
    pattern = keys.get(key)
    if isinstance(pattern, np.ndarray):
        if len(pattern) != layers:
            raise keys.bad(key, pattern)
        sliding = pattern.astype(bool).tolist()
    else:
        period = keys.number(key, period, least=1)
        sliding = [(layer + 1) % period != 0 for layer in range(layers)]
    return ["sliding_attention" if slides else "full_attention" for slides in sliding]
