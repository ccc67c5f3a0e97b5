"""Nemotron-H in GGUF files: what its metadata say of layers of four kinds, and where its tensors belong.

Sources, in ggml-org/llama.cpp: conversion/nemotron.py, granite.py and mamba.py, src/models/nemotron-h.cpp,
and gguf-py's tensor_mapping.py.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from engine.checkpoints.gguf_keys import Keys
from engine.checkpoints.gguf_places import TensorPlace, linear
from engine.checkpoints.gguf_settings import Config, head_width, layers_without_drafts, sigmoid_mixture
from engine.checkpoints.limits import COUNT_LIMIT, WIDTH_LIMIT
from engine.errors import UnsupportedModel

SSM_KEYS = ("ssm.conv_kernel", "ssm.state_size", "ssm.group_count", "ssm.time_step_rank", "ssm.inner_size")
KEYS = (*SSM_KEYS, "attention.layer_norm_epsilon")  # the same as the one for RMS
MAMBA, ATTENTION, MLP, MOE = "linear_attention", "full_attention", "mlp", "moe"


@dataclass(frozen=True, slots=True)
class MambaSizes:
    """The sizes of Mamba-2 layers: heads, groups of these, their width together, the width of a state, and
    the kernel of the convolution."""

    heads: int
    groups: int
    inner: int
    state: int
    kernel: int


def mamba_sizes(keys: Keys) -> MambaSizes:
    """Return the sizes of a file's Mamba-2 layers. Raises `BadCheckpoint` if they cannot be."""
    heads = keys.number("{arch}.ssm.time_step_rank", least=1, most=COUNT_LIMIT)
    groups = keys.number("{arch}.ssm.group_count", least=1, most=COUNT_LIMIT)
    inner = keys.number("{arch}.ssm.inner_size", least=1, most=WIDTH_LIMIT)
    if heads % groups or inner % heads:
        raise keys.bad("{arch}.ssm.time_step_rank", heads)
    state = keys.number("{arch}.ssm.state_size", least=1, most=COUNT_LIMIT)
    return MambaSizes(
        heads, groups, inner, state, keys.number("{arch}.ssm.conv_kernel", least=2, most=COUNT_LIMIT)
    )


def nemotron_h(keys: Keys, config: Config) -> Config:
    """Return the settings of a dense Nemotron-H."""
    return _hybrid(keys, config, MLP) | {
        "mlp_bias": any(name.endswith("ffn_up.bias") for name in keys.header.tensors)
    }


def nemotron_h_moe(keys: Keys, config: Config) -> Config:
    """Return the settings of a Nemotron-H with mixtures (Nemotron 3 Nano). The blocks behind the model's
    layers are those for drafts."""
    shared = keys.number("{arch}.expert_shared_feed_forward_length", least=1, most=WIDTH_LIMIT)
    return (
        _hybrid(keys, config, MOE)
        | sigmoid_mixture(keys, config)
        | {"moe_shared_expert_intermediate_size": shared, "mlp_bias": False}
    )


def _hybrid(keys: Keys, config: Config, feed: str) -> Config:
    """Return the settings of the layers. As in llama.cpp, one with key-value heads attends, one with a width
    is of the kind `feed`, and the others are Mamba-2. The least step of these is not in the metadata; it is
    what transformers assumes."""
    blocks, layers = config["num_hidden_layers"], layers_without_drafts(keys, config)
    kv_heads = keys.numbers("{arch}.attention.head_count_kv", blocks, most=COUNT_LIMIT)[:layers]
    widths = keys.numbers("{arch}.feed_forward_length", blocks, most=WIDTH_LIMIT)[:layers]
    types = [
        ATTENTION if count else feed if width else MAMBA
        for count, width in zip(kv_heads, widths, strict=True)
    ]
    if len({*kv_heads} - {0}) != 1 or len({*widths} - {0}) != 1 or any(map(min, kv_heads, widths)):
        raise UnsupportedModel(
            f"{keys.path.name} has attention or MLPs of different sizes, or both in one layer, which is not "
            "supported.",
            "Choose another model.",
        )
    if config["num_attention_heads"] % max(kv_heads):
        raise keys.bad("{arch}.attention.head_count_kv", max(kv_heads))
    sizes = mamba_sizes(keys)
    return {
        "num_hidden_layers": layers,
        "layers_block_type": types,
        "num_key_value_heads": max(kv_heads),
        "head_dim": head_width(keys),
        "intermediate_size": max(widths),
        "mlp_hidden_act": "relu2",
        "layer_norm_epsilon": config["rms_norm_eps"],
        "mamba_num_heads": sizes.heads,
        "mamba_head_dim": sizes.inner // sizes.heads,
        "n_groups": sizes.groups,
        "ssm_state_size": sizes.state,
        "conv_kernel": sizes.kernel,
    }


