"""Tiny random models, written as llama.cpp's converter does, are read back as the same models."""

import re
from pathlib import Path
from typing import Any

import gguf
import numpy as np
import pytest
import torch
from transformers import AutoConfig, AutoModelForCausalLM, PreTrainedConfig, PreTrainedModel

from engine.checkpoints import Checkpoint, open_checkpoint
from engine.checkpoints.gguf_architectures import UNDERSTOOD
from engine.errors import BadCheckpoint, UnsupportedModel
from tests.engine.checkpoints.files import values, write_gguf
from tests.engine.checkpoints.gguf_converter import convert
from tests.engine.models import EXPERTS, VOCABULARY, reference

# Settings that GGUF files lack or that differ from those of the tiny configurations.
CHANGES: dict[str, dict[str, Any]] = {
    "llama": {},
    "llama_bias": {},
    "mixtral": {},
    "qwen3_moe": {},
    "olmoe": {},
    "granitemoe": {},
    "gpt_oss": {},
    "glm4_moe": {},
    "qwen2": {},
    "qwen3": {},
    "gemma2": dict(query_pre_attn_scalar=16),
    "gemma3_text": dict(query_pre_attn_scalar=16, num_hidden_layers=7, layer_types=None),
    "gemma3n_text": dict(vocab_size_per_layer_input=VOCABULARY),
    "gemma4_text": {},
    "gemma4_large": dict(vocab_size_per_layer_input=VOCABULARY),  # which says nothing without such inputs
    "phi3": {},
    "phi3_short": {},
    "phi3_long": dict(tie_word_embeddings=True),
    "seed_oss": {},
    "seed_oss_bias": {},
    "smollm3": dict(num_hidden_layers=5, no_rope_layers=[1, 1, 1, 0, 1]),
    "granite": {},
    "olmo2": {},
    "olmo3": {},
    "glm4": {},
    "ministral3": {},
    # With as many value heads as key heads, their order stays; others are in `test_builder`. llama.cpp takes
    # the width of keys for that of values too.
    "qwen3_5_text": dict(
        num_hidden_layers=4, layer_types=None, linear_num_value_heads=2, linear_value_head_dim=8
    ),
    "lfm2": dict(conv_bias=False),  # files know no such biases
    "lfm2_moe": {},
    "nemotron_h": dict(use_bias=False),
    "nemotron_h_experts": dict(intermediate_size=24),  # as an expert has it
    "granitemoehybrid": dict(intermediate_size=40),
    "granitemoehybrid_experts": dict(position_embedding_type="rope"),
}
CHANGES["qwen3_5_moe_text"] = CHANGES["qwen3_5_text"] | EXPERTS
# Value heads stay in their order, however many they are; files know no layers with a plain MLP.
CHANGES["qwen3_next"] = dict(
    num_hidden_layers=4, layer_types=None, linear_value_head_dim=8, mlp_only_layers=[]
)
GEMMA3_ROPE = dict(
    sliding_attention=dict(rope_type="default", rope_theta=10000.0),
    full_attention=dict(rope_type="linear", rope_theta=1000000.0, factor=8.0),
)


OLMO3_ROPE = dict(
    sliding_attention=dict(rope_type="default", rope_theta=10000.0),
    full_attention=dict(
        rope_type="yarn",
        rope_theta=10000.0,
        factor=8.0,
        original_max_position_embeddings=16,
        attention_factor=1.25,
    ),
)


def tiny(kind: str, **changes: Any) -> PreTrainedModel:
    if kind == "olmo3":
        changes = {"rope_parameters": OLMO3_ROPE} | changes
    if kind == "gemma3_text":
        changes["rope_parameters"] = GEMMA3_ROPE
    if kind == "qwen3_5_moe_text":
        return reference("qwen3_5_text", model_type=kind, **CHANGES[kind] | changes)
    return reference(kind, **CHANGES[kind] | changes)


