"""LFM2 and its mixtures in GGUF files: which layers attend, and where tensors belong.

Sources, in ggml-org/llama.cpp: conversion/lfm2.py, src/models/lfm2.cpp and lfm2moe.cpp, and gguf-py's
constants.py and tensor_mapping.py.
"""

from collections.abc import Iterator
from dataclasses import replace

from engine.checkpoints.gguf_keys import Keys
from engine.checkpoints.gguf_places import TensorPlace, linear
from engine.checkpoints.gguf_settings import Config, head_width, sigmoid_router, whole_head
from engine.checkpoints.limits import COUNT_LIMIT, WIDTH_LIMIT
from engine.errors import UnsupportedModel

KEYS = ("shortconv.l_cache",)
ROUTER_KEYS = ("leading_dense_block_count", "expert_gating_func", "expert_feed_forward_length")
CONVOLUTION, ATTENTION = "conv", "full_attention"


def lfm2(keys: Keys, config: Config) -> Config:
    """Return the settings of a dense LFM2. The width of MLPs is in the file as it is, after any
    adjustment."""
    return _layers(keys, config) | {"block_auto_adjust_ff_dim": False}


def lfm2_moe(keys: Keys, config: Config) -> Config:
    """Return the settings of an LFM2 whose layers behind the first ones are mixtures. As in llama.cpp, the
    router always has a bias for the choice, and shares are normalized."""
    layers = config["num_hidden_layers"]
    return (
        _layers(keys, config)
        | sigmoid_router(keys, config, "num_experts")
        | {
            "num_dense_layers": keys.number("{arch}.leading_dense_block_count", 0, most=layers),
            "use_expert_bias": True,
        }
    )


def _layers(keys: Keys, config: Config) -> Config:
    """Return the settings that both have. As in llama.cpp, a layer with key-value heads attends, and the
    others are short convolutions."""
    heads, layers = config["num_attention_heads"], config["num_hidden_layers"]
    kv_heads = keys.numbers("{arch}.attention.head_count_kv", layers, most=COUNT_LIMIT)
    if len({*kv_heads} - {0}) != 1:
        raise UnsupportedModel(
            f"{keys.path.name} has attention of different sizes, or none, which is not supported.",
            "Choose another model.",
        )
    if heads % max(kv_heads):
        raise keys.bad("{arch}.attention.head_count_kv", max(kv_heads))
    head_dim = head_width(keys, config["hidden_size"] // heads)
    if head_dim % 2:
        raise keys.bad("{arch}.attention.head_count", heads)
    return {
        "layer_types": [ATTENTION if count else CONVOLUTION for count in kv_heads],
        "num_key_value_heads": max(kv_heads),
        "head_dim": head_dim,
        "intermediate_size": keys.number("{arch}.feed_forward_length", least=1, most=WIDTH_LIMIT),
        "norm_eps": config["rms_norm_eps"],
        "conv_L_cache": keys.number("{arch}.shortconv.l_cache", least=2, most=COUNT_LIMIT),
        "conv_bias": False,  # llama.cpp knows no such biases
        "rope_parameters": whole_head(keys, config | {"head_dim": head_dim}),
    }


def places_of_lfm2(config: Config) -> Iterator[tuple[str, TensorPlace]]:
    """Yield (GGUF name, place) for every tensor. config: as `lfm2` or `lfm2_moe` completes it."""
    hidden, vocabulary = config["hidden_size"], config["vocab_size"]
    yield "token_embd.weight", TensorPlace("model.embed_tokens.weight", (vocabulary, hidden))
    # The last norm, which has the name of one of the embedding in both.
    yield "token_embd_norm.weight", TensorPlace("model.embedding_norm.weight", (hidden,))
    if not config["tie_word_embeddings"]:
        yield "output.weight", TensorPlace("lm_head.weight", (vocabulary, hidden))
    of_kind = {CONVOLUTION: _convolution(config), ATTENTION: _attention(config)}
    norms = {
        "attn_norm.weight": TensorPlace("operator_norm.weight", (hidden,)),
        "ffn_norm.weight": TensorPlace("ffn_norm.weight", (hidden,)),
    }
    is_mixed = "num_experts" in config
    mlp, mixture = _mlp(config), _mixture(config) if is_mixed else {}
    for layer, kind in enumerate(config["layer_types"]):
        behind = mixture if is_mixed and layer >= config["num_dense_layers"] else mlp
        for name, place in (norms | of_kind[kind] | behind).items():
            yield f"blk.{layer}.{name}", replace(place, name=f"model.layers.{layer}.{place.name}")


def _convolution(config: Config) -> dict[str, TensorPlace]:
    hidden, kernel = config["hidden_size"], config["conv_L_cache"]
    return {
        **linear("shortconv.in_proj", "conv.in_proj", 3 * hidden, hidden, bias=False),
        **linear("shortconv.out_proj", "conv.out_proj", hidden, hidden, bias=False),
        "shortconv.conv.weight": TensorPlace("conv.conv.weight", (hidden, kernel), channels=True),
    }


def _attention(config: Config) -> dict[str, TensorPlace]:
    hidden, width = config["hidden_size"], config["head_dim"]
    rows, kv_rows = config["num_attention_heads"] * width, config["num_key_value_heads"] * width
    return {
        **linear("attn_q", "self_attn.q_proj", rows, hidden, bias=False),
        **linear("attn_k", "self_attn.k_proj", kv_rows, hidden, bias=False),
        **linear("attn_v", "self_attn.v_proj", kv_rows, hidden, bias=False),
        **linear("attn_output", "self_attn.out_proj", hidden, rows, bias=False),
        "attn_q_norm.weight": TensorPlace("self_attn.q_layernorm.weight", (width,)),
        "attn_k_norm.weight": TensorPlace("self_attn.k_layernorm.weight", (width,)),
    }


def _mlp(config: Config) -> dict[str, TensorPlace]:
    hidden, wide = config["hidden_size"], config["intermediate_size"]
    return {
        **linear("ffn_gate", "feed_forward.w1", wide, hidden, bias=False),
        **linear("ffn_up", "feed_forward.w3", wide, hidden, bias=False),
        **linear("ffn_down", "feed_forward.w2", hidden, wide, bias=False),
    }


def _mixture(config: Config) -> dict[str, TensorPlace]:
    hidden, wide, experts = (config[name] for name in ("hidden_size", "moe_intermediate_size", "num_experts"))
    kinds = {"gate": (wide, hidden), "up": (wide, hidden), "down": (hidden, wide)}
    stacks = {
        f"ffn_{kind}_exps.weight": TensorPlace(
            f"feed_forward.experts.{{}}.{kind}_proj.weight", (experts, *shape)
        )
        for kind, shape in kinds.items()
    }
    return stacks | {
        **linear("ffn_gate_inp", "feed_forward.gate", experts, hidden, bias=False),
        "exp_probs_b.bias": TensorPlace("feed_forward.expert_bias", (experts,)),
    }
