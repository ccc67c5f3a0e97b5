"""Model files for tests: real ones if they are installed, and tiny ones written on demand."""

import json
import math
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import gguf
import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from safetensors.numpy import save_file
from transformers import PreTrainedConfig, PreTrainedModel

from engine import catalog
from engine.checkpoints import Weight, read_span
from engine.errors import BadCheckpoint, UnsupportedModel
from engine.formats import FORMATS, BlockFormat
from tests.engine.formats.made import random_blocks

HIDDEN, WIDE, HEADS, KV_HEADS, LAYERS = 64, 96, 4, 2, 2
INTERLEAVED = ("llama", "smollm3", "granite", "granitemoe", "granitehybrid", "mistral3", "nemotron_h")
STATEFUL = ("qwen35", "qwen35moe", "qwen3next")
GGUF_NAMES = {
    "gemma3_text": "gemma3",
    "gemma3n_text": "gemma3n",
    "gemma4_text": "gemma4",
    "mixtral": "llama",
    "olmo3": "olmo2",
    "ministral3": "mistral3",
    "qwen3_5_text": "qwen35",
    "qwen3_5_moe_text": "qwen35moe",
    "qwen3_moe": "qwen3moe",
    "qwen3_next": "qwen3next",
    "gpt_oss": "gpt-oss",
    "granitemoehybrid": "granitehybrid",
    "glm4_moe": "glm4moe",
}
TOKENS = ["<unk>", "<s>", "</s>", *"abcdefgh", "ab", "abc", "Ġ", "Ċ"]
TYPES = [2, 3, 3] + [1] * (len(TOKENS) - 3)
MERGES = ["a b", "ab c"]


@contextmanager
def named_errors_only() -> Iterator[None]:
    """Allow only the errors for refused checkpoints, and only with a message and a hint."""
    refusal = None
    try:
        yield
    except (BadCheckpoint, UnsupportedModel) as error:
        refusal = error
    assert refusal is None or (refusal.message and refusal.hint)


def real_file(model: str) -> Path:
    """Return the file of a catalogue entry; skip the test where it is not installed."""
    file = catalog.find(catalog.entries()[model])
    if file is None:
        pytest.skip(f"{catalog.entries()[model].file} is not installed")
    return file


def weights(
    architecture: str = "llama", tied: bool = True, seed: int = 0
) -> Iterator[tuple[str, NDArray[np.float32]]]:
    """Yield GGUF names and random float32 weights of a model with the sizes above."""
    rng = np.random.default_rng(seed)
    head = HIDDEN // HEADS
    shapes: dict[str, tuple[int, ...]] = {
        "token_embd.weight": (len(TOKENS), HIDDEN),
        "output_norm.weight": (HIDDEN,),
    }
    if not tied:
        shapes["output.weight"] = (len(TOKENS), HIDDEN)
    for layer in range(LAYERS):
        of_layer: dict[str, tuple[int, ...]] = {
            "attn_norm.weight": (HIDDEN,),
            "ffn_norm.weight": (HIDDEN,),
            "attn_q.weight": (HIDDEN, HIDDEN),
            "attn_k.weight": (KV_HEADS * head, HIDDEN),
            "attn_v.weight": (KV_HEADS * head, HIDDEN),
            "attn_output.weight": (HIDDEN, HIDDEN),
            "ffn_gate.weight": (WIDE, HIDDEN),
            "ffn_up.weight": (WIDE, HIDDEN),
            "ffn_down.weight": (HIDDEN, WIDE),
        }
        if architecture == "qwen2":
            of_layer |= {
                "attn_q.bias": (HIDDEN,),
                "attn_k.bias": (KV_HEADS * head,),
                "attn_v.bias": (KV_HEADS * head,),
            }
        if architecture == "qwen3":
            of_layer |= {"attn_q_norm.weight": (head,), "attn_k_norm.weight": (head,)}
        shapes |= {f"blk.{layer}.{name}": shape for name, shape in of_layer.items()}
    for name, shape in shapes.items():
        yield name, rng.standard_normal(shape, dtype=np.float32)