def rebuilt(checkpoint: Checkpoint) -> PreTrainedModel:
    """Return transformers' model with the checkpoint's configuration and exactly its weights."""
    config = AutoConfig.for_model(checkpoint.architecture, **checkpoint.config)
    module = AutoModelForCausalLM.from_config(config, dtype=torch.float32, attn_implementation="eager")
    found = {name: torch.from_numpy(values(weight)) for name, weight in checkpoint.weights.items()}
    for name, parameter in module.named_parameters():
        if name.endswith("shared_mlp.input_linear.weight"):
            path = name.removesuffix("input_linear.weight")
            found[name] = torch.cat([found.pop(f"{path}{half}_proj.weight") for half in ("gate", "up")])
        elif ".experts." in name and name.endswith("_bias"):
            halves = (
                [found.pop(name.replace("gate_up", half)) for half in ("gate", "up")]
                if "gate" in name
                else []
            )
            found |= {name: torch.stack(halves, 2).flatten(1)} if halves else {}
        elif ".experts." in name:
            path, _, kinds = name.rpartition(".")
            names = [
                [f"{path}.{expert}.{kind}_proj.weight" for kind in kinds.removesuffix("_proj").split("_")]
                for expert in range(len(parameter))
            ]
            experts = [[found.pop(one) for one in each] for each in names]
            if checkpoint.architecture == "gpt_oss":  # transposed; rows of gate and up take turns
                found[name] = torch.stack([torch.stack(each, 1).flatten(0, 1).T for each in experts])
            else:
                found[name] = torch.stack([torch.cat(each) for each in experts])
    for name in [name for name in found if name.endswith("in_proj_qkv.weight")]:
        if checkpoint.architecture == "qwen3_next":
            gates = found.pop(name.replace("qkv", "z"))
            found[name.replace("qkv", "qkvz")] = by_key_head(config, found.pop(name), gates)
    if config.tie_word_embeddings:
        found["lm_head.weight"] = found["model.embed_tokens.weight"]
    module.load_state_dict(found, strict=True)
    return module.eval()


def by_key_head(config: PreTrainedConfig, read: torch.Tensor, gates: torch.Tensor) -> torch.Tensor:
    """Return one matrix of what the converter has parted."""
    heads = config.linear_num_key_heads
    keys = heads * config.linear_key_head_dim
    parts = [*read.split([keys, keys, len(gates)]), gates]
    return torch.cat([part.unflatten(0, (heads, -1)) for part in parts], dim=1).flatten(0, 1)


def logits(module: PreTrainedModel) -> torch.Tensor:
    with torch.inference_mode():
        return module(torch.arange(1, 50)[None]).logits


# Mixtures whose gates have a matrix that goes with them, which files may have as one tensor with them.
GATED = (
    *("mixtral", "qwen3_moe", "qwen3_5_moe_text", "qwen3_next", "olmoe", "granitemoe", "glm4_moe"),
    *("granitemoehybrid_experts", "lfm2_moe"),
)
SEPARATE_OR_MERGED = (
    ("mixtral", False),
    *((kind, "gate_up") for kind in GATED),
    *((kind, "gate_up in layer 1") for kind in ("qwen3_next", "lfm2_moe")),
)


