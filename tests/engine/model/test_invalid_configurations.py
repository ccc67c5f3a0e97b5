"""A configuration that no model has is refused with the reason, whatever a stranger wrote into it."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.errors import BadCheckpoint, UnsupportedModel
from engine.model.description import describe
from engine.model.rotary import RotaryFactors
from tests.engine.model.configurations import CASES, LLAMA3, STRETCH, YARN, checkpoint
from tests.engine.models import COMMON, CONFIGS


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


@pytest.mark.parametrize("limit", [[0.1], [0.0, "much"], [-1.0, 2.0], 0.5])
def test_limits_of_steps_that_are_none_are_refused(limit):
    config = {**COMMON, **CONFIGS["granitemoehybrid"], "time_step_limit": limit}
    with pytest.raises(BadCheckpoint, match="time_step"):
        describe(checkpoint("granitemoehybrid", config))


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
        ("lfm2_moe", {}, "layer_types is missing"),
        ("lfm2_moe", {"layer_types": ["conv"] * 32, "num_dense_layers": -1}, "num_dense_layers is -1"),
        ("lfm2_moe", {"layer_types": ["conv"] * 32, "use_expert_bias": 1}, "use_expert_bias is 1"),
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
