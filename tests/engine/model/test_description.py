"""A description says what transformers' module of the same configuration does."""

import copy
import dataclasses
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from accelerate import init_empty_weights
from hypothesis import given, settings
from hypothesis import strategies as st
from transformers import AutoConfig, AutoModelForCausalLM

from engine.checkpoints import Checkpoint, Generation, TokenizerFolder, open_checkpoint
from engine.errors import BadCheckpoint, UnsupportedModel
from engine.model.architectures import ARCHITECTURES, family_of
from engine.model.coverage import covers
from engine.model.description import describe
from engine.model.rotary import UNROTATED, RotaryFactors, frequencies
from engine.model.weight_names import check_layers, checked_weights, expected_weights
from engine.quantization import Workspace
from engine.torch_model.attention import ATTENTION
from engine.torch_model.builder import Builder
from engine.torch_model.replacement import replace_recurrent
from engine.torch_model.rope import fix_rope
from engine.torch_model.states import LayerStateShape
from tests.engine.model.famous import FAMOUS
from tests.engine.models import COMMON, CONFIGS

EMBEDDED = Path(__file__).parents[3] / "resources/models/SmolLM2-135M-Instruct.Q4_1.gguf"
LAYERS = 7
LINEAR = {"rope_type": "linear", "factor": 4.0}
LLAMA3 = {
    "rope_type": "llama3",
    "factor": 32.0,
    "low_freq_factor": 1.0,
    "high_freq_factor": 4.0,
    "original_max_position_embeddings": 8192,
}
YARN = {"type": "yarn", "factor": 4.0, "original_max_position_embeddings": 32768}
STRETCH = {
    "short_factor": [1 + i / 50 for i in range(48)],
    "long_factor": [1 + i * i / 40 for i in range(48)],
}
VARIANTS = {
    "llama": [
        {"num_key_value_heads": 8},
        {"head_dim": 80, "tie_word_embeddings": True},
        {"attention_bias": True},
        {"attention_bias": True, "mlp_bias": True, "hidden_act": "gelu_pytorch_tanh"},
        {"sliding_window": 100, "rope_theta": 500000.0},
        {"rope_scaling": {"type": "linear", "factor": 2.0}},
        {"rope_scaling": {"type": "linear", "factor": 3.0}, "rope_theta": 1e6},
        {"rope_scaling": {"type": "dynamic", "factor": 3.0}, "max_position_embeddings": 60},
        {"rope_scaling": LLAMA3, "rope_theta": 500000},
        {"rope_parameters": {**LLAMA3, "rope_theta": 500000.0}},
        {"rope_scaling": {}, "rope_parameters": {"rope_theta": 77.0}},
        {"rope_scaling": LINEAR, "rope_parameters": {"rope_theta": 77.0}, "rope_theta": 99.0},
        {"rope_scaling": LINEAR, "partial_rotary_factor": 0.5},
        {"partial_rotary_factor": 0.5},
        {"rope_scaling": {**LLAMA3, "type": "default"}, "original_max_position_embeddings": 1024},
    ],
    "mistral": [
        {"sliding_window": None, "head_dim": 96},
        {"sliding_window": 17, "attention_bias": True},
        {"head_dim": None, "rope_theta": 1000000.0},
    ],
    "mixtral": [{"num_experts": 3}, {"sliding_window": 5, "num_local_experts": 2}],
    "qwen3_moe": [
        {"num_local_experts": 6, "num_experts_per_tok": 2, "head_dim": 32, "attention_bias": True},
        {
            "use_sliding_window": True,
            "sliding_window": 5,
            "num_experts": 3,
            "num_experts_per_tok": 3,
            "moe_intermediate_size": 64,
        },
    ],
    "qwen2": [
        {"use_sliding_window": True, "max_window_layers": 3},
        {"use_sliding_window": True, "sliding_window": None},
        {"use_sliding_window": False, "layer_types": ["sliding_attention"] * LAYERS},
        {
            "use_sliding_window": True,
            "sliding_window": 9,
            "layer_types": ["sliding_attention", "full_attention"] * 3 + ["sliding_attention"],
        },
        {"head_dim": 32, "attention_bias": False, "num_key_value_heads": 4},
        {"rope_scaling": YARN, "rope_theta": 1000000.0},
        {"rope_scaling": {**YARN, "beta_fast": 16, "beta_slow": 2, "truncate": False}},
        {"rope_scaling": {**YARN, "attention_factor": 1.5}, "head_dim": 96},
        {"rope_scaling": {**YARN, "mscale": 0.7, "mscale_all_dim": 1.2}},
        {"rope_scaling": {**YARN, "factor": None}, "max_position_embeddings": 131072},
        {"rope_scaling": YARN, "original_max_position_embeddings": 4096, "tie_word_embeddings": True},
        {"rope_scaling": {"type": "yarn", "factor": 8.0}},
    ],
    "qwen3": [
        {"attention_bias": True, "head_dim": 64},
        {"use_sliding_window": True, "max_window_layers": 0, "num_key_value_heads": 8},
        {"rope_scaling": {"rope_type": "dynamic", "factor": 2.0}},
    ],
    "gemma2": [
        {"head_dim": 128, "query_pre_attn_scalar": 144, "attention_bias": True},
        {"attn_logit_softcapping": None, "final_logit_softcapping": None, "sliding_window": None},
        {
            "layer_types": ["full_attention"] * LAYERS,
            "sliding_window_pattern": 3,
            "tie_word_embeddings": False,
        },
        {"rope_scaling": {"type": "linear", "factor": 2.0}, "hidden_activation": "silu"},
    ],
    "gemma3_text": [
        {"sliding_window_pattern": 3, "rope_local_base_freq": 12345.0, "rope_theta": 54321.0},
        {"rope_scaling": {"rope_type": "linear", "factor": 8.0}},
        {"rope_scaling": {"type": "linear", "factor": 8.0}},
        {"layer_types": ["full_attention"] * LAYERS, "final_logit_softcapping": 25.0},
        {"layer_types": ["sliding_attention"] * LAYERS, "tie_word_embeddings": False},
        {"rope_parameters": {"full_attention": {"rope_type": "llama3", **LLAMA3}}},
        {"rope_parameters": {"full_attention": {**YARN, "truncate": False}, "sliding_attention": None}},
        {"rope_parameters": {"full_attention": YARN, "truncate": False}, "partial_rotary_factor": 1.0},
        {"rope_parameters": {"rope_type": "linear", "factor": 2.0}},
        {"attn_logit_softcapping": None, "num_key_value_heads": 1, "hidden_size": 1152},
    ],
    "phi3": [
        {"sliding_window": 2047, "num_key_value_heads": 8},
        {"partial_rotary_factor": 0.75},
        {"rope_parameters": {"rope_type": "default", "rope_theta": 5e3, "partial_rotary_factor": 0.41}},
        {"rope_scaling": {"type": "longrope", **STRETCH}, "max_position_embeddings": 131072},
        {"rope_scaling": {"type": "longrope", **STRETCH}, "original_max_position_embeddings": 100},
        {"rope_scaling": {"type": "yarn", **STRETCH, "attention_factor": 1.25}},
        {
            "rope_scaling": {
                "type": "longrope",
                **STRETCH,
                "factor": 2.0,
                "original_max_position_embeddings": 9,
            }
        },
    ],
}
SHORT = {"num_hidden_layers": LAYERS, "vocab_size": 33000, "pad_token_id": None}
# Where heads differ from layer to layer, no attribute of a module says so: `test_compiled` compares logits.
# Nemotron-H has names of its own for everything.
COMPILED = [
    kind
    for kind in ARCHITECTURES
    if (family := family_of(kind)).compiled and not (family.uneven or family.single)
]
CASES = [
    *((kind, SHORT) for kind in COMPILED),
    *((kind, {**SHORT, **values}) for kind in VARIANTS for values in VARIANTS[kind]),
    *((values["model_type"], {**values, "num_hidden_layers": LAYERS}) for values in FAMOUS.values()),
    *(
        (values.get("model_type", kind), {**COMMON, **values})
        for kind, values in CONFIGS.items()
        if values.get("model_type", kind) in COMPILED
    ),
]
CONTEXTS = (50, 5000, 200_000)