@pytest.mark.parametrize(("kind", "stacked"), [*((kind, True) for kind in CHANGES), *SEPARATE_OR_MERGED])
def test_a_converted_model_is_read_back_as_the_same_model(
    tmp_path: Path, kind: str, stacked: bool | str
) -> None:
    module = tiny(kind)
    found = rebuilt(open_checkpoint(convert(module, tmp_path / "model.gguf", stacked)))
    expected = {
        name: tensor
        for name, tensor in module.state_dict().items()
        if "norm" not in name and "A_log" not in name
    }
    torch.testing.assert_close(
        {name: found.state_dict()[name] for name in expected}, expected, rtol=0, atol=0
    )
    torch.testing.assert_close(logits(found), logits(module), rtol=1e-5, atol=1e-5)
    ours, theirs = found.config.to_dict(), module.config.to_dict()
    mixed = kind in ("qwen3_5_moe_text", "qwen3_next")
    unused = {"intermediate_size"} if mixed else set()  # their layers have no MLP
    for key in (theirs.keys() - unused) & {
        *("vocab_size", "hidden_size", "intermediate_size", "num_hidden_layers", "num_attention_heads"),
        *("num_key_value_heads", "head_dim", "max_position_embeddings", "rms_norm_eps", "layer_types"),
        *("hidden_act", "hidden_activation", "query_pre_attn_scalar", "attn_logit_softcapping", "model_type"),
        *("final_logit_softcapping", "original_max_position_embeddings", "tie_word_embeddings"),
        *("num_experts", "moe_intermediate_size", "norm_topk_prob"),
        *("num_local_experts", "num_experts_per_tok", "attention_bias", "mlp_bias", "sliding_window"),
        *("bos_token_id", "eos_token_id", "pad_token_id", "no_rope_layers", "attention_out_bias"),
        *("attention_multiplier", "embedding_multiplier", "residual_multiplier", "logits_scaling"),
        *("num_kv_shared_layers", "hidden_size_per_layer_input", "vocab_size_per_layer_input"),
        *("attention_k_eq_v", "use_double_wide_mlp", "per_layer_config", "activation_sparsity_pattern"),
        *("altup_num_inputs", "altup_active_idx", "laurel_rank"),
        *("layers_block_type", "mamba_num_heads", "mamba_head_dim", "ssm_state_size", "n_groups"),
        *("mamba_n_heads", "mamba_n_groups", "mamba_d_state", "mamba_d_conv", "mamba_expand", "mamba_d_head"),
        *("shared_intermediate_size", "position_embedding_type"),
        *("n_routed_experts", "moe_shared_expert_intermediate_size", "routed_scaling_factor"),
        *("n_group", "topk_group"),
        *("conv_kernel", "mlp_hidden_act", "layer_norm_epsilon", "use_bias", "time_step_min"),
        *("norm_eps", "conv_L_cache", "conv_bias", "block_auto_adjust_ff_dim"),
        *("num_dense_layers", "use_expert_bias"),
    }:
        assert ours[key] == theirs[key], key
    if kind in ("nemotron_h", "nemotron_h_experts", "granitemoehybrid"):  # which have no positions
        return
    rope = found.config.rope_parameters
    assert rope.pop("attention_factor", None) == pytest.approx(
        {"phi3_short": 1.0606602, "phi3_long": 1.7320508}.get(kind)
    )
    assert rope == module.config.rope_parameters


@pytest.mark.parametrize(
    ("kind", "stacked"),
    [
        *((kind, True) for kind in ("qwen3_moe", "mixtral", "gpt_oss")),
        *((kind, "gate_up") for kind in ("qwen3_moe", "lfm2_moe")),
        ("lfm2_moe", "gate_up in layer 1"),
    ],
)
def test_experts_of_a_merged_tensor_are_parted_without_copying(
    tmp_path: Path, kind: str, stacked: bool | str
) -> None:
    """Their matrices lie in the tensor one behind another, and together they are all of it."""
    path = convert(tiny(kind), tmp_path / "model.gguf", stacked)
    merged = [each for each in gguf.GGUFReader(path).tensors if each.name.endswith("_exps.weight")]
    found = [
        weight.spans
        for name, weight in open_checkpoint(path).weights.items()
        if ".experts." in name and name.endswith("_proj.weight")
    ]
    assert all(len(spans) == 1 for spans in found)
    spans = sorted((span.offset, span.nbytes) for (span,) in found)
    assert merged
    assert any("gate_up" in tensor.name for tensor in merged) == (stacked is not True)
    assert len(spans) > len(merged)
    for tensor in sorted(merged, key=lambda each: int(each.data_offset)):
        at, end = int(tensor.data_offset), int(tensor.data_offset + tensor.n_bytes)
        while at < end:
            begins, nbytes = spans.pop(0)
            assert begins == at, tensor.name
            at += nbytes
        assert at == end, tensor.name
    assert not spans, "nothing lies elsewhere"