def places_of_nemotron_h(config: Config) -> Iterator[tuple[str, TensorPlace]]:
    """Yield (GGUF name, place) for every tensor. config: as `nemotron_h` or `nemotron_h_moe` completes it."""
    hidden, vocabulary = config["hidden_size"], config["vocab_size"]
    yield "token_embd.weight", TensorPlace("model.embeddings.weight", (vocabulary, hidden))
    yield "output_norm.weight", TensorPlace("model.norm_f.weight", (hidden,))
    if not config["tie_word_embeddings"]:
        yield "output.weight", TensorPlace("lm_head.weight", (vocabulary, hidden))
    types = config["layers_block_type"]
    makers = {MAMBA: _mamba, ATTENTION: _attention, MLP: _mlp, MOE: _mixture}
    of_kind = {kind: makers[kind](config) for kind in {*types}}
    for layer, kind in enumerate(types):
        yield f"blk.{layer}.attn_norm.weight", TensorPlace(f"model.layers.{layer}.norm.weight", (hidden,))
        for name, place in of_kind[kind].items():
            yield f"blk.{layer}.{name}", replace(place, name=f"model.layers.{layer}.mixer.{place.name}")


def mamba_places(
    hidden: int, inner: int, heads: int, groups: int, state: int, kernel: int
) -> dict[str, TensorPlace]:
    """Return the places of a Mamba-2 layer's tensors by their names within the layer. hidden: the width of a
    state between layers; the others as in `MambaSizes`."""
    channels = inner + 2 * groups * state
    return {
        **linear("ssm_in", "in_proj", inner + channels + heads, hidden, bias=False),
        **linear("ssm_out", "out_proj", hidden, inner, bias=False),
        "ssm_conv1d.weight": TensorPlace("conv1d.weight", (channels, kernel), channels=True),
        "ssm_conv1d.bias": TensorPlace("conv1d.bias", (channels,)),
        "ssm_dt.bias": TensorPlace("dt_bias", (heads,)),
        "ssm_a": TensorPlace("A_log", (heads, 1), decay=True, flat=True),
        "ssm_d": TensorPlace("D", (heads, 1), flat=True),
        "ssm_norm.weight": TensorPlace("norm.weight", (groups, inner // groups), flat=True),
    }


def _mamba(config: Config) -> dict[str, TensorPlace]:
    heads = config["mamba_num_heads"]
    sizes = (config[name] for name in ("n_groups", "ssm_state_size", "conv_kernel"))
    return mamba_places(config["hidden_size"], heads * config["mamba_head_dim"], heads, *sizes)


def _attention(config: Config) -> dict[str, TensorPlace]:
    hidden, heads, kv_heads = (
        config[name] for name in ("hidden_size", "num_attention_heads", "num_key_value_heads")
    )
    rows, kv_rows = heads * config["head_dim"], kv_heads * config["head_dim"]
    # The converter permutes rows of Q and K as those of Granite, although nothing rotates them.
    return {
        **linear("attn_q", "q_proj", rows, hidden, bias=False, rope_heads=heads),
        **linear("attn_k", "k_proj", kv_rows, hidden, bias=False, rope_heads=kv_heads),
        **linear("attn_v", "v_proj", kv_rows, hidden, bias=False),
        **linear("attn_output", "o_proj", hidden, rows, bias=False),
    }


def _mlp(config: Config) -> dict[str, TensorPlace]:
    hidden, width, bias = config["hidden_size"], config["intermediate_size"], config["mlp_bias"]
    return linear("ffn_up", "up_proj", width, hidden, bias) | linear(
        "ffn_down", "down_proj", hidden, width, bias
    )


def _mixture(config: Config) -> dict[str, TensorPlace]:
    hidden, experts = config["hidden_size"], config["n_routed_experts"]
    wide, shared = config["moe_intermediate_size"], config["moe_shared_expert_intermediate_size"]
    return {
        **linear("ffn_gate_inp", "gate", experts, hidden, bias=False),
        "exp_probs_b.bias": TensorPlace("gate.e_score_correction_bias", (experts,)),
        "ffn_up_exps.weight": TensorPlace("experts.{}.up_proj.weight", (experts, wide, hidden)),
        "ffn_down_exps.weight": TensorPlace("experts.{}.down_proj.weight", (experts, hidden, wide)),
        **linear("ffn_up_shexp", "shared_experts.up_proj", shared, hidden, bias=False),
        **linear("ffn_down_shexp", "shared_experts.down_proj", hidden, shared, bias=False),
    }
