"""What a GGUF file says of a model of transformers, with the keys that llama.cpp's converter writes."""

import math

import gguf
import torch
from transformers import PreTrainedConfig

INTERLEAVED = (
    *("llama", "smollm3", "granite", "granitemoe", "granitehybrid", "mistral3", "nemotron_h"),
    "nemotron_h_moe",
)
# These came after files with a tensor for each expert.
ALWAYS_STACKED = ("granitehybrid", "nemotron_h_moe", "lfm2moe")
STATEFUL = ("qwen35", "qwen35moe", "qwen3next")


def add_metadata(writer: gguf.GGUFWriter, config: PreTrainedConfig, architecture: str) -> None:
    if config.model_type == "nemotron_h":
        _add_nemotron(writer, config)
    else:
        _add_layers(writer, config, architecture)
    writer.add_tokenizer_model("llama")
    writer.add_token_list([f"<{token}>" for token in range(config.vocab_size)])
    writer.add_token_scores([0.0] * config.vocab_size)
    writer.add_bos_token_id(config.bos_token_id)
    writer.add_eos_token_id(config.eos_token_id)
    writer.add_pad_token_id(config.pad_token_id)


def add_assistant(writer: gguf.GGUFWriter, config: PreTrainedConfig) -> None:
    """Add what an assistant of Gemma 4 says besides its layers, and what other programs say of clusters."""
    writer.add_embedding_length_out(config.backbone_hidden_size)
    writer.add_nextn_predict_layers(config.text_config.num_hidden_layers)
    if config.use_ordered_embeddings:
        writer.add_uint32(f"{writer.arch}.centroid_top_k", config.centroid_intermediate_top_k)


def _add_nemotron(writer: gguf.GGUFWriter, config: PreTrainedConfig) -> None:
    """Add what a Nemotron-H says of its layers, and that it has no positions."""
    types = config.layers_block_type
    writer.add_block_count(len(types))
    writer.add_context_length(config.max_position_embeddings)
    writer.add_embedding_length(config.hidden_size)
    widths = {"mlp": config.intermediate_size, "moe": config.moe_intermediate_size}
    writer.add_feed_forward_length([widths.get(kind, 0) for kind in types])
    writer.add_head_count(config.num_attention_heads)
    writer.add_head_count_kv([config.num_key_value_heads * (kind == "full_attention") for kind in types])
    writer.add_layer_norm_eps(config.layer_norm_epsilon)
    writer.add_layer_norm_rms_eps(config.layer_norm_epsilon)
    writer.add_rope_dimension_count(config.head_dim)
    writer.add_rope_scaling_finetuned(False)
    writer.add_key_length(config.head_dim)
    writer.add_value_length(config.head_dim)
    writer.add_ssm_conv_kernel(config.conv_kernel)
    writer.add_ssm_state_size(config.ssm_state_size)
    writer.add_ssm_group_count(config.n_groups)
    writer.add_ssm_inner_size(config.mamba_num_heads * config.mamba_head_dim)
    writer.add_ssm_time_step_rank(config.mamba_num_heads)
    if "moe" in types:
        _add_sigmoid_mixture(writer, config)
        writer.add_expert_shared_feed_forward_length(config.moe_shared_expert_intermediate_size)
        writer.add_expert_count(config.n_routed_experts)
        writer.add_expert_used_count(config.num_experts_per_tok)


def _add_sigmoid_mixture(writer: gguf.GGUFWriter, config: PreTrainedConfig) -> None:
    writer.add_expert_feed_forward_length(config.moe_intermediate_size)
    writer.add_expert_shared_count(config.n_shared_experts)
    writer.add_expert_weights_scale(config.routed_scaling_factor)
    writer.add_expert_weights_norm(config.norm_topk_prob)
    writer.add_expert_group_count(config.n_group)
    writer.add_expert_group_used_count(config.topk_group)


def _add_granite_hybrid(writer: gguf.GGUFWriter, config: PreTrainedConfig) -> None:
    """Add what a Granite 4 hybrid says of its layers, and whether it has positions."""
    counts = [config.num_key_value_heads * (kind == "full_attention") for kind in config.layer_types]
    writer.add_head_count_kv(counts)
    writer.add_rope_scaling_finetuned(config.position_embedding_type == "rope")
    writer.add_expert_shared_feed_forward_length(config.shared_intermediate_size)
    writer.add_ssm_conv_kernel(config.mamba_d_conv)
    writer.add_ssm_state_size(config.mamba_d_state)
    writer.add_ssm_group_count(config.mamba_n_groups)
    writer.add_ssm_inner_size(config.mamba_expand * config.hidden_size)
    writer.add_ssm_time_step_rank(config.mamba_n_heads)