def test_a_granite_without_positions_is_refused(tmp_path: Path) -> None:
    """llama.cpp takes this key for whether Granite rotates at all."""
    metadata = {"granite.rope.scaling.finetuned": False}
    with pytest.raises(UnsupportedModel, match="no positions"):
        open_checkpoint(convert(tiny("granite"), tmp_path / "model.gguf", metadata=metadata))


@pytest.mark.parametrize("counts", [[0, 2, 2, 0], [0, 0, 2, 1], [0, 0, 0, 0]])
def test_a_nemotron_h_with_layers_of_other_kinds_is_refused(tmp_path: Path, counts: list[int]) -> None:
    metadata = {"nemotron_h.attention.head_count_kv": counts}
    with pytest.raises(UnsupportedModel, match="different sizes"):
        open_checkpoint(convert(tiny("nemotron_h"), tmp_path / "model.gguf", metadata=metadata))


def test_a_block_for_drafts_behind_a_nemotron_h_is_left_out(tmp_path: Path) -> None:
    module = tiny("nemotron_h_experts")
    metadata = {
        "nemotron_h_moe.block_count": 5,
        "nemotron_h_moe.nextn_predict_layers": 1,
        "nemotron_h_moe.attention.head_count_kv": [0, 0, 2, 0, 2],
        "nemotron_h_moe.feed_forward_length": [0, 24, 0, 24, 24],
    }
    tensors: dict[str, Any] = {
        "blk.4.nextn.eh_proj.weight": np.ones((32, 64), np.float32),
        "blk.4.attn_norm.weight": np.ones(32, np.float32),
    }
    found = open_checkpoint(convert(module, tmp_path / "model.gguf", metadata=metadata, tensors=tensors))
    assert not found.draft
    torch.testing.assert_close(logits(rebuilt(found)), logits(module), rtol=1e-5, atol=1e-5)


def test_experts_that_read_a_narrower_state_are_refused(tmp_path: Path) -> None:
    metadata = {"nemotron_h_moe.moe_latent_size": 16}
    with pytest.raises(UnsupportedModel, match="moe_latent_size"):
        open_checkpoint(convert(tiny("nemotron_h_experts"), tmp_path / "model.gguf", metadata=metadata))


@pytest.mark.parametrize(("kind", "layers"), [("gemma2", 46), ("gemma3_text", 62)])
def test_queries_of_the_largest_gemma_are_scaled_by_width_and_heads(
    tmp_path: Path, kind: str, layers: int
) -> None:
    module = tiny(kind, num_hidden_layers=layers)
    config = open_checkpoint(convert(module, tmp_path / "model.gguf")).config
    assert config["query_pre_attn_scalar"] == 32 // 4
    assert config["head_dim"] == 16


@pytest.mark.parametrize(
    ("pattern", "sliding"),
    [(None, [0, 1, 2, 3, 4, 6]), (3, [0, 1, 3, 4, 6]), ([True, False, False, True] + [False] * 3, [0, 3])],
)
def test_the_pattern_of_sliding_layers_is_read(tmp_path: Path, pattern: Any, sliding: list[int]) -> None:
    config = _gemma3(tmp_path, {"gemma3.attention.sliding_window_pattern": pattern}).config
    assert [i for i, kind in enumerate(config["layer_types"]) if kind == "sliding_attention"] == sliding


