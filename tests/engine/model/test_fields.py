"""A field of a configuration is understood, without effect, or refused by its name."""

import dataclasses

import pytest
from transformers import CONFIG_MAPPING

from engine.errors import UnsupportedModel
from engine.model.architectures import ARCHITECTURES, family_of
from engine.model.description import describe
from engine.model.fields import refuse_changed_fields, understood
from tests.engine.model.configurations import checkpoint
from tests.engine.model.famous import FAMOUS


@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_every_field_of_transformers_configuration_is_understood(architecture):
    fields = {each.name for each in dataclasses.fields(CONFIG_MAPPING[architecture])}
    # transformers' Gemma 3 reads it nowhere, and others might: it has to be null.
    refused = {"attn_logit_softcapping"} if architecture == "gemma3_text" else set()
    assert fields - understood(family_of(architecture)) == refused


@pytest.mark.parametrize("name", FAMOUS)
def test_configurations_of_famous_models_with_notes_of_fine_tuning_are_accepted(name):
    notes = {"unsloth_version": "2025.1", "unsloth_fixed": True, "model_name": "x", "use_mrope": False}
    describe(checkpoint(FAMOUS[name]["model_type"], {**FAMOUS[name], **notes}))


@pytest.mark.parametrize(
    ("architecture", "field"),
    [
        ("llama", {"embedding_multiplier": 12.0}),  # Granite
        ("llama", {"residual_multiplier": 0.22}),
        ("llama", {"logit_scale": 0.0625}),  # Cohere
        ("llama", {"scale_emb": 12}),  # MiniCPM
        ("llama", {"final_logit_softcapping": 30.0}),  # Gemma 2
        ("llama", {"num_experts": 8}),
        ("llama", {"no_rope_layers": [1, 1, 1, 0]}),  # SmolLM3
        ("llama", {"num_nextn_predict_layers": 1}),  # GLM 4.5
        ("qwen2", {"kv_lora_rank": 512}),  # DeepSeek
        ("qwen3", {"attn_output_gate": True}),  # Qwen 3.5
        ("mistral", {"layer_norm_eps": 1e-5}),
        ("gemma2", {"num_kv_shared_layers": 10}),  # Gemma 3n
        ("gemma3_text", {"attn_logit_softcapping": 50.0}),  # transformers' Gemma 3 does not cap scores
        ("phi3", {"mup_width_multiplier": 8.0}),
    ],
    ids=lambda value: next(iter(value)) if isinstance(value, dict) else value,
)
def test_a_field_that_computes_elsewhere_is_refused_by_its_name(architecture, field):
    with pytest.raises(UnsupportedModel, match=next(iter(field))):
        describe(checkpoint(architecture, field))
    describe(checkpoint(architecture, dict.fromkeys(field)))  # null asks for nothing


@pytest.mark.parametrize(
    "parameter",
    [{"llama_4_scaling_beta": 0.1}, {"mrope_section": [16, 24, 24]}, {"alpha": 1000.0}, {"xpos_base": 512}],
    ids=lambda value: next(iter(value)),
)
def test_a_rotary_parameter_that_is_not_known_is_refused_by_its_name(parameter):
    for place in ("rope_parameters", "rope_scaling"):
        config = {place: {"rope_type": "linear", "factor": 2.0, **parameter}}
        with pytest.raises(UnsupportedModel, match=next(iter(parameter))):
            describe(checkpoint("llama", config))
    by_layer = {"rope_parameters": {"full_attention": {"rope_type": "default", **parameter}}}
    with pytest.raises(UnsupportedModel, match=next(iter(parameter))):
        describe(checkpoint("gemma3_text", by_layer))


def test_a_new_field_of_transformers_is_refused_if_it_differs_from_its_default():
    known = understood(family_of("llama"))
    refuse_changed_fields("llama", known, {"twist": 1, "attention_dropout": 0.5}, {"twist": 1})
    with pytest.raises(UnsupportedModel, match="twist"):
        refuse_changed_fields("llama", known, {"twist": 2}, {"twist": 1})