def write_gguf(
    path: Path,
    architecture: str = "llama",
    tied: bool = True,
    metadata: dict[str, Any] | None = None,
    tensors: dict[str, NDArray[Any] | None] | None = None,
) -> Path:
    """Write a tiny GGUF file. `metadata` and `tensors` are added to the defaults, or replace or (None) remove
    them."""
    entries: dict[str, Any] = {
        f"{architecture}.block_count": LAYERS,
        f"{architecture}.context_length": 256,
        f"{architecture}.embedding_length": HIDDEN,
        f"{architecture}.feed_forward_length": WIDE,
        f"{architecture}.attention.head_count": HEADS,
        f"{architecture}.attention.head_count_kv": KV_HEADS,
        f"{architecture}.attention.layer_norm_rms_epsilon": 1e-5,
        f"{architecture}.rope.freq_base": 10000.0,
        "tokenizer.ggml.model": "gpt2",
        "tokenizer.ggml.pre": "gpt-2",
        "tokenizer.ggml.tokens": TOKENS,
        "tokenizer.ggml.token_type": TYPES,
        "tokenizer.ggml.merges": MERGES,
        "tokenizer.ggml.bos_token_id": 1,
        "tokenizer.ggml.eos_token_id": 2,
    }
    writer = gguf.GGUFWriter(path, architecture)
    for key, value in (entries | (metadata or {})).items():
        add_entry(writer, key, value)
    for name, array in (dict(weights(architecture, tied)) | (tensors or {})).items():
        if array is not None:
            writer.add_tensor(name, array)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


