"""Granite 4 hybrids in GGUF files: what their metadata say of layers, and where their tensors belong.

Sources, in ggml-org/llama.cpp: conversion/granite.py and mamba.py, src/models/granite-hybrid.cpp.
"""

from collections.abc import Iterator
from dataclasses import replace

from engine.checkpoints.gguf_keys import Keys
from engine.checkpoints.gguf_nemotron import ATTENTION, MAMBA, SSM_KEYS, mamba_places, mamba_sizes
from engine.checkpoints.gguf_places import TensorPlace, linear
from engine.checkpoints.gguf_settings import Config, granite_factors, head_width, mixture, whole_head
from engine.checkpoints.limits import COUNT_LIMIT, WIDTH_LIMIT
from engine.errors import UnsupportedModel

KEYS = (*SSM_KEYS, "expert_shared_feed_forward_length")


def granite_hybrid(keys: Keys, config: Config) -> Config:
    """Return the settings of a Granite 4 hybrid. As in llama.cpp, a layer with key-value heads attends, and
    the others are Mamba-2; there are no positions where the metadata say that there is no rotation."""
    hidden, layers = config["hidden_size"], config["num_hidden_layers"]
    kv_heads = keys.numbers("{arch}.attention.head_count_kv", layers, most=COUNT_LIMIT)
    sizes = mamba_sizes(keys)
    if len({*kv_heads} - {0}) != 1 or sizes.inner % hidden:
        raise UnsupportedModel(
            f"{keys.path.name} has layers of different sizes, or none that attends, which is not supported.",
            "Choose another model.",
        )
    if config["num_attention_heads"] % max(kv_heads):
        raise keys.bad("{arch}.attention.head_count_kv", max(kv_heads))
    head_dim = head_width(keys, hidden // config["num_attention_heads"])
    config = config | {"head_dim": head_dim}
    width = keys.number("{arch}.feed_forward_length", least=1, most=WIDTH_LIMIT)
    found: Config = {"num_local_experts": 0, "num_experts_per_tok": 0, "shared_intermediate_size": width}
    if keys.number("{arch}.expert_count", 0):
        shared = keys.number("{arch}.expert_shared_feed_forward_length", least=1, most=WIDTH_LIMIT)
        found = mixture(keys, config) | {"shared_intermediate_size": shared}
    rotated = keys.flag("{arch}.rope.scaling.finetuned") is not False
    if rotated:
        found["rope_parameters"] = whole_head(keys, config)
    return (
        granite_factors(keys, config)
        | found
        | {
            "layer_types": [ATTENTION if count else MAMBA for count in kv_heads],
            "head_dim": head_dim,
            "num_key_value_heads": max(kv_heads),
            "intermediate_size": width,
            "hidden_act": "silu",
            "attention_bias": any(name.endswith("attn_q.bias") for name in keys.header.tensors),
            "position_embedding_type": "rope" if rotated else None,
            "mamba_n_heads": sizes.heads,
            "mamba_n_groups": sizes.groups,
            "mamba_d_head": sizes.inner // sizes.heads,
            "mamba_d_state": sizes.state,
            "mamba_d_conv": sizes.kernel,
            "mamba_expand": sizes.inner // hidden,
        }
    )


def places_of_granite_hybrid(config: Config) -> Iterator[tuple[str, TensorPlace]]:
    """Yield (GGUF name, place) for every tensor. config: as `granite_hybrid` completes it."""
    hidden, vocabulary = config["hidden_size"], config["vocab_size"]
    yield "token_embd.weight", TensorPlace("model.embed_tokens.weight", (vocabulary, hidden))
    yield "output_norm.weight", TensorPlace("model.norm.weight", (hidden,))
    if not config["tie_word_embeddings"]:
        yield "output.weight", TensorPlace("lm_head.weight", (vocabulary, hidden))
    inner = hidden * config["mamba_expand"]
    sizes = (config[f"mamba_{name}"] for name in ("n_heads", "n_groups", "d_state", "d_conv"))
    mamba = mamba_places(hidden, inner, *sizes)
    of_kind = {
        MAMBA: {name: replace(place, name=f"mamba.{place.name}") for name, place in mamba.items()},
        ATTENTION: _attention(config),
    }
    norms = {"attn_norm": "input_layernorm", "ffn_norm": "post_attention_layernorm"}
    behind = _feed(config) | {
        f"{name}.weight": TensorPlace(f"{hf_name}.weight", (hidden,)) for name, hf_name in norms.items()
    }
    for layer, kind in enumerate(config["layer_types"]):
        for name, place in (of_kind[kind] | behind).items():
            yield f"blk.{layer}.{name}", replace(place, name=f"model.layers.{layer}.{place.name}")


def _attention(config: Config) -> dict[str, TensorPlace]:
    hidden, heads, kv_heads, bias = (
        config[name]
        for name in ("hidden_size", "num_attention_heads", "num_key_value_heads", "attention_bias")
    )
    rows, kv_rows = heads * config["head_dim"], kv_heads * config["head_dim"]
    # Rows of Q and K are permuted even where nothing rotates them.
    return {
        **linear("attn_q", "self_attn.q_proj", rows, hidden, bias, rope_heads=heads),
        **linear("attn_k", "self_attn.k_proj", kv_rows, hidden, bias, rope_heads=kv_heads),
        **linear("attn_v", "self_attn.v_proj", kv_rows, hidden, bias),
        **linear("attn_output", "self_attn.o_proj", hidden, rows, bias),
    }


def _feed(config: Config) -> dict[str, TensorPlace]:
    """Return the places of a layer's MLP, or of its experts. transformers' module has gate and up of the MLP,
    and of the expert that every token uses, as one matrix."""
    hidden, shared, wide = (
        config[name] for name in ("hidden_size", "shared_intermediate_size", "intermediate_size")
    )
    experts = config["num_local_experts"]
    end = "_shexp" if experts else ""
    places = {
        **linear(f"ffn_gate{end}", "shared_mlp.gate_proj", shared, hidden, bias=False),
        **linear(f"ffn_up{end}", "shared_mlp.up_proj", shared, hidden, bias=False),
        **linear(f"ffn_down{end}", "shared_mlp.output_linear", hidden, shared, bias=False),
    }
    if not experts:
        return places
    kinds = {"gate": (wide, hidden), "up": (wide, hidden), "down": (hidden, wide)}
    for kind, shape in kinds.items():
        name = f"block_sparse_moe.experts.{{}}.{kind}_proj.weight"
        places[f"ffn_{kind}_exps.weight"] = TensorPlace(name, (experts, *shape))
    return places | linear("ffn_gate_inp", "block_sparse_moe.router", experts, hidden, bias=False)
