"""The supported architectures: what the models of each have in common, and the values of their
configurations that transformers' configuration classes assume where a config.json has none."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from engine.errors import UnsupportedModel

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
    be mixtures of experts; `inner`, the field of the width within an expert; `biased_experts`, whether router
    and experts have biases; `plain_output`, whether the output of attention has no bias even if queries have;
    `adjacent`, whether rotated pairs of numbers lie side by side; `norms`, those of a layer, by Gemma's
    names, or llama's two; `sinks`, whether each head has a sink; `whole_heads`, whether the width must be a
    multiple of the heads; `window`, which layers have the window `sliding_window`: none, all, or those that
    `layer_types` names; `period`, the distance of layers without it where there are no such types, or 0 for
    that of the configuration; `rotary_by_layer`, whether these types have rotary frequencies of their own;
    `partial`, whether plain rotary positions may rotate a part of each head; `rotary_types`, those that it
    may have, or empty for all; `large_states`, whether numbers between layers leave the range of float16 at
    some tokens; `others`, further fields of configurations that are understood: only transformers' module
    reads them, or nothing does although their names suggest it; `rotary_others`, the same of rotary
    parameters; `unrotated`, whether some layers have no positions, as `no_rope_layers` or
    `no_rope_layer_interval` says; `uneven`, whether layers with full attention may have heads of their own
    (`num_global_key_value_heads`, `global_head_dim`, or `per_layer_config`); `recurrent`, which of
    `layer_types` have a state instead of rows, or "" if all layers attend; `single`, whether a layer is one
    half only: attention, a state, or an MLP, whose type is "mlp"; `gated`, whether each query comes
    with a gate of the head's output; `plus_one`, whether norms multiply by one more than their weights, as
    with `gemma`; `root_scale`, whether embeddings are scaled by the root of the width, as with `gemma`;
    `unscaled`, whether queries are not scaled; `value_norm`, whether values are normalized, without weights;
    `layer_factor`, whether each layer has a factor of its output; `names`, the parts of names of
    weights that differ from llama's, by those of llama; `compiled`, whether compiled steps compute such
    models, as far as `engine.model.coverage` finds their description and weights covered.
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
    large_states: bool = False
    others: tuple[str, ...] = ()
    rotary_others: tuple[str, ...] = ()
    unrotated: bool = False
    uneven: bool = False
    recurrent: str = ""
    single: bool = False
    gated: bool = False
    plus_one: bool = False
    root_scale: bool = False
    unscaled: bool = False
    value_norm: bool = False
    layer_factor: bool = False
    names: Mapping[str, str] = field(default_factory=dict)
    compiled: bool = True


def _defaults(
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


_YARN = dict(
    rope_type="yarn",
    factor=32.0,
    beta_fast=32.0,
    beta_slow=1.0,
    truncate=False,
    original_max_position_embeddings=4096,
)
_LLAMA = (32000, 4096, 11008, 32, 32)
_MISTRAL = (32000, 4096, 14336, 32, 32)
_QWEN = (151936, 4096, 22016, 32, 32)
_GEMMA = (2304, 9216, 26, 8)
_QWEN_WINDOW = dict(use_sliding_window=False, sliding_window=4096, max_window_layers=28)
_GEMMA_OTHERS = dict(
    head_dim=256,
    hidden_activation="gelu_pytorch_tanh",  # in place of hidden_act
    tie_word_embeddings=True,
    query_pre_attn_scalar=256,
    sliding_window=4096,
    use_bidirectional_attention=False,
)
_THETAS = dict(rope_theta=1000000.0, rope_local_base_freq=10000.0)
_GEMMA_N = dict(
    head_dim=256, hidden_activation="gelu_pytorch_tanh", tie_word_embeddings=True, sliding_window=512
)
_PER_LAYER = ("vocab_size_per_layer_input", "hidden_size_per_layer_input")
_ALTUP = ("altup_coef_clip", "altup_correct_scale", "laurel_rank")
_GRANITE_FACTORS = dict.fromkeys(
    ("embedding_multiplier", "logits_scaling", "residual_multiplier", "attention_multiplier"), 1.0
)
_DELTA = dict(
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
_GATED = dict(attn_output_gate=True, output_gate_type="swish")
# States are float32 in any case; the layer for drafts is left out (`engine.checkpoints.names`).
_DRAFTING = ("mamba_ssm_dtype", "mtp_num_hidden_layers", "mtp_use_dedicated_embeddings")
_SECTIONS = ("mrope_section", "mrope_interleaved")  # equal for text
_SHARED = dict(moe_intermediate_size=512, shared_expert_intermediate_size=512)
_ROUTING = ("num_experts", "num_local_experts", "num_experts_per_tok", "norm_topk_prob")

FAMILIES = {
    "llama": Family(_defaults(_LLAMA, None, 2048), options=("attention_bias", "mlp_bias"), whole_heads=True),
    "mistral": Family(_defaults(_MISTRAL, 8, 131072, sliding_window=4096), window="all"),
    "mixtral": Family(
        _defaults(
            _MISTRAL,
            8,
            131072,
            rms_norm_eps=1e-5,
            rope_theta=1000000.0,
            num_local_experts=8,
            num_experts_per_tok=2,
        ),
        mixture=True,
        window="all",
        others=_ROUTING,
    ),
    "qwen3_moe": Family(
        _defaults(
            (151936, 2048, 6144, 24, 32),
            4,
            32768,
            use_sliding_window=False,
            sliding_window=4096,
            moe_intermediate_size=768,
            num_experts=128,
            num_experts_per_tok=8,
            norm_topk_prob=False,
        ),
        options=("attention_bias",),
        qk_norm=True,
        mixture=True,
        inner="moe_intermediate_size",
        window="all",
        others=(*_ROUTING, "decoder_sparse_step", "mlp_only_layers", "max_window_layers"),
    ),
    "olmoe": Family(
        _defaults(
            (50304, 2048, 2048, 16, 16),
            None,
            4096,
            rms_norm_eps=1e-5,
            num_experts=64,
            num_experts_per_tok=8,
            norm_topk_prob=False,
            clip_qkv=None,
        ),
        options=("attention_bias",),
        qk_norm=True,
        whole_qk_norm=True,
        mixture=True,
        others=_ROUTING,
    ),
    "granitemoe": Family(
        _defaults(_LLAMA, None, 2048, **_GRANITE_FACTORS, num_local_experts=8, num_experts_per_tok=2),
        options=("attention_bias",),
        mixture=True,
        others=_ROUTING,
        names={"mlp": "block_sparse_moe", "mlp.gate": "block_sparse_moe.router"},
    ),
    "gpt_oss": Family(
        _defaults(
            (201088, 2880, 2880, 36, 64),
            8,
            131072,
            rms_norm_eps=1e-5,
            head_dim=64,
            attention_bias=True,
            rope_theta=150000.0,
            sliding_window=128,
            num_local_experts=128,
            num_experts_per_tok=4,
            swiglu_limit=7.0,
            swiglu_alpha=1.702,
            rope_parameters=_YARN,
        ),
        options=("attention_bias",),
        mixture=True,
        biased_experts=True,
        sinks=True,
        names={"mlp.gate": "mlp.router"},
        window="by layer",
        period=2,
        large_states=True,
        # The last two repeat others.
        others=(*_ROUTING, "experts_per_token", "initial_context_length"),
    ),
    "glm4_moe": Family(
        _defaults(
            (151552, 4096, 10944, 46, 96),
            8,
            131072,
            rms_norm_eps=1e-5,
            partial_rotary_factor=0.5,
            moe_intermediate_size=1408,
            n_routed_experts=128,
            num_experts_per_tok=8,
            n_shared_experts=1,
            n_group=1,
            routed_scaling_factor=1.0,
            norm_topk_prob=True,
            first_k_dense_replace=1,
            use_qk_norm=False,
        ),
        options=("attention_bias",),
        mixture=True,
        inner="moe_intermediate_size",
        names={
            f"mlp.shared_expert.{name}_proj": f"mlp.shared_experts.{name}_proj"
            for name in ("gate", "up", "down")
        },
        plain_output=True,
        partial=True,
        large_states=True,
        # The layers for drafts are left out (`engine.checkpoints.names`).
        others=(*_ROUTING, "topk_group", "num_nextn_predict_layers", "num_mtp_layers"),
    ),
    "qwen2": Family(
        _defaults(_QWEN, 32, 32768, **_QWEN_WINDOW), qkv_bias=True, window="by layer", large_states=True
    ),
    "qwen3": Family(
        _defaults(_QWEN, 32, 32768, head_dim=128, **_QWEN_WINDOW),
        options=("attention_bias",),
        qk_norm=True,
        window="by layer",
    ),
    "gemma2": Family(
        _defaults(
            (256000, *_GEMMA),
            4,
            8192,
            **_GEMMA_OTHERS,
            attn_logit_softcapping=50.0,
            final_logit_softcapping=30.0,
        ),
        period=2,
        others=("sliding_window_pattern",),
        options=("attention_bias",),
        gemma=True,
        norms=ALL_NORMS,
        capped=True,
        large_states=True,
        whole_heads=True,
        window="by layer",
    ),
    "gemma3_text": Family(
        _defaults(
            (262208, *_GEMMA),
            4,
            131072,
            **_GEMMA_OTHERS,
            rope_theta=1000000.0,
            rope_local_base_freq=10000.0,
            sliding_window_pattern=6,
            final_logit_softcapping=None,
        ),
        options=("attention_bias",),
        qk_norm=True,
        gemma=True,
        norms=ALL_NORMS,
        large_states=True,
        whole_heads=True,
        window="by layer",
        rotary_by_layer=True,
    ),
    "gemma3n_text": Family(
        _defaults(
            (262400, 2048, 16384, 35, 8),
            2,
            32768,
            **_GEMMA_N,
            **_THETAS,
            final_logit_softcapping=30.0,
            sliding_window_pattern=5,
            num_kv_shared_layers=15,
            activation_sparsity_pattern=None,
            altup_active_idx=0,
            altup_num_inputs=4,
        ),
        options=("attention_bias",),
        large_states=True,
        whole_heads=True,
        window="by layer",
        rotary_by_layer=True,
        others=(*_ALTUP, *_PER_LAYER),
        compiled=False,  # inputs of each layer, streams of states, shared keys and values
    ),
    "gemma4_text": Family(
        _defaults(
            (262144, 2304, 9216, 30, 8),
            4,
            131072,
            **_GEMMA_N,
            **_THETAS,
            final_logit_softcapping=None,
            sliding_window_pattern=6,
            num_kv_shared_layers=0,
            attention_k_eq_v=False,
            global_head_dim=512,
            num_global_key_value_heads=None,
            hidden_size_per_layer_input=256,
        ),
        options=("attention_bias",),
        qk_norm=True,
        norms=ALL_NORMS,
        root_scale=True,
        unscaled=True,
        value_norm=True,
        layer_factor=True,
        large_states=True,
        window="by layer",
        rotary_by_layer=True,
        rotary_types=("default", "proportional"),
        uneven=True,
        # The fields of its mixture, which is refused, and null in dense models.
        others=(
            *("vocab_size_per_layer_input", "use_double_wide_mlp", "enable_moe_block"),
            *("num_experts", "top_k_experts", "moe_intermediate_size"),
        ),
    ),
    "phi3": Family(
        _defaults(
            (32064, 3072, 8192, 32, 32),
            None,
            4096,
            rms_norm_eps=1e-5,
            original_max_position_embeddings=4096,
        ),
        fused=True,
        window="all",
        partial=True,
        rotary_types=("default", "longrope"),
    ),
    "seed_oss": Family(
        _defaults(
            (155136, 4096, 27648, 64, 80),
            8,
            524288,
            head_dim=128,
            attention_bias=True,
            attention_out_bias=False,
        ),
        options=("attention_bias", "mlp_bias"),
    ),
    "smollm3": Family(
        _defaults(
            (128256, 2048, 11008, 36, 16),
            4,
            32768,
            tie_word_embeddings=True,
            rope_theta=2000000.0,
            use_sliding_window=False,
            sliding_window=None,
            no_rope_layers=None,
            no_rope_layer_interval=4,
        ),
        options=("attention_bias", "mlp_bias"),
        window="by layer",
        unrotated=True,
    ),
    "ministral3": Family(
        _defaults(
            (131072, 4096, 14336, 34, 32),
            8,
            262144,
            rms_norm_eps=1e-5,
            head_dim=128,
            sliding_window=None,
            rope_parameters=dict(
                rope_type="yarn",
                rope_theta=1000000.0,
                factor=16.0,
                original_max_position_embeddings=16384,
                mscale=1.0,
                mscale_all_dim=1.0,
                llama_4_scaling_beta=0.1,
            ),
        ),
        window="all",
        rotary_others=("llama_4_scaling_beta",),
    ),
    "granite": Family(
        _defaults(
            _LLAMA,
            None,
            2048,
            **_GRANITE_FACTORS,
        ),
        options=("attention_bias", "mlp_bias"),
    ),
    "granitemoehybrid": Family(
        _defaults(
            _LLAMA,
            None,
            2048,
            **_GRANITE_FACTORS,
            num_local_experts=8,
            layer_types=None,
            layers_block_type=None,
            mamba_n_heads=128,
            mamba_n_groups=1,
            mamba_d_state=256,
            mamba_d_conv=4,
            mamba_expand=2,
        ),
        options=("attention_bias",),
        mixture=True,
        recurrent="linear_attention",
        others=(
            *_ROUTING,
            *("shared_intermediate_size", "position_embedding_type", "normalization_function", "init_method"),
            *("mamba_d_head", "mamba_chunk_size", "mamba_conv_bias", "mamba_proj_bias", "time_step_limit"),
        ),
        large_states=True,
        compiled=False,  # layers with states
    ),
    "nemotron_h": Family(
        _defaults(
            (131072, 4096, 21504, 52, 32),
            8,
            4096,
            head_dim=128,
            layer_types=None,
            layers_block_type=None,
            hybrid_override_pattern=None,  # in place of these, in older files
            layer_norm_epsilon=1e-5,  # in place of rms_norm_eps
            mlp_hidden_act="relu2",  # in place of hidden_act
            mamba_num_heads=128,
            mamba_head_dim=64,
            n_groups=8,
            ssm_state_size=128,
            conv_kernel=4,
        ),
        options=("mlp_bias",),
        recurrent="linear_attention",
        single=True,
        names={"model.embed_tokens": "model.embeddings", "model.norm": "model.norm_f"},
        others=(
            *("use_bias", "use_conv_bias", "mamba_hidden_act", "time_step_min"),  # the module reads these
            # Of mixtures, which are refused, and their layers for drafts.
            *(*_ROUTING, "n_routed_experts", "n_shared_experts", "moe_intermediate_size", "moe_latent_size"),
            *("moe_shared_expert_intermediate_size", "moe_shared_expert_overlap", "routed_scaling_factor"),
            *("n_group", "topk_group", "mtp_layers_block_type", "mtp_hybrid_override_pattern"),
            "num_nextn_predict_layers",
            # Of training, of other programs, or repeated by sizes.
            *("attention_head_dim", "chunk_size", "expand", "hidden_dropout", "mamba_proj_bias"),
            *("mamba_ssm_cache_dtype", "num_logits_to_keep", "rescale_prenorm_residual", "residual_in_fp32"),
            *("time_step_floor", "time_step_limit", "time_step_max", "time_step_rank", "use_mamba_kernels"),
        ),
        large_states=True,
        compiled=False,  # layers with states
    ),
    "olmo2": Family(
        _defaults((50304, *_LLAMA[1:]), None, 2048, rms_norm_eps=1e-5),
        options=("attention_bias",),
        qk_norm=True,
        whole_qk_norm=True,
        norms=OUTER_NORMS,
    ),
    "olmo3": Family(
        _defaults(
            (50304, *_LLAMA[1:]),
            None,
            2048,
            rms_norm_eps=1e-5,
            rope_theta=500000.0,
            rope_local_base_freq=500000.0,
            sliding_window=4096,
        ),
        options=("attention_bias",),
        window="by layer",
        period=4,
        rotary_by_layer=True,
        qk_norm=True,
        whole_qk_norm=True,
        norms=OUTER_NORMS,
    ),
    "glm4": Family(
        _defaults(
            (151552, 4096, 13696, 40, 32),
            2,
            131072,
            rms_norm_eps=1.5625e-7,
            head_dim=128,
            attention_bias=True,
            partial_rotary_factor=0.5,
        ),
        options=("attention_bias",),
        partial=True,
        plain_output=True,
        adjacent=True,
        fused_mlp=True,
        norms=ALL_NORMS,
        names={
            "post_attention_layernorm": "post_self_attn_layernorm",
            "pre_feedforward_layernorm": "post_attention_layernorm",
            "post_feedforward_layernorm": "post_mlp_layernorm",
        },
    ),
    "qwen3_5_text": Family(
        _defaults((248320, 4096, 12288, 32, 16), 4, 32768, **_DELTA, **_GATED),
        options=("attention_bias",),
        partial=True,
        recurrent="linear_attention",
        gated=True,
        plus_one=True,
        qk_norm=True,
        others=_DRAFTING,
        rotary_others=_SECTIONS,
        large_states=True,
    ),
    "qwen3_5_moe_text": Family(
        _defaults(
            (248320, 2048, 512, 40, 16),
            2,
            32768,
            **_DELTA,
            **_GATED,
            **_SHARED,
            num_experts=256,
            num_experts_per_tok=8,
        ),
        options=("attention_bias",),
        mixture=True,
        inner="moe_intermediate_size",
        partial=True,
        recurrent="linear_attention",
        gated=True,
        plus_one=True,
        qk_norm=True,
        others=(*_ROUTING, *_DRAFTING),
        rotary_others=_SECTIONS,
        large_states=True,
    ),
    "qwen3_next": Family(
        _defaults(
            (151936, 2048, 5632, 48, 16),
            2,
            32768,
            **_DELTA,
            **_SHARED,
            num_experts=512,
            num_experts_per_tok=10,
            norm_topk_prob=True,
        ),
        options=("attention_bias",),
        mixture=True,
        inner="moe_intermediate_size",
        partial=True,
        recurrent="linear_attention",
        gated=True,
        plus_one=True,
        qk_norm=True,
        others=(*_ROUTING, "decoder_sparse_step", "mlp_only_layers"),
        large_states=True,
        compiled=False,  # two matrices before the layers with states, in an order of their own
    ),
    "lfm2": Family(
        _defaults(
            (65536, 2560, 12288, 32, 32),
            8,
            128000,
            tie_word_embeddings=True,
            rope_theta=1000000.0,
            layer_types=None,
            full_attn_idxs=None,
            conv_L_cache=3,
            conv_bias=False,
            norm_eps=1e-5,  # in place of rms_norm_eps
            block_auto_adjust_ff_dim=True,
            block_ffn_dim_multiplier=1.0,
            block_multiple_of=256,
        ),
        qk_norm=True,
        recurrent="conv",
        names={
            "input_layernorm": "operator_norm",
            "post_attention_layernorm": "ffn_norm",
            "self_attn.o_proj": "self_attn.out_proj",
            "self_attn.q_norm": "self_attn.q_layernorm",
            "self_attn.k_norm": "self_attn.k_layernorm",
            "mlp.gate_proj": "feed_forward.w1",
            "mlp.up_proj": "feed_forward.w3",
            "mlp.down_proj": "feed_forward.w2",
            "model.norm": "model.embedding_norm",
        },
        # These repeat sizes, or are of the training.
        others=("block_norm_eps", "conv_dim", "conv_dim_out", "conv_use_xavier_init"),
    ),
}
ARCHITECTURES = tuple(FAMILIES)


# Models whose architecture has no entry in FAMILIES, which is compared with transformers at the first load
# (`engine.torch_model.proof`). Their configurations have to state all sizes themselves.
UNLISTED = Family({"num_key_value_heads": None}, compiled=False)


def is_listed(architecture: str) -> bool:
    """Return whether the architecture is declared here; others may run after a proof."""
    return architecture in FAMILIES


def family_of(architecture: str) -> Family:
    """Return the family of an architecture; UNLISTED if it has no entry."""
    return FAMILIES.get(architecture, UNLISTED)


def unsupported(architecture: str, reason: str = "") -> UnsupportedModel:
    """Return the error for a model of an architecture that is not declared and cannot run."""
    return UnsupportedModel(
        f"Models of the architecture “{architecture[:40]}” are not supported{reason and ': '}{reason}.",
        f"Supported: {', '.join(ARCHITECTURES)}.",
    )