def test_missing_settings_of_gemma_are_those_of_llama_cpp(tmp_path: Path) -> None:
    metadata = {"gemma3.rope.freq_base": None, "gemma3.rope.freq_base_swa": 500.0}
    rope = _gemma3(tmp_path, metadata).config["rope_parameters"]
    assert (rope["full_attention"]["rope_theta"], rope["sliding_attention"]["rope_theta"]) == (1e6, 500.0)
    keys = ("attn_logit_softcapping", "final_logit_softcapping", "attention.sliding_window")
    bare = convert(tiny("gemma2"), tmp_path / "gemma2.gguf", metadata={f"gemma2.{key}": None for key in keys})
    config = open_checkpoint(bare).config
    assert [config[key.removeprefix("attention.")] for key in keys] == [50.0, 30.0, 4096]


def test_a_gemma_without_a_window_has_full_attention(tmp_path: Path) -> None:
    config = _gemma3(tmp_path, {"gemma3.attention.sliding_window": None}).config
    assert set(config["layer_types"]) == {"full_attention"}


def test_a_pattern_with_a_wrong_number_of_layers_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadCheckpoint, match="sliding_window_pattern"):
        _gemma3(tmp_path, {"gemma3.attention.sliding_window_pattern": [True, False]})


def _gemma3(folder: Path, metadata: dict[str, Any]) -> Checkpoint:
    return open_checkpoint(convert(tiny("gemma3_text"), folder / "model.gguf", metadata=metadata))


@pytest.mark.parametrize(
    ("kind", "tensors", "reason"),
    [
        ("phi3_long", {"rope_factors_short.weight": None}, "rope_factors_short.weight is missing"),
        (
            "phi3_long",
            {"rope_factors_long.weight": np.ones(3, np.float32)},
            r"shape \(3,\) instead of \(2,\)",
        ),
        ("phi3_long", {"rope_factors_long.weight": np.array([1, np.nan], np.float32)}, "implausible"),
        ("phi3", {"blk.1.attn_qkv.weight": None}, "blk.1.attn_qkv.weight is missing"),
        ("mixtral", {"blk.1.ffn_up_exps.weight": None}, "blk.1.ffn_up_exps.weight is missing"),
        (
            "mixtral",
            {"blk.1.ffn_up_exps.weight": np.ones((4, 48, 32), np.float32)},
            r"instead of \(5, 48, 32\)",
        ),
        ("mixtral", {"blk.0.ffn_gate_inp.weight": None}, "ffn_gate_inp.weight is missing"),
    ],
)
def test_missing_and_misshapen_tensors_are_refused_by_name(
    tmp_path: Path, kind: str, tensors: dict[str, Any], reason: str
) -> None:
    with pytest.raises(BadCheckpoint, match=reason):
        open_checkpoint(convert(tiny(kind), tmp_path / "model.gguf", tensors=tensors))


@pytest.mark.parametrize(
    ("kind", "metadata", "reason"),
    [
        ("mixtral", {"llama.expert_used_count": 6}, "expert_used_count is '6'"),
        ("mixtral", {"llama.expert_count": 2000}, "expert_count is '2000'"),
        ("phi3", {"phi3.rope.dimension_count": 3}, "dimension_count is '3'"),
        ("phi3", {"phi3.rope.dimension_count": 10}, "dimension_count is '10'"),
        ("gemma2", {"gemma2.attn_logit_softcapping": -1.0}, "softcapping"),
    ],
)
def test_contradictory_metadata_is_refused_by_name(
    tmp_path: Path, kind: str, metadata: dict[str, Any], reason: str
) -> None:
    with pytest.raises(BadCheckpoint, match=reason):
        open_checkpoint(convert(tiny(kind), tmp_path / "model.gguf", metadata=metadata))


@pytest.mark.parametrize(
    ("architecture", "key"), [("qwen2", "expert_count"), ("qwen3", "final_logit_softcapping")]
)
def test_computations_of_other_architectures_are_refused(tmp_path: Path, architecture: str, key: str) -> None:
    with pytest.raises(UnsupportedModel, match=key):
        open_checkpoint(
            write_gguf(tmp_path / "model.gguf", architecture, metadata={f"{architecture}.{key}": 8})
        )