every_case = pytest.mark.parametrize(("architecture", "config"), CASES)


def checkpoint(architecture, config, weights=None):
    config = {key: value for key, value in copy.deepcopy(config).items() if key != "model_type"}
    folder = Path("model")
    return Checkpoint(
        folder, "safetensors", architecture, config, weights or {}, TokenizerFolder(folder), Generation()
    )


def built(architecture, config):
    """transformers' configuration and module, on the meta device."""
    values = {key: value for key, value in copy.deepcopy(config).items() if key != "model_type"}
    made = AutoConfig.for_model(architecture, **values)
    with init_empty_weights(include_buffers=False):
        return made, AutoModelForCausalLM.from_config(made, attn_implementation=ATTENTION)


def steps_apart(found, expected):
    """The largest difference in units of the last place."""
    return int(np.abs(found.view(np.int32).astype(np.int64) - expected.view(np.int32)).max())


@every_case
def test_a_description_says_what_the_module_of_transformers_does(architecture, config):
    found = describe(checkpoint(architecture, config))
    made, module = built(architecture, config)
    body = module.model
    every = [getattr(layer, "self_attn", None) for layer in body.layers]
    attention = [each for each in every if each is not None]
    assert list(found.attends) == [each is not None for each in every]
    assert list(found.stateful) == [each is None for each in every]
    assert all(found.feeds)
    assert found.architecture == made.model_type
    assert (found.rows, found.width) == tuple(body.embed_tokens.weight.shape)
    if architecture == "lfm2":  # its configuration is not the width
        assert {found.inner} == {layer.feed_forward.w1.out_features for layer in body.layers}
    else:
        mixed = found.mixture is not None and all(found.mixture.layers)
        dense = (
            "shared_intermediate_size" if hasattr(made, "shared_intermediate_size") else "intermediate_size"
        )
        assert found.inner == getattr(made, family_of(architecture).inner if mixed else dense)
    assert found.layers == len(body.layers) == len(found.windows) == len(found.rotary_of_layer)
    assert (found.heads, found.kv_heads) == (made.num_attention_heads, made.num_key_value_heads)
    assert found.positions == made.max_position_embeddings
    assert found.epsilon == (made.norm_eps if architecture == "lfm2" else made.rms_norm_eps)
    assert found.activation == (
        getattr(made, "hidden_activation", None) or getattr(made, "hidden_act", "silu")
    )
    assert {each.head_dim for each in attention} <= {found.head_width}
    assert {each.scaling for each in attention} <= {found.query_scale}
    capped = architecture == "gemma2"  # Gemma 3 has the setting, but its attention does not read it
    assert found.score_cap == (made.attn_logit_softcapping if capped else None)
    assert found.logit_cap == getattr(made, "final_logit_softcapping", None)
    scale = getattr(made, "embedding_multiplier", getattr(body.embed_tokens, "embed_scale", 1.0))
    assert found.embedding_scale == float(scale)
    assert found.norms_plus_one == architecture.startswith(("gemma", "qwen3_5", "qwen3_next"))
    # transformers' layers have a window of their own where layers differ, else the configuration has it.
    common = None if architecture == "llama" else getattr(made, "sliding_window", None)
    windows = [window for window, attends in zip(found.windows, found.attends, strict=True) if attends]
    assert windows == [getattr(each, "sliding_window", common) for each in attention]
    assert found.tied == made.tie_word_embeddings
    names = ("num_local_experts", "num_experts", "n_routed_experts")
    experts = next((getattr(made, name) for name in names if hasattr(made, name)), 0)
    assert (found.mixture.experts if found.mixture else 0) == experts


