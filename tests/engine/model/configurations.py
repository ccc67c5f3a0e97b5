"""Configurations whose modules say what a description says, of all families: usual, unusual and famous."""

import copy
from pathlib import Path

import pytest

from engine.checkpoints import Checkpoint, Generation, TokenizerFolder
from engine.model.architectures import ARCHITECTURES, family_of
from tests.engine.model.famous import FAMOUS
from tests.engine.models import COMMON, CONFIGS

LAYERS = 7
LINEAR = {"rope_type": "linear", "factor": 4.0}
LLAMA3 = {
    "rope_type": "llama3",
    "factor": 32.0,
    "low_freq_factor": 1.0,
    "high_freq_factor": 4.0,
    "original_max_position_embeddings": 8192,
}
YARN = {"type": "yarn", "factor": 4.0, "original_max_position_embeddings": 32768}
STRETCH = {
    "short_factor": [1 + i / 50 for i in range(48)],
    "long_factor": [1 + i * i / 40 for i in range(48)],
}
VARIANTS = {
    "llama": [
        {"num_key_value_heads": 8},
        {"head_dim": 80, "tie_word_embeddings": True},
        {"attention_bias": True},
        {"attention_bias": True, "mlp_bias": True, "hidden_act": "gelu_pytorch_tanh"},
        {"sliding_window": 100, "rope_theta": 500000.0},
        {"rope_scaling": {"type": "linear", "factor": 2.0}},
        {"rope_scaling": {"type": "linear", "factor": 3.0}, "rope_theta": 1e6},
        {"rope_scaling": {"type": "dynamic", "factor": 3.0}, "max_position_embeddings": 60},
        {"rope_scaling": LLAMA3, "rope_theta": 500000},
        {"rope_parameters": {**LLAMA3, "rope_theta": 500000.0}},
        {"rope_scaling": {}, "rope_parameters": {"rope_theta": 77.0}},
        {"rope_scaling": LINEAR, "rope_parameters": {"rope_theta": 77.0}, "rope_theta": 99.0},
        {"rope_scaling": LINEAR, "partial_rotary_factor": 0.5},
        {"partial_rotary_factor": 0.5},
        {"rope_scaling": {**LLAMA3, "type": "default"}, "original_max_position_embeddings": 1024},
    ],
    "mistral": [
        {"sliding_window": None, "head_dim": 96},
        {"sliding_window": 17, "attention_bias": True},
        {"head_dim": None, "rope_theta": 1000000.0},
    ],
    "mixtral": [{"num_experts": 3}, {"sliding_window": 5, "num_local_experts": 2}],
    "qwen3_moe": [
        {"num_local_experts": 6, "num_experts_per_tok": 2, "head_dim": 32, "attention_bias": True},
        {
            "use_sliding_window": True,
            "sliding_window": 5,
            "num_experts": 3,
            "num_experts_per_tok": 3,
            "moe_intermediate_size": 64,
        },
    ],
    "qwen2": [
        {"use_sliding_window": True, "max_window_layers": 3},
        {"use_sliding_window": True, "sliding_window": None},
        {"use_sliding_window": False, "layer_types": ["sliding_attention"] * LAYERS},
        {
            "use_sliding_window": True,
            "sliding_window": 9,
            "layer_types": ["sliding_attention", "full_attention"] * 3 + ["sliding_attention"],
        },
        {"head_dim": 32, "attention_bias": False, "num_key_value_heads": 4},
        {"rope_scaling": YARN, "rope_theta": 1000000.0},
        {"rope_scaling": {**YARN, "beta_fast": 16, "beta_slow": 2, "truncate": False}},
        {"rope_scaling": {**YARN, "attention_factor": 1.5}, "head_dim": 96},
        {"rope_scaling": {**YARN, "mscale": 0.7, "mscale_all_dim": 1.2}},
        {"rope_scaling": {**YARN, "factor": None}, "max_position_embeddings": 131072},
        {"rope_scaling": YARN, "original_max_position_embeddings": 4096, "tie_word_embeddings": True},
        {"rope_scaling": {"type": "yarn", "factor": 8.0}},
    ],
    "lfm2_moe": [
        {"layer_types": ["conv", "full_attention"] * 3 + ["conv"], "num_dense_layers": 0},
        {
            "layer_types": ["full_attention", "conv", "conv"] * 2 + ["full_attention"],
            "use_expert_bias": False,
            "tie_embedding": False,
            "rope_parameters": {"rope_type": "default", "rope_theta": 5e6},
        },
    ],
    "qwen3": [
        {"attention_bias": True, "head_dim": 64},
        {"use_sliding_window": True, "max_window_layers": 0, "num_key_value_heads": 8},
        {"rope_scaling": {"rope_type": "dynamic", "factor": 2.0}},
    ],
    "gemma2": [
        {"head_dim": 128, "query_pre_attn_scalar": 144, "attention_bias": True},
        {"attn_logit_softcapping": None, "final_logit_softcapping": None, "sliding_window": None},
        {
            "layer_types": ["full_attention"] * LAYERS,
            "sliding_window_pattern": 3,
            "tie_word_embeddings": False,
        },
        {"rope_scaling": {"type": "linear", "factor": 2.0}, "hidden_activation": "silu"},
    ],
    "gemma3_text": [
        {"sliding_window_pattern": 3, "rope_local_base_freq": 12345.0, "rope_theta": 54321.0},
        {"rope_scaling": {"rope_type": "linear", "factor": 8.0}},
        {"rope_scaling": {"type": "linear", "factor": 8.0}},
        {"layer_types": ["full_attention"] * LAYERS, "final_logit_softcapping": 25.0},
        {"layer_types": ["sliding_attention"] * LAYERS, "tie_word_embeddings": False},
        {"rope_parameters": {"full_attention": {"rope_type": "llama3", **LLAMA3}}},
        {"rope_parameters": {"full_attention": {**YARN, "truncate": False}, "sliding_attention": None}},
        {"rope_parameters": {"full_attention": YARN, "truncate": False}, "partial_rotary_factor": 1.0},
        {"rope_parameters": {"rope_type": "linear", "factor": 2.0}},
        {"attn_logit_softcapping": None, "num_key_value_heads": 1, "hidden_size": 1152},
    ],
    "phi3": [
        {"sliding_window": 2047, "num_key_value_heads": 8},
        {"partial_rotary_factor": 0.75},
        {"rope_parameters": {"rope_type": "default", "rope_theta": 5e3, "partial_rotary_factor": 0.41}},
        {"rope_scaling": {"type": "longrope", **STRETCH}, "max_position_embeddings": 131072},
        {"rope_scaling": {"type": "longrope", **STRETCH}, "original_max_position_embeddings": 100},
        {"rope_scaling": {"type": "yarn", **STRETCH, "attention_factor": 1.25}},
        {
            "rope_scaling": {
                "type": "longrope",
                **STRETCH,
                "factor": 2.0,
                "original_max_position_embeddings": 9,
            }
        },
    ],
}
# Their configurations have to name the types of layers.
TYPED = {"lfm2_moe": {"layer_types": ["conv", "conv", "full_attention"] * 2 + ["conv"]}}
SHORT = {"num_hidden_layers": LAYERS, "vocab_size": 33000, "pad_token_id": None}
# Where heads differ from layer to layer, no attribute of a module says so: `test_compiled` compares logits.
# Nemotron-H has names of its own for everything.
COMPILED = [
    kind
    for kind in ARCHITECTURES
    if (family := family_of(kind)).compiled and not (family.uneven or family.single)
]
CASES = [
    *((kind, {**SHORT, **TYPED.get(kind, {})}) for kind in COMPILED),
    *((kind, {**SHORT, **values}) for kind in VARIANTS for values in VARIANTS[kind]),
    *((values["model_type"], {**values, "num_hidden_layers": LAYERS}) for values in FAMOUS.values()),
    *(
        (values.get("model_type", kind), {**COMMON, **values})
        for kind, values in CONFIGS.items()
        if values.get("model_type", kind) in COMPILED
    ),
]

every_case = pytest.mark.parametrize(("architecture", "config"), CASES)


def checkpoint(architecture, config, weights=None):
    config = {key: value for key, value in copy.deepcopy(config).items() if key != "model_type"}
    folder = Path("model")
    return Checkpoint(
        folder, "safetensors", architecture, config, weights or {}, TokenizerFolder(folder), Generation()
    )