# Every key that llama.cpp's converter may write for an architecture.
KEYS = sorted(
    value.removeprefix("{arch}.")
    for group in vars(gguf.Keys).values()
    if isinstance(group, type)
    for value in vars(group).values()
    if isinstance(value, str) and value.startswith("{arch}.")
)
# A llama file with experts is Mixtral's.
UNKNOWN = ["no.such.key", *(key for key in KEYS if key not in {*UNDERSTOOD, "expert_count"})]


@pytest.mark.parametrize("key", UNKNOWN)
def test_a_key_that_is_not_understood_is_refused_by_its_name(tmp_path: Path, key: str) -> None:
    path = write_gguf(tmp_path / "model.gguf", metadata={f"llama.{key}": 3})
    with pytest.raises(UnsupportedModel, match=rf"llama\.{re.escape(key)}"):
        open_checkpoint(path)


def test_keys_of_other_namespaces_and_keys_that_ask_for_nothing_are_accepted(tmp_path: Path) -> None:
    nothing = {"llama.logit_scale": 0.0, "llama.use_parallel_residual": False, "llama.attention.causal": True}
    others = {"general.license": "mit", "quantize.imatrix.entries_count": 7}
    open_checkpoint(write_gguf(tmp_path / "model.gguf", metadata=nothing | others))


def test_attention_that_is_not_causal_is_refused(tmp_path: Path) -> None:
    path = write_gguf(tmp_path / "model.gguf", metadata={"llama.attention.causal": False})
    with pytest.raises(UnsupportedModel, match=r"llama\.attention\.causal"):
        open_checkpoint(path)


@pytest.mark.parametrize("kind", ["none", "linear"])
def test_a_factor_of_attention_without_yarn_is_refused(tmp_path: Path, kind: str) -> None:
    scaling = {"llama.rope.scaling.type": kind, "llama.rope.scaling.attn_factor": 1.2}
    with pytest.raises(UnsupportedModel, match="attn_factor"):
        open_checkpoint(write_gguf(tmp_path / "model.gguf", metadata=scaling))


@pytest.mark.parametrize("key", ["expert_weights_scale", "expert_group_count"])
def test_a_mixture_of_lfm2_that_routes_otherwise_is_refused(tmp_path: Path, key: str) -> None:
    """llama.cpp would not heed these keys; the converter writes none of them."""
    path = convert(tiny("lfm2_moe"), tmp_path / "model.gguf", metadata={f"lfm2moe.{key}": 2})
    with pytest.raises(UnsupportedModel, match=key):
        open_checkpoint(path)


@pytest.mark.parametrize("kind", ["glm4_moe", "lfm2_moe"])
def test_a_router_whose_scores_are_no_sigmoids_is_refused(tmp_path: Path, kind: str) -> None:
    name = kind.replace("_", "")
    metadata = {f"{name}.expert_gating_func": gguf.ExpertGatingFuncType.SOFTMAX.value}
    with pytest.raises(UnsupportedModel, match="router of an unsupported kind"):
        open_checkpoint(convert(tiny(kind), tmp_path / "model.gguf", metadata=metadata))


@pytest.mark.parametrize(
    ("kind", "name"),
    [("granitemoehybrid", "granitehybrid"), ("lfm2", "lfm2"), ("lfm2_moe", "lfm2moe")],
)
@pytest.mark.parametrize("counts", [[0, 2, 1], [0, 0, 0]])
def test_a_hybrid_whose_layers_differ_or_never_attend_is_refused(
    tmp_path: Path, counts: list[int], kind: str, name: str
) -> None:
    metadata = {f"{name}.attention.head_count_kv": counts}
    with pytest.raises(UnsupportedModel, match="different sizes"):
        open_checkpoint(convert(tiny(kind), tmp_path / "model.gguf", metadata=metadata))