@every_case
def test_the_expected_weights_are_the_parameters_of_the_module(architecture, config):
    _, module = built(architecture, config)
    expected = {name: tuple(weight.shape) for name, weight in module.named_parameters()}
    expected |= {
        name: tuple(buffer.shape)
        for name, buffer in module.named_buffers()
        if name.endswith("e_score_correction_bias")
    }
    description = describe(checkpoint(architecture, config))
    if description.mixture:  # each expert has matrices of its own
        Builder._own_experts(SimpleNamespace(module=module), expected, ())
    assert expected_weights(description) == expected


@pytest.mark.parametrize(
    "changes", [{}, dict(mlp_bias=False), dict(use_bias=False), dict(use_conv_bias=False)]
)
def test_the_expected_weights_of_nemotron_h_are_the_parameters_of_the_module(changes):
    config = {**COMMON, **CONFIGS["nemotron_h"], **changes}
    _, module = built("nemotron_h", config)
    description = describe(checkpoint("nemotron_h", config))
    assert description.attends == (False, False, True, False)
    assert description.stateful == (True, False, False, True)
    assert description.feeds == (False, True, False, False)
    expected = {name: tuple(weight.shape) for name, weight in module.named_parameters()}
    assert expected_weights(description) == expected


@pytest.mark.parametrize(
    ("kind", "change", "expected"),
    [
        ("granitemoehybrid", {}, (0.0, np.inf)),
        ("granitemoehybrid", {"time_step_limit": [0.01, {"__float__": "Infinity"}]}, (0.01, np.inf)),
        ("granitemoehybrid", {"time_step_limit": (0.01, 0.2)}, (0.01, 0.2)),
        ("nemotron_h", {}, (0.001, np.inf)),
        ("nemotron_h", {"time_step_min": 0.1, "time_step_limit": [0.0, 1.0]}, (0.1, np.inf)),
    ],
)
def test_steps_of_mamba_have_the_limits_of_the_module(kind, change, expected):
    config = {**COMMON, **CONFIGS[kind], **change}
    assert describe(checkpoint(kind, config)).mamba.limits == expected


