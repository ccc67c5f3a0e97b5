"""What the models of an architecture have in common, and values of configurations that several architectures
assume."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

# Norms of a layer: before both halves (llama's names), behind both, or before and behind (Gemma's names).
INNER_NORMS = ("input_layernorm", "post_attention_layernorm")
OUTER_NORMS = ("post_attention_layernorm", "post_feedforward_layernorm")
ALL_NORMS = (*INNER_NORMS, "pre_feedforward_layernorm", "post_feedforward_layernorm")


@dataclass(frozen=True, slots=True)
class Family:
    """The models of an architecture: llama's decoder, and the differences from it.

    Attributes: `defaults`, the values of a configuration that has none; `options`, which of `attention_bias`
    and `mlp_bias` the architecture reads; `qkv_bias`, whether queries, keys and values always have biases;
    `fused`, whether they are one matrix, and gate and up another; `fused_mlp`, whether gate and up are one
    matrix; `qk_norm`, whether queries and keys are normalized, and `whole_qk_norm`, whether those of all
    heads are together; `gemma`, whether halves of a layer are normalized at their ends too, norms multiply by
    one more than their weights, embeddings are scaled by the root of the width, and `query_pre_attn_scalar`
    scales queries; `capped`, whether attention reads `attn_logit_softcapping`; `mixture`, whether layers may
    be mixtures of experts; `inner`, the field of the width within an expert; `share_epsilon`, what is added
    to the sum by which shares of experts are divided; `biased_experts`, whether router and experts have
    biases; `plain_output`, whether the output of attention has no bias even if queries have; `adjacent`,
    whether rotated pairs of numbers lie side by side; `norms`, those of a layer, by Gemma's names, or llama's
    two; `sinks`, whether each head has a sink; `whole_heads`, whether the width must be a multiple of the
    heads; `window`, which layers have the window `sliding_window`: none, all, or those that `layer_types`
    names; `period`, the distance of layers without it where there are no such types, or 0 for that of the
    configuration; `rotary_by_layer`, whether these types have rotary frequencies of their own; `partial`,
    whether plain rotary positions may rotate a part of each head; `rotary_types`, those that it may have, or
    empty for all; `others`, further fields of configurations that are understood: only transformers' module
    reads them, or nothing does although their names suggest it; `rotary_others`, the same of rotary
    parameters; `unrotated`, whether some layers have no positions, as `no_rope_layers` or
    `no_rope_layer_interval` says; `uneven`, whether layers with full attention may have heads of their own
    (`num_global_key_value_heads`, `global_head_dim`, or `per_layer_config`); `recurrent`, which of
    `layer_types` have a state instead of rows, or "" if all layers attend; `single`, whether a layer is one
    half only: attention, a state, an MLP, whose type is "mlp", or a mixture, "moe"; `ungated`, whether MLPs
    and experts have no gate; `unpositioned`, whether attention has no positions, unless
    `position_embedding_type` is "rope"; `gated`, whether each query comes with a gate of the head's output;
    `plus_one`, whether norms multiply by one more than their weights, as with `gemma`; `root_scale`, whether
    embeddings are scaled by the root of the width, as with `gemma`; `unscaled`, whether queries are not
    scaled; `value_norm`, whether values are normalized, without weights; `layer_factor`, whether each layer
    has a factor of its output; `delta_inputs`, the matrices before gated DeltaNet by what they make: queries,
    keys and values, gates of the outputs (z), and what strengths (b) and gates (a) are made of; `names`, the
    parts of names of weights that differ from llama's, by those of llama; `compiled`, whether compiled steps
    compute such models, as far as `engine.model.coverage` finds their description and weights covered.
    """

    defaults: Mapping[str, Any]
    options: tuple[str, ...] = ()
    qkv_bias: bool = False
    fused: bool = False
    fused_mlp: bool = False
    qk_norm: bool = False
    whole_qk_norm: bool = False
    gemma: bool = False
    capped: bool = False
    mixture: bool = False
    inner: str = "intermediate_size"
    share_epsilon: float = 0.0
    biased_experts: bool = False
    plain_output: bool = False
    adjacent: bool = False
    norms: tuple[str, ...] = INNER_NORMS
    sinks: bool = False
    whole_heads: bool = False
    window: str = "none"
    period: int = 0
    rotary_by_layer: bool = False
    partial: bool = False
    rotary_types: tuple[str, ...] = ()
    others: tuple[str, ...] = ()
    rotary_others: tuple[str, ...] = ()
    unrotated: bool = False
    uneven: bool = False
    recurrent: str = ""
    single: bool = False
    ungated: bool = False
    unpositioned: bool = False
    gated: bool = False
    plus_one: bool = False
    root_scale: bool = False
    unscaled: bool = False
    value_norm: bool = False
    layer_factor: bool = False
    delta_inputs: tuple[str, ...] = ("qkv", "z", "b", "a")
    names: Mapping[str, str] = field(default_factory=dict)
    compiled: bool = True


def defaults(
    sizes: tuple[int, int, int, int, int], kv_heads: int | None, positions: int, **others: Any
) -> dict[str, Any]:
    """Return the values that a configuration class assumes. sizes: vocabulary, width, inner width, layers,
    heads."""
    vocabulary, width, inner, layers, heads = sizes
    return {
        "vocab_size": vocabulary,
        "hidden_size": width,
        "intermediate_size": inner,
        "num_hidden_layers": layers,
        "num_attention_heads": heads,
        "num_key_value_heads": kv_heads,
        "max_position_embeddings": positions,
        "rms_norm_eps": 1e-6,
        "hidden_act": "silu",
        "tie_word_embeddings": False,
        "attention_bias": False,
        "mlp_bias": False,
        "rope_theta": 10000.0,
    } | others


LLAMA = (32000, 4096, 11008, 32, 32)
MISTRAL = (32000, 4096, 14336, 32, 32)
GRANITE_FACTORS = dict.fromkeys(
    ("embedding_multiplier", "logits_scaling", "residual_multiplier", "attention_multiplier"), 1.0
)
DELTA = dict(
    head_dim=256,
    partial_rotary_factor=0.25,
    layer_types=None,
    full_attention_interval=4,
    linear_conv_kernel_dim=4,
    linear_key_head_dim=128,
    linear_value_head_dim=128,
    linear_num_key_heads=16,
    linear_num_value_heads=32,
)
GATED = dict(attn_output_gate=True, output_gate_type="swish")
# States are float32 in any case; the layer for drafts is left out (`engine.checkpoints.names`).
DRAFTING = ("mamba_ssm_dtype", "mtp_num_hidden_layers", "mtp_use_dedicated_embeddings")
SHORT_CONVOLUTIONS = dict(  # LFM2
    tie_word_embeddings=True,
    rope_theta=1000000.0,
    layer_types=None,
    conv_L_cache=3,
    conv_bias=False,
    norm_eps=1e-5,  # in place of rms_norm_eps
)
LFM2_NAMES = {
    "input_layernorm": "operator_norm",
    "post_attention_layernorm": "ffn_norm",
    "self_attn.o_proj": "self_attn.out_proj",
    "self_attn.q_norm": "self_attn.q_layernorm",
    "self_attn.k_norm": "self_attn.k_layernorm",
    "mlp.gate_proj": "feed_forward.w1",
    "mlp.up_proj": "feed_forward.w3",
    "mlp.down_proj": "feed_forward.w2",
    "model.norm": "model.embedding_norm",
}
SECTIONS = ("mrope_section", "mrope_interleaved")  # equal for text
ROUTING = ("num_experts", "num_local_experts", "num_experts_per_tok", "norm_topk_prob")
