"""Tiny random models in float32, built by transformers, for tests."""

import copy
from collections.abc import Sequence
from typing import Any

import torch
from transformers import AutoConfig, AutoModelForCausalLM, PreTrainedModel

from engine.torch_model.attention import ATTENTION
from engine.torch_model.forward import TorchModel
from engine.torch_model.rope import fix_rope

VOCABULARY = 61
CONTEXT = 64  # the length rotary frequencies are fixed for
COMMON = dict(
    vocab_size=VOCABULARY, hidden_size=32, intermediate_size=48, num_hidden_layers=3, num_attention_heads=4,
    num_key_value_heads=2, max_position_embeddings=512, bos_token_id=1, eos_token_id=2, pad_token_id=0,
)  # fmt: skip
_LONGROPE = dict(
    rope_type="longrope",
    rope_theta=10000.0,
    partial_rotary_factor=0.5,
    short_factor=[1.0, 1.3],
    long_factor=[1.5, 6.0],
)
CONFIGS: dict[str, dict[str, Any]] = {
    "llama": dict(head_dim=8, tie_word_embeddings=True),
    "llama_bias": dict(model_type="llama", attention_bias=True, mlp_bias=True),
    "llama3_rope": dict(
        model_type="llama",
        head_dim=16,
        rope_parameters=dict(
            rope_type="llama3",
            rope_theta=10000.0,
            factor=8.0,
            low_freq_factor=1.0,
            high_freq_factor=4.0,
            original_max_position_embeddings=64,
        ),
    ),
    "mistral": dict(sliding_window=12),
    "qwen2": dict(),
    "qwen2_window": dict(model_type="qwen2", use_sliding_window=True, sliding_window=9, max_window_layers=1),
    "qwen3": dict(head_dim=16),
    "mixtral": dict(num_local_experts=5, num_experts_per_tok=2, head_dim=16),
    "qwen3_moe": dict(
        num_experts=6,
        num_experts_per_tok=3,
        moe_intermediate_size=24,
        norm_topk_prob=True,
        head_dim=16,
        num_hidden_layers=2,
    ),
    "olmoe": dict(num_experts=4, num_experts_per_tok=2, intermediate_size=24, num_hidden_layers=2),
    "granitemoe": dict(
        num_local_experts=5,
        num_experts_per_tok=2,
        num_hidden_layers=2,
        embedding_multiplier=3.0,
        residual_multiplier=0.5,
        attention_multiplier=0.25,
        logits_scaling=2.0,
    ),
    "gpt_oss": dict(
        num_local_experts=5,
        num_experts_per_tok=2,
        num_hidden_layers=3,
        head_dim=16,
        sliding_window=9,
        rope_parameters=dict(
            rope_type="yarn",
            rope_theta=10000.0,
            factor=8.0,
            beta_fast=4.0,
            beta_slow=1.0,
            truncate=False,
            original_max_position_embeddings=16,
        ),
    ),
    "gemma2": dict(
        head_dim=16,
        query_pre_attn_scalar=24,
        sliding_window=9,
        attn_logit_softcapping=3.0,
        final_logit_softcapping=20.0,
    ),
    "gemma3_text": dict(
        head_dim=16,
        query_pre_attn_scalar=24,
        sliding_window=9,
        layer_types=["sliding_attention", "full_attention", "sliding_attention"],
        rope_parameters=dict(
            sliding_attention=dict(rope_type="default", rope_theta=100.0),
            full_attention=dict(rope_type="linear", rope_theta=10000.0, factor=8.0),
        ),
    ),
    "gemma3n_text": dict(
        hidden_size=48,
        num_hidden_layers=6,
        head_dim=8,
        sliding_window=9,
        layer_types=["sliding_attention", "full_attention"] * 3,
        num_kv_shared_layers=2,
        intermediate_size=[48, 48, 40, 40, 48, 48],
        activation_sparsity_pattern=[0.9, 0.5, 0.0, 0.0, 0.0, 0.0],
        laurel_rank=6,
        altup_num_inputs=3,
        hidden_size_per_layer_input=10,
        vocab_size_per_layer_input=VOCABULARY - 3,
    ),
    "gemma4_text": dict(  # as the small ones: inputs of each layer, shared keys and values
        num_hidden_layers=6,
        head_dim=8,
        global_head_dim=16,
        sliding_window=9,
        layer_types=["sliding_attention", "full_attention"] * 3,
        num_kv_shared_layers=2,
        use_double_wide_mlp=True,
        hidden_size_per_layer_input=10,
        vocab_size_per_layer_input=VOCABULARY,
        final_logit_softcapping=20.0,
    ),
    "gemma4_large": dict(  # as the 31B: one matrix for keys and values of full attention
        model_type="gemma4_text",
        num_hidden_layers=4,
        head_dim=8,
        global_head_dim=16,
        num_global_key_value_heads=1,
        attention_k_eq_v=True,
        sliding_window=9,
        layer_types=["sliding_attention", "full_attention"] * 2,
        hidden_size_per_layer_input=0,
    ),
    "phi3": dict(
        sliding_window=11,
        rope_parameters=dict(rope_type="default", rope_theta=10000.0, partial_rotary_factor=0.5),
    ),
    "phi3_short": dict(model_type="phi3", original_max_position_embeddings=256, rope_parameters=_LONGROPE),
    "phi3_long": dict(model_type="phi3", original_max_position_embeddings=8, rope_parameters=_LONGROPE),
    "seed_oss": dict(head_dim=16),
    "seed_oss_bias": dict(model_type="seed_oss", head_dim=16, attention_out_bias=True, mlp_bias=True),
    "smollm3": dict(no_rope_layers=[1, 0, 1]),
    "smollm3_window": dict(
        model_type="smollm3", use_sliding_window=True, sliding_window=9, no_rope_layer_interval=2
    ),
    "ministral3": dict(
        head_dim=16,
        max_position_embeddings=128,
        rope_parameters=dict(
            rope_type="yarn",
            rope_theta=10000.0,
            factor=8.0,
            original_max_position_embeddings=16,
            llama_4_scaling_beta=0.3,
            beta_fast=4.0,
            mscale=1.0,
            mscale_all_dim=1.0,
        ),
    ),
    "granite": dict(
        embedding_multiplier=3.0,
        residual_multiplier=0.5,
        attention_multiplier=0.25,
        logits_scaling=2.0,
        attention_bias=True,
    ),
    "granitemoehybrid": dict(  # as Granite 4 Micro: no mixture, no rotary positions
        layer_types=["linear_attention", "full_attention", "linear_attention"],
        embedding_multiplier=3.0,
        residual_multiplier=0.5,
        attention_multiplier=0.25,
        logits_scaling=2.0,
        num_local_experts=0,
        num_experts_per_tok=0,
        shared_intermediate_size=40,
        mamba_n_heads=8,
        mamba_n_groups=2,
        mamba_d_state=12,
        mamba_chunk_size=8,
    ),
    "granitemoehybrid_experts": dict(  # as Granite 4 Tiny
        model_type="granitemoehybrid",
        layer_types=["linear_attention", "full_attention", "linear_attention"],
        embedding_multiplier=3.0,
        residual_multiplier=0.5,
        attention_multiplier=0.25,
        logits_scaling=2.0,
        num_local_experts=5,
        num_experts_per_tok=2,
        shared_intermediate_size=40,
        mamba_n_heads=8,
        mamba_d_state=12,
        mamba_chunk_size=8,
    ),
    "nemotron_h": dict(
        head_dim=12,
        layers_block_type=["linear_attention", "mlp", "full_attention", "linear_attention"],
        mamba_num_heads=8,
        mamba_head_dim=6,
        n_groups=2,
        ssm_state_size=12,
        chunk_size=8,
        mlp_bias=True,
        use_bias=True,
    ),
    "nemotron_h_experts": dict(  # as Nemotron 3 Nano
        model_type="nemotron_h",
        head_dim=12,
        layers_block_type=["linear_attention", "moe", "full_attention", "moe"],
        mamba_num_heads=8,
        mamba_head_dim=6,
        n_groups=2,
        ssm_state_size=12,
        chunk_size=8,
        n_routed_experts=6,
        num_experts_per_tok=2,
        moe_intermediate_size=24,
        moe_shared_expert_intermediate_size=40,
        n_group=2,
        topk_group=1,
        routed_scaling_factor=2.5,
    ),
    "olmo2": dict(),
    "olmo3": dict(
        sliding_window=9,
        layer_types=["sliding_attention", "full_attention", "sliding_attention"],
        rope_parameters=dict(
            sliding_attention=dict(rope_type="default", rope_theta=100.0),
            full_attention=dict(
                rope_type="yarn", rope_theta=10000.0, factor=8.0, original_max_position_embeddings=16
            ),
        ),
    ),
    "glm4": dict(head_dim=16),
    "glm4_moe": dict(
        head_dim=16,
        n_routed_experts=8,
        num_experts_per_tok=3,
        moe_intermediate_size=24,
        n_shared_experts=2,
        n_group=4,
        topk_group=2,
        first_k_dense_replace=1,
        routed_scaling_factor=1.5,
        use_qk_norm=True,
        attention_bias=True,
    ),
    "qwen3_5_text": dict(
        head_dim=16,
        layer_types=["linear_attention", "full_attention", "linear_attention"],
        linear_num_key_heads=2,
        linear_num_value_heads=4,
        linear_key_head_dim=8,
        linear_value_head_dim=12,
    ),
    "qwen3_5_moe_text": dict(
        head_dim=16,
        layer_types=["linear_attention", "full_attention", "linear_attention"],
        linear_num_key_heads=2,
        linear_num_value_heads=4,
        linear_key_head_dim=8,
        linear_value_head_dim=12,
        num_experts=6,
        num_experts_per_tok=2,
        moe_intermediate_size=24,
        shared_expert_intermediate_size=40,
    ),
    "qwen3_next": dict(
        head_dim=16,
        layer_types=["linear_attention", "full_attention", "linear_attention"],
        mlp_only_layers=[1],
        linear_num_key_heads=2,
        linear_num_value_heads=4,
        linear_key_head_dim=8,
        linear_value_head_dim=12,
        num_experts=6,
        num_experts_per_tok=2,
        moe_intermediate_size=24,
        shared_expert_intermediate_size=40,
    ),
    "lfm2": dict(
        layer_types=["conv", "full_attention", "conv"], conv_bias=True, block_auto_adjust_ff_dim=False
    ),
    "lfm2_moe": dict(
        layer_types=["conv", "full_attention", "conv"],
        num_dense_layers=1,
        num_experts=6,
        num_experts_per_tok=2,
        moe_intermediate_size=24,
    ),
}