@pytest.mark.parametrize("limit", [[0.1], [0.0, "much"], [-1.0, 2.0], 0.5])
def test_limits_of_steps_that_are_none_are_refused(limit):
    config = {**COMMON, **CONFIGS["granitemoehybrid"], "time_step_limit": limit}
    with pytest.raises(BadCheckpoint, match="time_step"):
        describe(checkpoint("granitemoehybrid", config))


@pytest.mark.parametrize("kind", ["qwen3_5_text", "lfm2", "granitemoehybrid", "nemotron_h"])
def test_states_are_those_of_the_module(kind):
    config = {**COMMON, **CONFIGS[kind]}
    states = describe(checkpoint(kind, config)).states
    _, module = built(kind, config)
    matrix = (states.heads, states.key_width, states.value_width) if states.heads else None
    expected = LayerStateShape(matrix, (states.kernel - 1, states.channels))
    shapes = replace_recurrent(module)
    assert list(shapes.values()) == [expected] * states.layers


@every_case
def test_rotary_positions_are_those_of_the_module(architecture, config):
    description = describe(checkpoint(architecture, config))
    for context in CONTEXTS:
        made, module = built(architecture, config)
        fix_rope(module, made, context)
        rotary = module.model.rotary_emb
        if rotary is None:
            assert [kind.type for kind in description.rotary] == [UNROTATED]
            continue
        by_kind = isinstance(rotary.rope_type, dict)
        names = sorted(set(made.layer_types)) if by_kind else [None]
        rotated = [kind for kind in description.rotary if kind.type != UNROTATED]
        assert len(names) == len(rotated)
        if by_kind:
            assert [names[kind] for kind in description.rotary_of_layer] == made.layer_types
        else:
            layers = [getattr(each, "self_attn", None) for each in module.model.layers]
            with_positions = [getattr(each, "use_rope", 1) for each in layers]
            assert [1 - kind for kind in description.rotary_of_layer] == with_positions
        for name, kind in zip(names, rotated, strict=True):
            prefix = f"{name}_" if name else ""
            found, factor = frequencies(kind, context)
            expected = getattr(rotary, f"{prefix}inv_freq").numpy()
            assert found.dtype == np.float32
            assert found.shape == expected.shape
            assert factor == pytest.approx(getattr(rotary, f"{prefix}attention_scaling"), rel=1e-15)
            # A power may differ by 1 ulp, and its inverse by 2.
            assert steps_apart(found, expected) <= 2
            # Two of gpt-oss's 32 pairs differ.
            assert np.mean(found != expected) < (0.07 if architecture == "gpt_oss" else 0.05)