def _add_lfm2(writer: gguf.GGUFWriter, config: PreTrainedConfig) -> None:
    """Add which layers of an LFM2 attend, and the kernel of the others."""
    counts = [config.num_key_value_heads * (kind == "full_attention") for kind in config.layer_types]
    writer.add_head_count_kv(counts)
    writer.add_layer_norm_rms_eps(config.norm_eps)
    writer.add_shortconv_l_cache(config.conv_L_cache)
    writer.add_vocab_size(config.vocab_size)
    if config.model_type == "lfm2_moe":
        writer.add_expert_feed_forward_length(config.moe_intermediate_size)
        writer.add_leading_dense_block_count(config.num_dense_layers)
        writer.add_expert_gating_func(gguf.ExpertGatingFuncType.SIGMOID)


def _add_layers(writer: gguf.GGUFWriter, config: PreTrainedConfig, architecture: str) -> None:
    writer.add_block_count(config.num_hidden_layers)
    writer.add_context_length(config.max_position_embeddings)
    writer.add_embedding_length(config.hidden_size)
    if architecture == "granitehybrid" and not config.num_local_experts:
        writer.add_feed_forward_length(config.shared_intermediate_size)
    elif architecture != "qwen35moe":  # whose layers have no MLP
        writer.add_feed_forward_length(config.intermediate_size)
    writer.add_head_count(config.num_attention_heads)
    # In Gemma 4, layers without a window have heads of their own.
    usual = config.per_layer_config["sliding_attention"] if architecture == "gemma4" else config
    if architecture in ("lfm2", "lfm2moe"):
        _add_lfm2(writer, config)
    else:
        if architecture != "granitehybrid":  # which says it for each layer
            writer.add_head_count_kv(usual.num_key_value_heads)
        writer.add_layer_norm_rms_eps(config.rms_norm_eps)
    head = getattr(usual, "head_dim", None) or config.hidden_size // config.num_attention_heads
    rope = config.rope_parameters or {"rope_type": "default", "rope_theta": 10000.0}
    if architecture == "phi3":
        writer.add_rope_scaling_orig_ctx_len(config.original_max_position_embeddings)
        writer.add_rope_dimension_count(int(rope["partial_rotary_factor"] * head))
        writer.add_sliding_window(config.sliding_window or 0)
        if rope["rope_type"] == "longrope":
            original = config.original_max_position_embeddings
            scale = config.max_position_embeddings / original
            factor = math.sqrt(1 + math.log(scale) / math.log(original)) if scale > 1 else 1.0
            writer.add_rope_scaling_attn_factors(factor)
    else:
        writer.add_key_length(head)
        writer.add_value_length(head)
    if architecture == "gemma2":
        writer.add_attn_logit_softcapping(config.attn_logit_softcapping)
        writer.add_final_logit_softcapping(config.final_logit_softcapping)
        writer.add_sliding_window(config.sliding_window)
    else:
        rope = rope.get("full_attention", rope)
        writer.add_rope_freq_base(rope["rope_theta"])
        if rope["rope_type"] == "linear":
            writer.add_rope_scaling_type(gguf.RopeScalingType.LINEAR)
            writer.add_rope_scaling_factor(rope["factor"])
        if rope["rope_type"] == "yarn":
            writer.add_rope_scaling_type(gguf.RopeScalingType.YARN)
            writer.add_rope_scaling_factor(rope["factor"])
            if architecture == "mistral3":
                writer.add_rope_scaling_yarn_beta_fast(rope["beta_fast"])
                writer.add_rope_scaling_yarn_log_mul(rope["mscale_all_dim"])
                writer.add_attn_temperature_scale(rope["llama_4_scaling_beta"])
            elif architecture == "gpt-oss":
                writer.add_rope_scaling_yarn_beta_fast(rope["beta_fast"])
                writer.add_rope_scaling_yarn_beta_slow(rope["beta_slow"])
            else:
                writer.add_rope_scaling_attn_factors(rope["attention_factor"])
            writer.add_rope_scaling_orig_ctx_len(rope["original_max_position_embeddings"])
    if architecture == "gemma3":
        writer.add_sliding_window(config.sliding_window)
    if architecture in ("gemma3n", "gemma4"):
        _add_uneven(writer, config)
    if config.model_type == "olmo3":
        writer.add_sliding_window(config.sliding_window)
        writer.add_sliding_window_pattern([kind == "sliding_attention" for kind in config.layer_types])
    if architecture == "granitehybrid":
        _add_granite_hybrid(writer, config)
    if architecture.startswith("granite"):
        writer.add_attention_scale(config.attention_multiplier)
        writer.add_embedding_scale(config.embedding_multiplier)
        writer.add_residual_scale(config.residual_multiplier)
        writer.add_logit_scale(config.logits_scaling)
    if architecture in INTERLEAVED:
        writer.add_rope_dimension_count(head)
    if architecture == "glm4moe":
        _add_sigmoid_mixture(writer, config)
        writer.add_leading_dense_block_count(config.first_k_dense_replace)
        writer.add_expert_gating_func(gguf.ExpertGatingFuncType.SIGMOID)
    if architecture in ("glm4", "glm4moe"):
        writer.add_rope_dimension_count(int(rope["partial_rotary_factor"] * head))
    if architecture in STATEFUL:
        heads, width = config.linear_num_value_heads, config.linear_value_head_dim
        rotated = int(rope["partial_rotary_factor"] * head)
        writer.add_rope_dimension_count(rotated)
        if architecture != "qwen3next":
            # Time, height and width take turns; for text, they are one position.
            writer.add_rope_dimension_sections([-(-(rotated // 2 - axis) // 3) for axis in range(3)] + [0])
        writer.add_ssm_conv_kernel(config.linear_conv_kernel_dim)
        writer.add_ssm_state_size(config.linear_key_head_dim)
        writer.add_ssm_group_count(config.linear_num_key_heads)
        writer.add_ssm_time_step_rank(heads)
        writer.add_ssm_inner_size(heads * width)
        writer.add_full_attention_interval(4)
    if architecture == "gpt-oss":
        writer.add_sliding_window(config.sliding_window)
        writer.add_expert_feed_forward_length(config.intermediate_size)
    if architecture in ("qwen3moe", "qwen35moe", "qwen3next"):
        writer.add_expert_feed_forward_length(config.moe_intermediate_size)
    if architecture in ("qwen35moe", "qwen3next"):
        writer.add_expert_shared_feed_forward_length(config.shared_expert_intermediate_size)
    if hasattr(config, "num_experts_per_tok"):
        names = ("num_local_experts", "num_experts", "n_routed_experts")
        writer.add_expert_count(next(getattr(config, name) for name in names if hasattr(config, name)))
        writer.add_expert_used_count(config.num_experts_per_tok)


def _add_uneven(writer: gguf.GGUFWriter, config: PreTrainedConfig) -> None:
    """Add what Gemma 3n and 4 say of their layers; some of it replaces what is usual."""
    slides = [kind == "sliding_attention" for kind in config.layer_types]
    writer.add_sliding_window(config.sliding_window)
    writer.add_sliding_window_pattern(slides)
    writer.add_rope_freq_base_swa(config.rope_parameters["sliding_attention"]["rope_theta"])
    writer.add_shared_kv_layers(config.num_kv_shared_layers)
    writer.add_embedding_length_per_layer_input(config.hidden_size_per_layer_input)
    if config.final_logit_softcapping:
        writer.add_final_logit_softcapping(config.final_logit_softcapping)
    if config.model_type == "gemma3n_text":
        writer.add_altup_active_idx(config.altup_active_idx)
        writer.add_altup_num_inputs(config.altup_num_inputs)
        shares = torch.tensor(config.activation_sparsity_pattern)
        writer.add_activation_sparsity_scale(torch.distributions.Normal(0.0, 1.0).icdf(shares).tolist())
        return
    full, sliding = (config.per_layer_config[f"{kind}_attention"] for kind in ("full", "sliding"))
    own = config.num_hidden_layers - config.num_kv_shared_layers
    replaced = {"attention.key_length", "attention.value_length"}
    if config.use_double_wide_mlp:
        replaced.add("feed_forward_length")
    counts = (full.num_key_value_heads, sliding.num_key_value_heads)
    if counts[0] != counts[1]:
        replaced.add("attention.head_count_kv")
    for key in replaced:
        del writer.kv_data[0][f"{writer.arch}.{key}"]
    writer.add_key_length(full.head_dim)
    writer.add_value_length(full.head_dim)
    writer.add_key_length_swa(sliding.head_dim)
    writer.add_value_length_swa(sliding.head_dim)
    writer.add_rope_dimension_count(full.head_dim)
    writer.add_rope_dimension_count_swa(sliding.head_dim)
    if "feed_forward_length" in replaced:
        inner = config.intermediate_size
        writer.add_feed_forward_length([inner] * own + [2 * inner] * config.num_kv_shared_layers)
    if "attention.head_count_kv" in replaced:
        writer.add_head_count_kv([counts[each] for each in slides])