# Beside the settings of a Qwen 3.5: those of its mixture, and of Qwen3-Next.
EXPERTS: dict[str, Any] = dict(
    num_experts=6, num_experts_per_tok=2, moe_intermediate_size=24, shared_expert_intermediate_size=40
)


def reference(kind: str, seed: int = 0, **changes: object) -> PreTrainedModel:
    """Return transformers' own model. Its head is sharper than at random, so that a draft and a target can
    agree at all."""
    settings = copy.deepcopy({"model_type": kind, **COMMON, **CONFIGS[kind], **changes})
    config = AutoConfig.for_model(settings.pop("model_type"), **settings)
    config._attn_implementation = "eager"
    torch.manual_seed(seed)
    module = AutoModelForCausalLM.from_config(config, dtype=torch.float32).eval()
    with torch.no_grad():
        for parameter in module.parameters():
            parameter.mul_(6.0) if parameter.ndim == 2 else parameter.add_(torch.randn_like(parameter) * 0.1)
        for name, buffer in module.named_buffers():
            if name.endswith(("e_score_correction_bias", "expert_bias")):
                buffer.add_(torch.randn_like(buffer) * 0.1)
            elif name.endswith("layer_scalar"):
                buffer.mul_(1.5)
    return module


def ours(module: PreTrainedModel, context: int = CONTEXT, windows: Sequence[int | None] = ()) -> TorchModel:
    """Return a model of `engine.torch_model.forward` with the same weights, loaded for a context of that many
    tokens. windows: those that layers have, if they may drop rows."""
    config = copy.deepcopy(module.config)
    twin = AutoModelForCausalLM.from_config(config, dtype=torch.float32, attn_implementation=ATTENTION)
    twin.load_state_dict(module.state_dict())
    fix_rope(twin, config, context)
    return TorchModel(twin, config, torch.float32, "cpu", windows=windows)


def disturbed(module: PreTrainedModel, amount: float, seed: int = 1) -> PreTrainedModel:
    """Return a copy of `module` with noise on its weights: the draft of a tiny pair that agrees now and
    then."""
    twin = AutoModelForCausalLM.from_config(module.config, dtype=torch.float32).eval()
    twin.load_state_dict(module.state_dict())
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for parameter in twin.parameters():
            parameter.add_(torch.randn(parameter.shape, generator=generator) * parameter.std() * amount)
    return twin


def counted(model: TorchModel) -> list[int]:
    """Record the number of rows of each future pass of `model`."""
    rows: list[int] = []
    forward = model.forward

    def counting(batch, *args, **kwargs):
        rows.append(len(batch))
        return forward(batch, *args, **kwargs)

    model.forward = counting
    return rows