@pytest.mark.parametrize("name", FAMOUS)
def test_cosines_and_sines_are_those_of_torch(name):
    description = describe(checkpoint(FAMOUS[name]["model_type"], FAMOUS[name]))
    table = RotaryFactors(description.rotary, 8192)
    positions = np.array([0, 1, 2, 255, 256, 4095, 8191, 70_000])
    found = table.at(positions)
    assert found.shape == (len(description.rotary), 2, len(positions), table.pairs)
    for waves, kind in zip(found, description.rotary, strict=True):
        numbers, factor = frequencies(kind, 8192)
        angles = torch.from_numpy(positions)[:, None].float() * torch.from_numpy(numbers)
        for ours, theirs in zip(waves, (angles.cos() * factor, angles.sin() * factor), strict=True):
            assert steps_apart(ours, theirs.numpy()) <= (1 if factor == 1 else 2)


def test_the_factors_of_a_position_do_not_depend_on_the_others():
    rotary = describe(checkpoint("llama", FAMOUS["Llama-3.1-8B"])).rotary
    whole = RotaryFactors(rotary, 64).at(np.arange(1000))
    table = RotaryFactors(rotary, 64)
    for position in (3, 999, 0, 255, 256, 700):
        assert np.array_equal(table.at(np.array([position]))[:, :, 0], whole[:, :, position])


# The embedded model, and a whole checkpoint


def test_the_embedded_model_has_the_weights_that_are_expected():
    file = open_checkpoint(EMBEDDED)
    description = describe(file)
    check_layers(file, description.layers)
    weights, tied = checked_weights(file, expected_weights(description), description.tied)
    _, module = built(file.architecture, file.config)
    builder = Builder(module, file, Workspace(torch.float32, torch.device("cpu")))
    assert (weights, tied) == (builder.weights, builder.tied)
    assert covers(description, weights)
    whole = next(iter(weights.values()))
    assert not covers(
        description, {"model.layers.0.mlp.up_proj.weight": dataclasses.replace(whole, format="F64")}
    )


@pytest.mark.parametrize("change", ["belong", "shape", "missing"])
def test_weights_that_do_not_fit_are_refused(change):
    file = open_checkpoint(EMBEDDED)
    expected = expected_weights(describe(file))
    name = "model.layers.3.mlp.up_proj.weight"
    if change == "belong":
        file.weights["model.layers.3.mlp.other.weight"] = file.weights[name]
    elif change == "shape":
        file.weights[name] = file.weights["model.norm.weight"]
    else:
        del file.weights[name]
    with pytest.raises(BadCheckpoint, match=change):
        checked_weights(file, expected, tied=True)


def test_a_head_is_missing_where_it_is_not_tied_and_layers_are_counted():
    file = open_checkpoint(EMBEDDED)
    with pytest.raises(BadCheckpoint, match=r"lm_head\.weight is missing"):
        checked_weights(file, expected_weights(describe(file)), tied=False)
    with pytest.raises(BadCheckpoint, match="30 layers; the configuration says 29"):
        check_layers(file, 29)


def test_what_steps_do_not_cover():
    weights = {}
    for architecture in ("llama", "mixtral", "olmoe", "gemma4_text"):
        assert covers(describe(checkpoint(architecture, SHORT)), weights)
    for architecture, change in (
        ("gemma4_text", {"vocab_size_per_layer_input": SHORT["vocab_size"] - 1}),
        ("gemma4_text", {"hidden_size_per_layer_input": 80}),
        ("olmoe", {"clip_qkv": 8.0}),
        ("llama", {"hidden_act": "relu"}),
        ("llama", {"hidden_size": 4160}),
        ("llama", {"head_dim": 16}),
        ("llama", {"intermediate_size": 80}),
    ):
        assert not covers(describe(checkpoint(architecture, SHORT | change)), weights)


# Invalid configurations


def test_unknown_architectures_and_rotary_types_are_named():
    with pytest.raises(UnsupportedModel, match="“mamba”"):
        describe(checkpoint("mamba", {}))
    with pytest.raises(UnsupportedModel, match="“spiral”"):
        describe(checkpoint("llama", {"rope_scaling": {"rope_type": "spiral"}}))
    dynamic = {"rope_type": "dynamic", "factor": 2.0}
    with pytest.raises(UnsupportedModel, match="“dynamic” in only some layers"):
        describe(checkpoint("gemma3_text", {"rope_parameters": {"full_attention": dynamic}}))
    for asked in ({"per_layer_config": {"0": {"hidden_size": 3}}}, {"use_bidirectional_attention": True}):
        with pytest.raises(UnsupportedModel):
            describe(checkpoint("gemma3_text", asked))