def convert(
    module: PreTrainedModel,
    path: Path,
    stacked: bool | str = True,
    metadata: dict[str, Any] | None = None,
    tensors: dict[str, NDArray[np.float32] | None] | None = None,
    tensors_per_part: int = 0,
    storage: str = "F32",
    size: float = 0.02,
) -> Path:
    """Write `module` as a GGUF file like llama.cpp's convert_hf_to_gguf.py.

    Returns the file, or the first of its parts.

    stacked: "gate_up": one tensor for gate and up of all experts of a mixture, and one for down; otherwise
    whether there is one tensor of each kind for all experts, instead of one per expert, as converters wrote
    before April 2024. metadata, tensors: as in `write_gguf`. storage: the format of matrices except
    routers and those of `tensors`; other ones than F32 get random blocks with scales of the usual `size`.
    """
    config = module.config
    architecture = GGUF_NAMES.get(config.model_type, config.model_type)
    writer = gguf.GGUFWriter(path, architecture, split_max_tensors=tensors_per_part)
    _add_metadata(writer, config, architecture)
    for key, value in (metadata or {}).items():
        writer.kv_data[0].pop(key, None)
        add_entry(writer, key, value)
    for name, array in (dict(_converted(module, architecture, stacked)) | (tensors or {})).items():
        packed = storage != "F32" and "ffn_gate_inp" not in name and name not in (tensors or {})
        if array is not None and array.ndim >= 2 and packed:
            form = FORMATS[storage]
            assert isinstance(form, BlockFormat)
            blocks = random_blocks(form, array.size // form.values, size=size)
            kind = gguf.GGMLQuantizationType[storage]
            writer.add_tensor(name, blocks.reshape(*array.shape[:-1], -1), raw_dtype=kind)
        elif array is not None:
            writer.add_tensor(name, np.ascontiguousarray(array))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return writer.format_shard_names(path)[0]


def _add_metadata(writer: gguf.GGUFWriter, config: PreTrainedConfig, architecture: str) -> None:
    if architecture == "nemotron_h":
        _add_nemotron(writer, config)
    else:
        _add_layers(writer, config, architecture)
    writer.add_tokenizer_model("llama")
    writer.add_token_list([f"<{token}>" for token in range(config.vocab_size)])
    writer.add_token_scores([0.0] * config.vocab_size)
    writer.add_bos_token_id(config.bos_token_id)
    writer.add_eos_token_id(config.eos_token_id)
    writer.add_pad_token_id(config.pad_token_id)


def _add_nemotron(writer: gguf.GGUFWriter, config: PreTrainedConfig) -> None:
    """Add what a Nemotron-H says of its layers, and that it has no positions."""
    types = config.layers_block_type
    writer.add_block_count(len(types))
    writer.add_context_length(config.max_position_embeddings)
    writer.add_embedding_length(config.hidden_size)
    writer.add_feed_forward_length([config.intermediate_size * (kind == "mlp") for kind in types])
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
        writer.add_expert_feed_forward_length(config.moe_intermediate_size)
        writer.add_expert_shared_count(config.n_shared_experts)
        writer.add_leading_dense_block_count(config.first_k_dense_replace)
        writer.add_expert_gating_func(gguf.ExpertGatingFuncType.SIGMOID)
        writer.add_expert_weights_scale(config.routed_scaling_factor)
        writer.add_expert_weights_norm(config.norm_topk_prob)
        writer.add_expert_group_count(config.n_group)
        writer.add_expert_group_used_count(config.topk_group)
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
        del writer.kv_data[0][f"gemma4.{key}"]
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


def _converted(
    module: PreTrainedModel, architecture: str, stacked: bool | str
) -> Iterator[tuple[str, NDArray[np.float32]]]:
    config = module.config
    number = next(number for number, name in gguf.MODEL_ARCH_NAMES.items() if name == architecture)
    names = gguf.get_tensor_name_map(number, config.num_hidden_layers)
    heads: dict[str, int] = {}
    if architecture in INTERLEAVED:
        heads = {"q_proj": config.num_attention_heads, "k_proj": config.num_key_value_heads}
    for hf_name, tensor in module.state_dict().items():
        array = tensor.numpy()
        if hf_name == "lm_head.weight" and config.tie_word_embeddings:
            continue
        if architecture == "gpt-oss" and (found := _of_gpt_oss(hf_name, array)):
            yield from found
            continue
        if ".experts." in hf_name:
            block = hf_name.removeprefix("model.layers.").partition(".")[0]
            halves = np.split(array, 2, axis=1) if "gate_up" in hf_name else [array]
            for kind, half in zip(("gate", "up") if "gate_up" in hf_name else ("down",), halves, strict=True):
                if stacked == "gate_up" and kind != "down":
                    if kind == "gate":
                        yield f"blk.{block}.ffn_gate_up_exps.weight", array
                elif stacked or architecture == "granitehybrid":  # which came later
                    yield f"blk.{block}.ffn_{kind}_exps.weight", half
                else:
                    for expert, matrix in enumerate(half):
                        yield f"blk.{block}.ffn_{kind}.{expert}.weight", matrix
            continue
        if architecture == "granitehybrid" and (found := _of_granite_hybrid(config, hf_name, array)):
            for name, part in found:
                yield names.get_name(name, try_suffixes=(".weight", ".bias")) or name, part
            continue
        if architecture in ("granitemoe", "granitehybrid"):
            hf_name = hf_name.replace(".router.", ".router.layer.")  # as on the Hub
        layer = hf_name.split(".")[-2]
        if layer in heads:
            array = array.reshape(heads[layer], 2, len(array) // heads[layer] // 2, -1)
            array = array.swapaxes(1, 2).reshape(tensor.shape)
        if architecture in ("gemma2", "gemma3") and hf_name.endswith("norm.weight"):
            array = array + 1
        if ".altup_" in hf_name:
            continue
        if hf_name.endswith(("layer_scalar", "correct_output_scale")):
            hf_name += ".weight"
        if "embed_tokens_per_layer" in hf_name:  # rows for images and sound
            array = np.pad(array, ((0, config.vocab_size - len(array)), (0, 0)))
        if hf_name.endswith(".e_score_correction_bias"):
            yield f"blk.{hf_name.split('.')[2]}.exp_probs_b.bias", array
            continue
        if hf_name.endswith("shared_expert_gate.weight"):
            array = array.squeeze(0)
        if hf_name.endswith("in_proj_qkvz.weight"):
            yield from _parted(config, f"blk.{hf_name.split('.')[2]}", array)
            continue
        if architecture in STATEFUL:
            hf_name, array = _of_qwen35(config, hf_name, array)
        if architecture == "nemotron_h":
            hf_name, array = _of_nemotron(config, hf_name, array)
        yield names.get_name(hf_name, try_suffixes=(".weight", ".bias")), array
    if architecture == "gemma3n":
        yield from _of_gemma3n(module)
    if architecture == "gemma4":
        pairs = config.per_layer_config["full_attention"].head_dim // 2
        rotated = int(pairs * config.rope_parameters["full_attention"]["partial_rotary_factor"])
        yield "rope_freqs.weight", np.repeat(np.float32([1.0, 1e30]), (rotated, pairs - rotated))
    if (getattr(config, "rope_parameters", None) or {}).get("rope_type") == "longrope":
        for length in ("long", "short"):
            factors = np.array(config.rope_parameters[f"{length}_factor"], np.float32)
            yield f"rope_factors_{length}.weight", factors


def _of_gemma3n(module: PreTrainedModel) -> Iterator[tuple[str, NDArray[np.float32]]]:
    """Yield the matrices of the streams, stacked, and the unused ones that layers with the keys and values of
    an earlier layer have in Google's files, and which llama.cpp asks for."""
    config = module.config
    for name, hf_name in (("proj", "projections"), ("unembd_proj", "unembed_projections")):
        matrices = [linear.weight.detach().numpy() for linear in getattr(module.model, f"altup_{hf_name}")]
        yield f"altup_{name}.weight", np.stack(matrices)
    rows = config.num_key_value_heads * config.head_dim
    for layer in range(config.num_hidden_layers - config.num_kv_shared_layers, config.num_hidden_layers):
        yield f"blk.{layer}.attn_k_norm.weight", np.ones(config.head_dim, np.float32)
        for kind in "kv":
            yield f"blk.{layer}.attn_{kind}.weight", np.ones((rows, config.hidden_size), np.float32)


def _of_gpt_oss(name: str, array: NDArray[np.float32]) -> list[tuple[str, NDArray[np.float32]]]:
    """Return experts and sinks as the converter names and stores them: gate and up take turns."""
    block, _, rest = name.removeprefix("model.layers.").partition(".")
    if rest == "self_attn.sinks":
        return [(f"blk.{block}.attn_sinks.weight", array)]
    owner, _, kind = rest.rpartition(".")
    if owner != "mlp.experts":
        return []
    leaf = "bias" if kind.endswith("_bias") else "weight"
    array = array if leaf == "bias" else array.swapaxes(1, 2)
    if kind.startswith("down"):
        return [(f"blk.{block}.ffn_down_exps.{leaf}", array)]
    return [
        (f"blk.{block}.ffn_{half}_exps.{leaf}", array[:, at::2]) for at, half in enumerate(("gate", "up"))
    ]


def _of_qwen35(
    config: PreTrainedConfig, name: str, array: NDArray[np.float32]
) -> tuple[str, NDArray[np.float32]]:
    """Return the tensor as the converter names and stores it: value heads in tiled order (not those of
    Qwen3-Next), larger norms."""
    key_heads, key_width = config.linear_num_key_heads, config.linear_key_head_dim
    heads, width = config.linear_num_value_heads, config.linear_value_head_dim

    def tiled(part: NDArray[np.float32], size: int) -> NDArray[np.float32]:
        if config.model_type == "qwen3_next":
            return part
        apart = part.reshape(key_heads, heads // key_heads, size, -1)
        return apart.swapaxes(0, 1).reshape(part.shape)

    first = 2 * key_heads * key_width  # rows of queries and keys
    match name.partition(".linear_attn.")[2]:
        case "in_proj_qkv.weight" | "conv1d.weight" as kind:
            array = array.squeeze(1) if kind == "conv1d.weight" else array
            array = np.concatenate([array[:first], tiled(array[first:], width)])
        case "in_proj_z.weight":
            array = tiled(array, width)
        case "in_proj_a.weight" | "in_proj_b.weight":
            array = tiled(array, 1)
        case "out_proj.weight":
            array = np.ascontiguousarray(tiled(np.ascontiguousarray(array.T), width).T)
        case "A_log":
            array = -np.exp(tiled(array, 1))
        case "dt_bias":
            name, array = name.replace("dt_bias", "dt_proj.bias"), tiled(array, 1)
        case "":
            array = array + 1 if name.endswith("norm.weight") else array
    return name, array


def _parted(
    config: PreTrainedConfig, block: str, array: NDArray[np.float32]
) -> Iterator[tuple[str, NDArray[np.float32]]]:
    """Yield the two matrices into which the converter parts what Qwen3-Next has by key heads."""
    heads, width = config.linear_num_key_heads, config.linear_key_head_dim
    values = config.linear_num_value_heads * config.linear_value_head_dim // heads
    apart = array.reshape(heads, 2 * (width + values), -1)
    parts = np.split(apart, np.cumsum([width, width, values]), axis=1)
    *read, gates = (part.reshape(-1, array.shape[1]) for part in parts)
    yield f"{block}.attn_qkv.weight", np.concatenate(read)
    yield f"{block}.attn_gate.weight", gates


def _of_granite_hybrid(
    config: PreTrainedConfig, name: str, array: NDArray[np.float32]
) -> list[tuple[str, NDArray[np.float32]]]:
    """Return what the converter makes of an MLP or of a Mamba-2 layer: gate and up apart, vectors as
    matrices."""
    block, _, rest = name.removeprefix("model.layers.").partition(".")
    end = "_shexp" if config.num_local_experts else ""
    match rest:
        case "shared_mlp.input_linear.weight":
            halves = zip(("gate", "up"), np.split(array, 2), strict=True)
            return [(f"blk.{block}.ffn_{kind}{end}.weight", half) for kind, half in halves]
        case "shared_mlp.output_linear.weight":
            return [(f"blk.{block}.ffn_down{end}.weight", array)]
        case "mamba.conv1d.weight":
            array = array.squeeze(1)
        case "mamba.A_log":
            array = -np.exp(array)[:, None]
        case "mamba.D":
            array = array[:, None]
        case "mamba.norm.weight":
            array = array.reshape(config.mamba_n_groups, -1)
        case "mamba.dt_bias":
            name = name.replace("dt_bias", "dt_proj.bias")
        case _:
            return []
    return [(name, array)]


def _of_nemotron(
    config: PreTrainedConfig, name: str, array: NDArray[np.float32]
) -> tuple[str, NDArray[np.float32]]:
    """Return the tensor as the converter names and stores it: with the Hub's names, vectors as matrices."""
    match name.partition(".mixer.")[2]:
        case "conv1d.weight":
            array = array.squeeze(1)
        case "A_log":
            array = -np.exp(array)[:, None]
        case "D":
            array = array[:, None]
        case "norm.weight":
            array = array.reshape(config.n_groups, -1)
        case "dt_bias":
            name = name.replace("dt_bias", "dt_proj.bias")
    return name.replace("model.", "backbone."), array


def values(weight: Weight) -> NDArray[np.float32]:
    """Return the numbers of `weight` as in HF: unpacked, rows of Q and K restored to the half-split order."""
    (span,) = weight.spans
    kind = gguf.GGMLQuantizationType[weight.format]
    rows = read_span(span).reshape(-1, span.nbytes // int(np.prod(span.shape[:-1], dtype=int)))
    array = gguf.dequantize(rows, kind).reshape(weight.shape)
    if weight.rope_heads:
        size = weight.shape[0] // weight.rope_heads
        array = array.reshape(weight.rope_heads, size // 2, 2, -1).swapaxes(1, 2).reshape(weight.shape)
    return np.log(-array) if weight.decay else array + np.float32(weight.plus)


def add_entry(writer: gguf.GGUFWriter, key: str, value: Any) -> None:
    match value:
        case None:
            pass
        case bool():
            writer.add_bool(key, value)
        case int():
            writer.add_uint32(key, value)
        case float():
            writer.add_float32(key, value)
        case str():
            writer.add_string(key, value)
        case list():
            writer.add_array(key, value)
        case _:
            raise TypeError(key)


def write_folder(
    folder: Path, config: dict[str, Any] | None = None, tied: bool = False, shards: int = 1
) -> Path:
    """Write a tiny safetensors folder; `config` is added to the default configuration."""
    folder.mkdir(parents=True, exist_ok=True)
    usual = {
        "model_type": "llama",
        "architectures": ["LlamaForCausalLM"],
        "hidden_size": HIDDEN,
        "intermediate_size": WIDE,
        "num_attention_heads": HEADS,
        "num_key_value_heads": KV_HEADS,
        "num_hidden_layers": LAYERS,
        "vocab_size": len(TOKENS),
        "eos_token_id": 2,
    }
    (folder / "config.json").write_text(json.dumps(usual | (config or {})), encoding="utf-8")
    names = {"model.embed_tokens.weight": "token_embd.weight", "model.norm.weight": "output_norm.weight"}
    arrays = dict(weights(tied=tied))
    tensors = {name: arrays[of] for name, of in names.items()}
    if not tied:
        tensors["lm_head.weight"] = arrays["output.weight"]
    if shards == 1:
        save_file(tensors, folder / "model.safetensors")
        return folder
    places = {}
    for number, name in enumerate(tensors):
        shard = f"model-{number % shards + 1:05}-of-{shards:05}.safetensors"
        places[name] = shard
    for shard in set(places.values()):
        save_file({name: tensors[name] for name in places if places[name] == shard}, folder / shard)
    (folder / "model.safetensors.index.json").write_text(json.dumps({"weight_map": places}), encoding="utf-8")
    return folder
