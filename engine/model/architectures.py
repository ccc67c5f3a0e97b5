"""The supported architectures: what the models of each have in common, and the values of their
configurations that transformers' configuration classes assume where a config.json has none."""

from engine.errors import UnsupportedModel
from engine.model.family import (
    ALL_NORMS,
    DELTA,
    DRAFTING,
    GATED,
    GRANITE_FACTORS,
    LFM2_NAMES,
    LLAMA,
    MISTRAL,
    OUTER_NORMS,
    SECTIONS,
    SHORT_CONVOLUTIONS,
    Family,
    defaults,
)
from engine.model.mixture_families import MIXTURES

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
_GEMMA4_POSITIONS = {
    "full_attention": dict(rope_type="proportional", partial_rotary_factor=0.25, rope_theta=1000000.0),
    "sliding_attention": dict(rope_type="default", rope_theta=10000.0),
}
_GEMMA_N = dict(
    head_dim=256, hidden_activation="gelu_pytorch_tanh", tie_word_embeddings=True, sliding_window=512
)
_PER_LAYER = ("vocab_size_per_layer_input", "hidden_size_per_layer_input")
_ALTUP = ("altup_coef_clip", "altup_correct_scale", "laurel_rank")

FAMILIES = {
    "llama": Family(defaults(LLAMA, None, 2048), options=("attention_bias", "mlp_bias"), whole_heads=True),
    "mistral": Family(defaults(MISTRAL, 8, 131072, sliding_window=4096), window="all"),
    "qwen2": Family(defaults(_QWEN, 32, 32768, **_QWEN_WINDOW), qkv_bias=True, window="by layer"),
    "qwen3": Family(
        defaults(_QWEN, 32, 32768, head_dim=128, **_QWEN_WINDOW),
        options=("attention_bias",),
        qk_norm=True,
        window="by layer",
    ),
    "gemma2": Family(
        defaults(
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
        whole_heads=True,
        window="by layer",
    ),
    "gemma3_text": Family(
        defaults(
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
        whole_heads=True,
        window="by layer",
        rotary_by_layer=True,
    ),
    "gemma3n_text": Family(
        defaults(
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
        whole_heads=True,
        window="by layer",
        rotary_by_layer=True,
        others=(*_ALTUP, *_PER_LAYER),
        compiled=False,  # streams of states (AltUp), low-rank residuals, sparse activations
    ),
    "gemma4_text": Family(
        defaults(
            (262144, 2304, 9216, 30, 8),
            4,
            131072,
            **_GEMMA_N,
            **_THETAS,
            rope_parameters=_GEMMA4_POSITIONS,
            final_logit_softcapping=None,
            sliding_window_pattern=6,
            num_kv_shared_layers=0,
            attention_k_eq_v=False,
            global_head_dim=512,
            num_global_key_value_heads=None,
            hidden_size_per_layer_input=256,
            vocab_size_per_layer_input=262144,
            use_double_wide_mlp=False,
        ),
        options=("attention_bias",),
        qk_norm=True,
        norms=ALL_NORMS,
        root_scale=True,
        unscaled=True,
        value_norm=True,
        layer_factor=True,
        window="by layer",
        rotary_by_layer=True,
        rotary_types=("default", "proportional"),
        uneven=True,
        # The fields of its mixture, which is refused, and null in dense models.
        others=(*("enable_moe_block", "num_experts", "top_k_experts", "moe_intermediate_size"),),
    ),
    "phi3": Family(
        defaults(
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
        defaults(
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
        defaults(
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
        defaults(
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
        defaults(
            LLAMA,
            None,
            2048,
            **GRANITE_FACTORS,
        ),
        options=("attention_bias", "mlp_bias"),
    ),
    "olmo2": Family(
        defaults((50304, *LLAMA[1:]), None, 2048, rms_norm_eps=1e-5),
        options=("attention_bias",),
        qk_norm=True,
        whole_qk_norm=True,
        norms=OUTER_NORMS,
    ),
    "olmo3": Family(
        defaults(
            (50304, *LLAMA[1:]),
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
        defaults(
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
        defaults((248320, 4096, 12288, 32, 16), 4, 32768, **DELTA, **GATED),
        options=("attention_bias",),
        partial=True,
        recurrent="linear_attention",
        gated=True,
        plus_one=True,
        qk_norm=True,
        others=DRAFTING,
        rotary_others=SECTIONS,
    ),
    "lfm2": Family(
        defaults(
            (65536, 2560, 12288, 32, 32),
            8,
            128000,
            **SHORT_CONVOLUTIONS,
            full_attn_idxs=None,
            block_auto_adjust_ff_dim=True,
            block_ffn_dim_multiplier=1.0,
            block_multiple_of=256,
        ),
        qk_norm=True,
        recurrent="conv",
        names=LFM2_NAMES,
        # These repeat sizes, or are of the training.
        others=("block_norm_eps", "conv_dim", "conv_dim_out", "conv_use_xavier_init"),
    ),
    **MIXTURES,
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