@pytest.mark.parametrize("kind", ["gemma3n_text", "gemma4_text"])
def test_layers_that_share_keys_and_values_of_no_layer_are_refused(kind):
    config = {**COMMON, **CONFIGS[kind], "num_kv_shared_layers": 5}
    with pytest.raises(BadCheckpoint, match="no layer keeps"):
        describe(checkpoint(kind, config))


def test_mamba_layers_whose_heads_do_not_fill_their_width_are_refused():
    config = {**COMMON, **CONFIGS["granitemoehybrid"], "mamba_n_heads": 6}
    with pytest.raises(BadCheckpoint, match="6 heads"):
        describe(checkpoint("granitemoehybrid", config))


@pytest.mark.parametrize(
    ("config", "reason"),
    [
        ({"hidden_size": None}, "hidden_size is None"),
        ({"hidden_size": "4096"}, "hidden_size is '4096'"),
        ({"num_hidden_layers": True}, "num_hidden_layers is True"),
        ({"num_hidden_layers": 10**9}, "num_hidden_layers is 1000000000"),
        ({"vocab_size": 10**5000}, "absurd"),
        ({"num_attention_heads": 0}, "num_attention_heads is 0"),
        ({"num_attention_heads": 12, "num_key_value_heads": 5, "hidden_size": 120}, "5 key-value heads"),
        ({"hidden_size": 100}, "not a multiple of 32"),
        ({"head_dim": 33}, "heads of width 33"),
        ({"rms_norm_eps": float("nan")}, "rms_norm_eps is nan"),
        ({"rms_norm_eps": -1.0}, "rms_norm_eps is -1.0"),
        ({"tie_word_embeddings": 1}, "tie_word_embeddings is 1"),
        ({"hidden_act": ["silu"]}, "hidden_act is a list"),
        ({"rope_theta": None}, "rope_theta is None"),
        ({"rope_scaling": [1]}, "rope_scaling is a list"),
        ({"rope_scaling": {"type": "linear"}}, "factor is missing"),
        ({"rope_scaling": {"rope_type": None}}, "rope_type is None"),
        ({"rope_scaling": {"type": "longrope", "short_factor": [1.0]}}, "short_factor is not a list of 64"),
        ({"max_position_embeddings": 1}, "max_position_embeddings is 1"),
        *(
            ({"rms_norm_eps": number}, f"rms_norm_eps is {number}")
            for number in (0, 0.0, -1e-5, 1e9, 1.0, 1e-300, float("inf"))
        ),
        *(
            ({"rope_theta": number}, f"rope_theta is {number}")
            for number in (0, -10000.0, 1e-9, 1.0, 1e30, float("inf"), float("nan"))
        ),
        *(
            ({"rope_scaling": {"type": "linear", "factor": number}}, f"factor is {number}")
            for number in (0.0, -2.0, 1e-9, 1e9, float("nan"))
        ),
        ({"rope_scaling": {**LLAMA3, "low_freq_factor": 1e20}}, "low_freq_factor is 1e+20"),
        ({"rope_scaling": {**LLAMA3, "original_max_position_embeddings": 0}}, "embeddings is 0"),
        ({"rope_scaling": {**YARN, "attention_factor": 1e9}}, "attention_factor is 1000000000.0"),
        ({"rope_scaling": {"type": "dynamic", "factor": 2.0}, "head_dim": 2}, "division by zero"),
        ({"rope_scaling": {"type": "linear", "factor": 2.0}, "partial_rotary_factor": 2.0}, "are rotated"),
    ],
)
def test_an_invalid_configuration_is_refused_with_its_reason(config, reason):
    with pytest.raises(
        BadCheckpoint, match="The configuration of model is not one of a llama model"
    ) as error:
        describe(checkpoint("llama", config))
    assert reason in error.value.message
    assert "Download the model again" in error.value.hint


