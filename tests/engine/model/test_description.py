"""A description says what transformers' module of the same configuration does."""

import copy
import dataclasses
import json
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from accelerate import init_empty_weights
from transformers import AutoConfig, AutoModelForCausalLM

from engine.checkpoints import names, open_checkpoint
from engine.errors import BadCheckpoint, UnsupportedModel
from engine.model.architectures import family_of
from engine.model.coverage import covers
from engine.model.description import describe, described
from engine.model.rotary import UNROTATED, RotaryFactors, frequencies
from engine.model.weight_names import HEAD, check_layers, checked_weights, expected_weights
from engine.quantization import Workspace
from engine.torch_model.attention import ATTENTION
from engine.torch_model.builder import Builder
from engine.torch_model.replacement import replace_recurrent
from engine.torch_model.rope import fix_rope, rotary_of
from engine.torch_model.states import LayerStateShape
from tests.engine.model.configurations import SHORT, checkpoint, every_case
from tests.engine.model.famous import FAMOUS, LFM2_8B_A1B, NEMOTRON_3_NANO
from tests.engine.models import COMMON, CONFIGS

EMBEDDED = Path(__file__).parents[3] / "resources/models/SmolLM2-135M-Instruct.Q4_1.gguf"
CONTEXTS = (50, 5000, 200_000)


def built(architecture, config):
    """transformers' configuration and module, on the meta device."""
    values = {key: value for key, value in copy.deepcopy(config).items() if key != "model_type"}
    made = AutoConfig.for_model(architecture, **values)
    with init_empty_weights(include_buffers=False):
        return made, AutoModelForCausalLM.from_config(made, attn_implementation=ATTENTION)


def parameters(module):
    """The shapes of a module's parameters by name, with matrices for each expert, as in checkpoints."""
    shapes = {name: tuple(weight.shape) for name, weight in module.named_parameters()}
    shapes |= {
        name: tuple(buffer.shape)
        for name, buffer in module.named_buffers()
        if name.endswith(("e_score_correction_bias", "expert_bias"))
    }
    Builder._own_experts(SimpleNamespace(module=module), shapes, ())
    return shapes


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
    assert found.epsilon == (made.norm_eps if hasattr(made, "norm_eps") else made.rms_norm_eps)
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
    assert expected_weights(describe(checkpoint(architecture, config))) == parameters(module)


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
    assert expected_weights(description) == parameters(module)


@pytest.mark.parametrize(
    ("changes", "inner"),
    [
        ({}, 24),
        (dict(mlp_bias=True, norm_topk_prob=False), 24),
        (dict(layers_block_type=["moe", "mlp", "full_attention", "linear_attention"]), 48),
        (dict(layers_block_type=None, hybrid_override_pattern="ME*E"), 24),
    ],
)
def test_the_mixtures_of_nemotron_h_are_those_of_the_module(changes, inner):
    config = {**COMMON, **CONFIGS["nemotron_h_experts"], **changes}
    made, module = built("nemotron_h", config)
    description = describe(checkpoint("nemotron_h", config))
    mixture, types = description.mixture, made.layers_block_type
    assert list(mixture.layers) == [kind == "moe" for kind in types]
    assert list(description.feeds) == [kind in ("moe", "mlp") for kind in types]
    assert description.inner == inner
    gate = module.model.layers[types.index("moe")].mixer.gate
    assert (mixture.experts, mixture.chosen) == (gate.num_experts, gate.top_k)
    assert (mixture.groups, mixture.kept_groups) == (gate.num_group, gate.topk_group)
    assert (mixture.factor, mixture.normalized) == (gate.routed_scaling_factor, gate.norm_topk_prob)
    assert mixture.sigmoid
    assert not mixture.shared_gated
    assert expected_weights(description) == parameters(module)


def test_nemotron_3_nano_is_described_as_it_is_published():
    """30B-A3B: 31.6 billion parameters, 3.6 of them for a token, with the embedding and the head."""
    description = describe(checkpoint("nemotron_h", NEMOTRON_3_NANO))
    assert [sum(which) for which in (description.stateful, description.attends, description.feeds)] == [
        *(23, 6, 23)
    ]
    sizes = {name: int(np.prod(shape)) for name, shape in expected_weights(description).items()}
    experts = sum(size for name, size in sizes.items() if ".experts." in name)
    every = sum(sizes.values())
    assert every == pytest.approx(31.6e9, rel=0.002)
    assert every - experts * (1 - 6 / 128) == pytest.approx(3.6e9, rel=0.02)
    _, module = built("nemotron_h", NEMOTRON_3_NANO)
    assert expected_weights(description) == parameters(module)


def test_lfm2_8b_a1b_is_described_as_it_is_published():
    """8.3 billion parameters, 1.5 of them for a token, with the embedding, which is the head too."""
    description = describe(checkpoint("lfm2_moe", LFM2_8B_A1B))
    mixture = description.mixture
    assert (sum(description.stateful), sum(description.attends), sum(mixture.layers)) == (18, 6, 22)
    assert mixture.sigmoid
    assert mixture.normalized
    assert mixture.epsilon == 1e-6
    shapes = expected_weights(description)
    sizes = {name: int(np.prod(shape)) for name, shape in shapes.items() if name != HEAD}
    experts = sum(size for name, size in sizes.items() if ".experts." in name)
    every = sum(sizes.values())
    assert every == pytest.approx(8.3e9, rel=0.01)
    assert every - experts * (1 - 4 / 32) == pytest.approx(1.5e9, rel=0.05)
    _, module = built("lfm2_moe", LFM2_8B_A1B)
    assert shapes == parameters(module)


def test_a_unified_gemma_assumes_what_its_class_in_transformers_does():
    kind = "gemma4_unified_text"
    theirs = json.loads(AutoConfig.for_model(kind).to_json_string(use_diff=False))
    found, expected = (
        described("tiny", config.pop("model_type"), config)
        for config in map(names.usual_config, ({"model_type": kind}, theirs))
    )
    assert found == expected
    assert (found.architecture, found.layer_inputs, found.windows[0]) == ("gemma4_text", 0, 1024)


def test_experts_that_read_a_narrower_state_are_refused():
    config = {**COMMON, **CONFIGS["nemotron_h_experts"], "moe_latent_size": 16}
    with pytest.raises(UnsupportedModel, match="moe_latent_size"):
        describe(checkpoint("nemotron_h", config))
    dense = {**COMMON, **CONFIGS["nemotron_h"], "moe_latent_size": 16}
    assert describe(checkpoint("nemotron_h", dense)).mixture is None


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
        rotary = rotary_of(module.model)
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


def test_descriptions_need_no_torch():
    modules = "description, rotary, architectures, weight_names, configuration, rope_parameters"
    code = (
        f"import sys; from engine.model import {modules}; "
        "print(sorted({'torch', 'transformers', 'accelerate'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
