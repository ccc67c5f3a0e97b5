"""Find the Hugging Face architecture and configuration that belong to a GGUF file's `general.architecture`.

Supporting a new architecture takes one entry in `ARCHITECTURES`. Sources, all in ggml-org/llama.cpp:
convert_hf_to_gguf.py, llama-model.cpp and gguf-py's constants.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from engine.checkpoints.checkpoint import GgufVocabulary
from engine.checkpoints.gguf_header import DAMAGED, Value
from engine.checkpoints.gguf_keys import Keys
from engine.checkpoints.gguf_rope import rope_parameters
from engine.checkpoints.limits import COUNT_LIMIT, EXPERTS_LIMIT, LAYERS_LIMIT, WIDTH_LIMIT
from engine.errors import BadCheckpoint, UnsupportedModel

Config = dict[str, Any]

INNER_NORMS = {"attn_norm": "input_layernorm", "ffn_norm": "post_attention_layernorm"}
OUTER_NORMS = {
    "post_attention_norm": "post_attention_layernorm",
    "post_ffw_norm": "post_feedforward_layernorm",
}
BOTH_NORMS = OUTER_NORMS | {"attn_norm": "input_layernorm", "ffn_norm": "pre_feedforward_layernorm"}


@dataclass(frozen=True, slots=True)
class Architecture:
    """An architecture: its names in HF, and how it differs from the layers that most architectures have.

    Attributes: `model_type` and `class_name`, HF's names; `settings`, a function that returns the entries of
    the configuration that only this architecture has; `maths`, the keys besides `UNDERSTOOD` that `settings`
    takes care of; `interleaved`, whether the rows of Q and K are permuted for llama.cpp's rotary layout;
    `qkv_bias`, whether Q, K and V have biases; `qk_norm`, whether queries and keys are normalized;
    `whole_qk_norm`, whether they are over all heads together; `fused`, whether Q, K and V are one matrix, and
    gate and up another; `norms`, a layer's norms: GGUF's name -> HF's name; `norm_plus`, a number to add to stored norms.
    """

    model_type: str
    class_name: str
    settings: Callable[[Keys, Config], Config]
    maths: tuple[str, ...] = ()
    interleaved: bool = False
    qkv_bias: bool = False
    qk_norm: bool = False
    whole_qk_norm: bool = False
    fused: bool = False
    norms: Mapping[str, str] = field(default_factory=lambda: INNER_NORMS)
    norm_plus: float = 0.0


# Metadata keys of every architecture that are read here or by `gguf_rope`, or that change no computation. A
# file with another key of its architecture is refused unless the architecture handles it: converters also use
# the names of these architectures for relatives (Granite, MiniCPM, ...).
UNDERSTOOD = frozenset(
    {
        *("vocab_size", "context_length", "embedding_length", "feed_forward_length", "block_count"),
        *("tensor_data_layout", "attention.head_count", "attention.head_count_kv", "attention.key_length"),
        *("attention.value_length", "attention.layer_norm_rms_epsilon", "rope.dimension_count"),
        *("rope.freq_base", "rope.scale_linear", "rope.scaling.type", "rope.scaling.factor"),
        *("rope.scaling.attn_factor", "rope.scaling.original_context_length", "rope.scaling.finetuned"),
        *("rope.scaling.yarn_attn_factor", "rope.scaling.yarn_beta_fast", "rope.scaling.yarn_beta_slow"),
        *("rope.scaling.yarn_ext_factor", "rope.scaling.yarn_log_multiplier"),
    }
)


def architecture_of(keys: Keys) -> Architecture:
    """Return the file's architecture, and set `keys.prefix` to its GGUF name.

    Raises `UnsupportedModel` if the architecture is unknown.
    """
    name = keys.text("general.architecture")
    if name not in ARCHITECTURES:
        raise UnsupportedModel(
            f"{keys.path.name} contains a model of the unsupported architecture {name[:40]!r}.",
            f"Supported in GGUF files: {', '.join(sorted(ARCHITECTURES))}.",
        )
    keys.prefix = name
    if name == "llama" and keys.number("{arch}.expert_count", 0):
        return MIXTRAL
    return ARCHITECTURES[name]


def configuration(keys: Keys, architecture: Architecture, vocabulary: GgufVocabulary) -> Config:
    """Return the arguments for `AutoConfig.for_model`.

    Raises `BadCheckpoint` if the metadata are contradictory; `UnsupportedModel` if they ask for something
    that is not supported.
    """
    _refuse_different_maths(keys, architecture)
    tensors = keys.header.tensors
    hidden = keys.number("{arch}.embedding_length", least=1, most=WIDTH_LIMIT)
    heads = keys.number("{arch}.attention.head_count", least=1, most=COUNT_LIMIT)
    kv_heads = keys.number("{arch}.attention.head_count_kv", heads, least=1, most=COUNT_LIMIT)
    head_dim = keys.number("{arch}.attention.key_length", hidden // heads, least=2, most=COUNT_LIMIT)
    if heads % kv_heads or head_dim % 2:
        raise BadCheckpoint(
            f"{keys.path.name} is invalid: {heads} heads and {kv_heads} key-value heads of size {head_dim}.",
            DAMAGED,
        )
    if keys.number("{arch}.attention.value_length", head_dim) != head_dim:
        raise UnsupportedModel(
            f"{keys.path.name} has keys and values of different lengths, which is not supported.",
            "Choose another model.",
        )
    rows = tensors["token_embd.weight"].shape[0] if "token_embd.weight" in tensors else len(vocabulary.tokens)
    if len(vocabulary.tokens) > rows:
        raise BadCheckpoint(
            f"{keys.path.name} is invalid: {len(vocabulary.tokens)} tokens, but only {rows} embeddings.",
            DAMAGED,
        )
    config: Config = {
        "architectures": [architecture.class_name],
        "vocab_size": rows,
        "hidden_size": hidden,
        "intermediate_size": keys.number("{arch}.feed_forward_length", least=1, most=WIDTH_LIMIT),
        "num_hidden_layers": keys.number("{arch}.block_count", least=1, most=LAYERS_LIMIT),
        "num_attention_heads": heads,
        "num_key_value_heads": kv_heads,
        "head_dim": head_dim,
        "max_position_embeddings": keys.number("{arch}.context_length", least=1),
        "rms_norm_eps": keys.real("{arch}.attention.layer_norm_rms_epsilon"),
        "tie_word_embeddings": "output.weight" not in tensors,
        "bos_token_id": vocabulary.bos_id,
        "eos_token_id": vocabulary.eos_id,
        "pad_token_id": keys.token_id("tokenizer.ggml.padding_token_id", len(vocabulary.tokens)),
    }
    return config | architecture.settings(keys, config)


def _refuse_different_maths(keys: Keys, architecture: Architecture) -> None:
    """Raise `UnsupportedModel` for a key of the architecture that is not understood. A zero or false value
    asks for nothing, but for causal attention that is off."""
    known = UNDERSTOOD | {*architecture.maths}
    for full, value in keys.metadata.items():
        prefix, _, key = full.partition(".")
        if prefix != keys.prefix or key in known or not _asks(key, value):
            continue
        wide_window = isinstance(value, int) and value >= keys.number("{arch}.context_length")
        if key == WINDOW and wide_window:
            continue
        raise UnsupportedModel(
            f"{keys.path.name} needs a computation that is not supported ({full[:80]}).",
            "Choose another model.",
        )


def _asks(key: str, value: Value) -> bool:
    if key == "attention.causal":
        return value is not True
    return not isinstance(value, (bool, int, float)) or bool(value)


# -- settings of each architecture
# ----------------------------------------------------------------------------------------


def _whole_head(keys: Keys, config: Config, theta: float = 10000.0) -> Config:
    """Return the `rope_parameters` of a model that must rotate whole heads.

    theta: as for `rope_parameters`. Raises `UnsupportedModel` if it rotates only a part of each head.
    """
    if keys.number("{arch}.rope.dimension_count", config["head_dim"]) != config["head_dim"]:
        raise UnsupportedModel(
            f"{keys.path.name} rotates only part of each head, which is not supported.",
            "Choose another model.",
        )
    return rope_parameters(keys, config["head_dim"], theta)


def _swish(keys: Keys, config: Config) -> Config:
    return {"hidden_act": "silu", "rope_parameters": _whole_head(keys, config)}


def _llama(keys: Keys, config: Config) -> Config:
    biases = [name for name in keys.header.tensors if name.startswith("blk.0.") and name.endswith(".bias")]
    return _swish(keys, config) | {
        "attention_bias": any(name.startswith("blk.0.attn_") for name in biases),
        "mlp_bias": any(name.startswith("blk.0.ffn_") for name in biases),
    }


def _seed_oss(keys: Keys, config: Config) -> Config:
    """Return the settings of Seed-OSS, whose output projection may have a bias of its own."""
    out = "blk.0.attn_output.bias" in keys.header.tensors
    return _llama(keys, config) | {
        "attention_bias": "blk.0.attn_q.bias" in keys.header.tensors,
        "attention_out_bias": out,
    }


def _smollm3(keys: Keys, config: Config) -> Config:
    """Return the settings of SmolLM3. Which layers have no positions is not in the metadata: every fourth,
    as in llama.cpp."""
    rotated = [int((layer + 1) % 4 != 0) for layer in range(config["num_hidden_layers"])]
    return _llama(keys, config) | {"no_rope_layers": rotated, "use_sliding_window": False}


def _granite(keys: Keys, config: Config) -> Config:
    def factor(key: str, usual: float = 1.0) -> float:
        return keys.real("{arch}." + key, usual) if keys.get("{arch}." + key) else usual

    return _llama(keys, config) | {
        "attention_multiplier": factor("attention.scale", config["head_dim"] ** -0.5),
        "embedding_multiplier": factor("embedding_scale"),
        "residual_multiplier": factor("residual_scale"),
        "logits_scaling": factor("logit_scale"),
    }


def _mistral(keys: Keys, config: Config) -> Config:
    return _swish(keys, config) | {"sliding_window": None}


def _mixtral(keys: Keys, config: Config) -> Config:
    # Each expert of each layer becomes a separate weight.
    most = min(1024, EXPERTS_LIMIT // config["num_hidden_layers"])
    experts = keys.number("{arch}.expert_count", least=1, most=most)
    return _mistral(keys, config) | {
        "num_local_experts": experts,
        "num_experts_per_tok": keys.number("{arch}.expert_used_count", least=1, most=experts),
    }


def _qwen(keys: Keys, config: Config) -> Config:
    return _swish(keys, config) | {"use_sliding_window": False}


def _phi3(keys: Keys, config: Config) -> Config:
    head_dim = config["head_dim"]
    rotated = keys.number("{arch}.rope.dimension_count", head_dim, least=2, most=head_dim)
    part = rotated / head_dim
    if rotated % 2 or int(head_dim * part) != rotated:  # transformers computes int(head_dim * part)
        raise keys.bad("{arch}.rope.dimension_count", rotated)
    return {
        "hidden_act": "silu",
        "rope_parameters": rope_parameters(keys, rotated) | {"partial_rotary_factor": part},
        # transformers uses this value instead of the one in rope_parameters
        "original_max_position_embeddings": keys.number(
            "{arch}.rope.scaling.original_context_length", config["max_position_embeddings"], least=1
        ),
        # llama.cpp ignores the window, but the models were trained with it.
        "sliding_window": keys.number("{arch}.attention.sliding_window", 0) or None,
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


def _gemma2(keys: Keys, config: Config) -> Config:
    return _gemma(keys, config, layers_of_27b=46) | {
        "rope_parameters": _whole_head(keys, config),
        "sliding_window": keys.number("{arch}.attention.sliding_window", 4096, least=1),
        "layer_types": _layer_types(keys, config["num_hidden_layers"], period=2),
        "attn_logit_softcapping": keys.real("{arch}.attn_logit_softcapping", 50.0),
        "final_logit_softcapping": keys.real("{arch}.final_logit_softcapping", 30.0),
    }


def _gemma3(keys: Keys, config: Config) -> Config:
    window = keys.number("{arch}.attention.sliding_window", 0) or None
    capped = keys.get("{arch}.final_logit_softcapping") is not None
    return _gemma(keys, config, layers_of_27b=62) | {
        "rope_parameters": {
            "full_attention": _whole_head(keys, config, theta=1000000.0),
            "sliding_attention": {
                "rope_type": "default",
                "rope_theta": keys.real("{arch}.rope.freq_base_swa", 10000.0),
            },
        },
        "sliding_window": window,
        "layer_types": _layer_types(keys, config["num_hidden_layers"], period=6 if window else 1),
        "final_logit_softcapping": keys.real("{arch}.final_logit_softcapping") if capped else None,
    }


def _layer_types(keys: Keys, layers: int, period: int) -> list[str]:
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


WINDOW, CAP, LAST_CAP = "attention.sliding_window", "attn_logit_softcapping", "final_logit_softcapping"
PATTERN, LOCAL_BASE = "attention.sliding_window_pattern", "rope.freq_base_swa"
EXPERTS = ("expert_count", "expert_used_count")
FACTORS = ("attention.scale", "embedding_scale", "residual_scale", "logit_scale")
MIXTRAL = Architecture("mixtral", "MixtralForCausalLM", _mixtral, EXPERTS, interleaved=True)
ARCHITECTURES = {
    "llama": Architecture("llama", "LlamaForCausalLM", _llama, interleaved=True),
    "mistral": Architecture("mistral", "MistralForCausalLM", _mistral, interleaved=True),
    "qwen2": Architecture("qwen2", "Qwen2ForCausalLM", _qwen, qkv_bias=True),
    "qwen3": Architecture("qwen3", "Qwen3ForCausalLM", _qwen, qk_norm=True),
    "seed_oss": Architecture(
        "seed_oss",
        "SeedOssForCausalLM",
        _seed_oss,
        norms={"attn_norm": "input_layernorm", "post_attention_norm": "post_attention_layernorm"},
    ),
    "smollm3": Architecture("smollm3", "SmolLM3ForCausalLM", _smollm3, interleaved=True),
    "granite": Architecture("granite", "GraniteForCausalLM", _granite, FACTORS, interleaved=True),
    # OLMo 3 has the same name, and windows, which are refused.
    "olmo2": Architecture("olmo2", "Olmo2ForCausalLM", _swish, whole_qk_norm=True, norms=OUTER_NORMS),
    "phi3": Architecture("phi3", "Phi3ForCausalLM", _phi3, (WINDOW,), fused=True),
    "gemma2": Architecture(
        "gemma2",
        "Gemma2ForCausalLM",
        _gemma2,
        (WINDOW, PATTERN, CAP, LAST_CAP),
        norms=BOTH_NORMS,
        norm_plus=-1.0,
    ),
    "gemma3": Architecture(
        "gemma3_text",
        "Gemma3ForCausalLM",
        _gemma3,
        (WINDOW, PATTERN, LOCAL_BASE, LAST_CAP),
        qk_norm=True,
        norms=BOTH_NORMS,
        norm_plus=-1.0,
    ),
}