@pytest.mark.parametrize(
    ("architecture", "config", "reason"),
    [
        ("mistral", {"sliding_window": 0}, "sliding_window is 0"),
        ("mistral", {"sliding_window": 1}, "sliding_window is 1"),
        ("mistral", {"sliding_window": -4096}, "sliding_window is -4096"),
        ("mistral", {"sliding_window": 2**40}, "sliding_window is 1099511627776"),
        ("gemma2", {"attn_logit_softcapping": 1e-9}, "attn_logit_softcapping is 1e-09"),
        ("gemma2", {"final_logit_softcapping": -30.0}, "final_logit_softcapping is -30.0"),
        ("gemma2", {"final_logit_softcapping": float("inf")}, "final_logit_softcapping is inf"),
        ("gemma2", {"query_pre_attn_scalar": 1e-12}, "query_pre_attn_scalar is 1e-12"),
        (
            "phi3",
            {"rope_scaling": {"type": "longrope", **STRETCH, "long_factor": [1e9] * 48}},
            "1000000000.0",
        ),
        ("gemma3_text", {"rope_local_base_freq": 0.5}, "rope_theta is 0.5"),
        ("glm4_moe", {"n_group": 3}, "8 of 128 experts, in 1 of 3 groups"),
        ("glm4_moe", {"n_group": 128, "topk_group": 8}, "8 of 128 experts, in 8 of 128 groups"),
        ("glm4_moe", {"n_group": 32}, "8 of 128 experts, in 1 of 32 groups"),
    ],
)
def test_numbers_that_only_some_architectures_have_are_bounded(architecture, config, reason):
    with pytest.raises(BadCheckpoint, match=f"not one of a {architecture} model") as error:
        describe(checkpoint(architecture, config))
    assert reason in error.value.message


KEYS = sorted({key for _, config in CASES for key in config} | {"layer_types", "per_layer_config"})
ROPE_KEYS = sorted(
    {"rope_type", "type", "truncate", "full_attention", "sliding_attention", "partial_rotary_factor"}
    | {"rope_theta", "mscale", "mscale_all_dim", "attention_factor", "beta_fast", "beta_slow"}
    | LLAMA3.keys()
    | STRETCH.keys()
)
NUMBERS = st.one_of(
    st.integers(),
    st.integers(0, 9),
    st.floats(),
    st.sampled_from([10**400, -(10**400), 2**31, 1e308, 5e-324, 4096, 64, 1.5]),
)
JUNK = st.recursive(
    st.one_of(st.none(), st.booleans(), NUMBERS, st.text(max_size=5)),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=6,
)
ROPE = st.dictionaries(
    st.sampled_from(ROPE_KEYS),
    st.one_of(
        JUNK,
        st.sampled_from(["linear", "dynamic", "yarn", "longrope", "llama3", "default", "su"]),
        st.lists(NUMBERS, min_size=48, max_size=48),
        st.fixed_dictionaries({"rope_type": st.sampled_from(["yarn", "llama3"]), "factor": NUMBERS}),
    ),
)
HOSTILE = st.fixed_dictionaries(
    {},
    optional={
        **dict.fromkeys(KEYS, JUNK),
        "rope_scaling": ROPE | JUNK,
        "rope_parameters": ROPE | JUNK,
        "layer_types": st.lists(JUNK | st.sampled_from(["full_attention", "sliding_attention"])) | JUNK,
    },
)


@settings(max_examples=400, deadline=None)
@given(st.sampled_from(CASES), HOSTILE, st.lists(st.sampled_from([*KEYS, "rope_scaling"]), max_size=3))
def test_hostile_values_give_an_error_of_ours(case, hostile, chosen):
    architecture, config = case
    changed = {**config, **{key: hostile[key] for key in chosen if key in hostile}}
    for values in (hostile, changed):
        try:
            found = describe(checkpoint(architecture, values))
        except (BadCheckpoint, UnsupportedModel):
            continue
        RotaryFactors(found.rotary, 1 << 20)
        assert all(size >= 1 for size in (found.rows, found.width, found.layers, found.head_width))


def test_descriptions_need_no_torch():
    modules = "description, rotary, architectures, weight_names, configuration, rope_parameters"
    code = (
        f"import sys; from engine.model import {modules}; "
        "print(sorted({'torch', 'transformers', 'accelerate'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
