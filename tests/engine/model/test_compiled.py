"""A compiled model gives the logits of transformers, or is not loaded."""

import numpy as np
import pytest
import torch

from engine.checkpoints import open_checkpoint
from engine.model.architectures import family_of
from engine.model.interface import no_progress
from engine.model.loader import load_compiled
from engine.model.rows import Rows
from engine.planner.run_rows import RUN_ROWS
from tests.engine.checkpoints.gguf_converter import convert
from tests.engine.model.compiled_models import (
    CONTEXT,
    SIZES,
    TEXT,
    TOLERANCE,
    Ended,
    all_logits,
    assert_close,
    both,
    difference,
    every_kind,
    random_text,
    saved,
    tiny,
)
from tests.engine.models import CONFIGS, VOCABULARY, ours, reference

# transformers computes these otherwise than compiled steps could.
OTHERS = [kind for kind in CONFIGS if not family_of(str(CONFIGS[kind].get("model_type", kind))).compiled]


@pytest.mark.parametrize("kind", [kind for kind in OTHERS if kind != "gpt_oss"])  # not as it is saved
def test_steps_refuse_an_architecture_that_they_do_not_compute(kind):
    assert saved(tiny(kind)) is None


def test_the_architectures_that_steps_refuse_are_those_that_are_declared_so():
    assert {*OTHERS} == {"gemma3n_text"}
    assert not family_of("no architecture that is declared").compiled


@every_kind
def test_a_text_has_the_logits_of_transformers(kind):
    module, model = both(kind)
    with torch.inference_mode():
        expected = module(torch.tensor([TEXT])).logits[0]
    assert_close(all_logits(model, TEXT), expected)
    assert_close(all_logits(model, TEXT), all_logits(ours(module), TEXT))


@pytest.mark.parametrize(
    ("kind", "changes"),
    [
        ("mistral", dict(sliding_window=13)),
        ("gemma2", dict(sliding_window=8)),
        ("gemma2", dict(attn_logit_softcapping=3.2)),
        ("gemma3_text", dict(sliding_window=10)),
        ("phi3", dict(sliding_window=12)),
        ("qwen2_window", dict(max_window_layers=2)),
        ("llama3_rope", dict(rope_parameters=dict(rope_type="default", rope_theta=10000.0))),
        ("llama", dict(rms_norm_eps=3e-2)),
        ("qwen3_moe", dict(norm_topk_prob=False)),
        ("olmoe", dict(norm_topk_prob=True)),
        ("mixtral", dict(num_experts_per_tok=3)),
        ("qwen3_next", dict(norm_topk_prob=False)),
        ("nemotron_h_experts", dict(norm_topk_prob=False)),
        ("nemotron_h_experts", dict(routed_scaling_factor=2.2)),
        ("lfm2_moe", dict(norm_topk_prob=False)),
        ("lfm2_moe", dict(routed_scaling_factor=1.3)),
        ("lfm2_moe", dict(use_expert_bias=False)),
    ],
)
def test_the_tolerance_notices_another_setting(kind, changes):
    _, model = both(kind)
    other = all_logits(ours(tiny(kind, **changes)), TEXT)
    assert difference(all_logits(model, TEXT), other) > 2 * TOLERANCE


@pytest.mark.parametrize(
    ("kind", "name"),
    [
        ("llama", "input_layernorm.weight"),
        ("qwen2", "self_attn.q_proj.bias"),
        ("qwen2", "self_attn.v_proj.bias"),
        ("qwen3", "self_attn.q_norm.weight"),
        ("qwen3", "self_attn.k_norm.weight"),
        ("gemma2", "post_feedforward_layernorm.weight"),
        ("gemma3_text", "pre_feedforward_layernorm.weight"),
        ("olmoe", "self_attn.q_norm.weight"),
        ("olmoe", "self_attn.k_norm.weight"),
    ],
)
def test_the_tolerance_notices_another_vector_in_one_layer(kind, name):
    _, model = both(kind)
    module = tiny(kind)
    with torch.no_grad():
        weight = module.get_parameter(f"model.layers.1.{name}")
        weight += 0.15 * torch.randn(weight.shape, generator=torch.Generator().manual_seed(2))
    assert difference(all_logits(model, TEXT), all_logits(ours(module), TEXT)) > 2 * TOLERANCE


def test_every_second_layer_of_a_qwen3_next_may_have_a_plain_mlp():
    module = tiny("qwen3_next", decoder_sparse_step=2)
    with torch.inference_mode():
        expected = module(torch.tensor([TEXT])).logits[0]
    assert_close(all_logits(saved(module), TEXT), expected)


def test_mixtures_and_mlps_may_be_layers_of_one_model_and_the_first_ones():
    module = tiny(
        "nemotron_h_experts", layers_block_type=["moe", "mlp", "full_attention", "moe", "linear_attention"]
    )
    with torch.inference_mode():
        expected = module(torch.tensor([TEXT])).logits[0]
    assert_close(all_logits(saved(module), TEXT), expected)


def test_an_lfm2_may_choose_without_biases_and_share_otherwise():
    other = dict(use_expert_bias=False, norm_topk_prob=False, routed_scaling_factor=1.3, num_dense_layers=0)
    module = tiny("lfm2_moe", **other)
    with torch.inference_mode():
        expected = module(torch.tensor([TEXT])).logits[0]
    assert_close(all_logits(saved(module), TEXT), expected)


@pytest.mark.parametrize(
    ("kind", "groups", "kept"), [("glm4_moe", 2, 1), ("glm4_moe", 4, 2), ("nemotron_h_experts", 3, 2)]
)
def test_experts_may_be_chosen_in_the_best_groups(kind, groups, kept):
    module = tiny(kind, n_group=groups, topk_group=kept)
    with torch.inference_mode():
        expected = module(torch.tensor([TEXT])).logits[0]
    assert_close(all_logits(saved(module), TEXT), expected)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
@pytest.mark.parametrize("kind", ["llama", "qwen2", "gemma3_text", "qwen3_moe"])
def test_weights_of_16_bits(kind, dtype):
    module = tiny(kind)
    model = saved(module, dtype)  # rounds the module too
    assert_close(all_logits(model, TEXT), all_logits(ours(module), TEXT))


@pytest.mark.parametrize("kind", ["mistral", "gemma2", "gemma3_text", "llama3_rope", "qwen3_5_text", "lfm2"])
def test_a_text_of_several_runs_has_the_logits_of_transformers(kind):
    """Also far behind the start: rotary factors, windows."""
    module = tiny(kind)
    model = saved(module, context=1024)
    text = random_text(2 * RUN_ROWS + 60)
    assert_close(all_logits(model, text), all_logits(ours(module, context=1024), text))


@every_kind
def test_hidden_states_are_close_to_those_of_transformers(kind):
    module, model = both(kind)
    layers = list(range(model.layers + 1))
    output = model.forward(Rows.text(TEXT, 0), model.new_cache(64), hidden_layers=layers)
    twin = ours(module)
    expected = twin.forward(Rows.text(TEXT, 0), twin.new_cache(64), hidden_layers=layers)
    with torch.inference_mode():
        states = module(torch.tensor([TEXT]), output_hidden_states=True).hidden_states
    assert output.hidden.keys() == set(layers)
    for layer in layers:
        assert difference(output.hidden[layer], expected.hidden[layer]) < TOLERANCE
        if layer != model.layers - 1:  # transformers' last hidden state is that after the final norm
            known = states[min(layer + 1, model.layers)][0]
            assert difference(output.hidden[layer], known) < TOLERANCE


@pytest.mark.parametrize(
    "kind",
    [
        *("granite", "ministral3", "olmo2", "glm4", "gemma4_large", "gemma4_text", "nemotron_h"),
        *("granitemoehybrid", "granitemoehybrid_experts", "nemotron_h_experts", "lfm2", "lfm2_moe"),
    ],
)
def test_a_gguf_file_has_the_logits_of_transformers(kind, tmp_path):
    """Rotated pairs lie side by side in these files, except in OLMo's, Gemma's and LFM2's."""
    module = tiny(kind)
    model = load_compiled(open_checkpoint(convert(module, tmp_path / "model.gguf")), no_progress, CONTEXT)
    with torch.inference_mode():
        expected = module(torch.tensor([TEXT])).logits[0]
    assert_close(all_logits(model, TEXT), expected)


@every_kind
def test_embeddings_are_those_of_transformers(kind):
    module, model = both(kind)
    expected = module.get_input_embeddings()(torch.tensor(TEXT)).detach()
    expected *= getattr(module.config, "embedding_multiplier", 1.0)  # applied outside the embedding's module
    torch.testing.assert_close(torch.from_numpy(model.embed(np.array(TEXT))), expected, rtol=1e-6, atol=1e-6)


def test_padding_of_the_head_gets_no_logits():
    model = saved(tiny("llama"), vocabulary=VOCABULARY - 5)
    assert model.vocabulary == VOCABULARY - 5
    assert np.array_equal(all_logits(model, TEXT), all_logits(both("llama")[1], TEXT)[:, :-5])


def test_a_second_load_gives_the_same_bits():
    assert np.array_equal(all_logits(saved(tiny("qwen2")), TEXT), all_logits(both("qwen2")[1], TEXT))


def test_loading_reports_bytes_and_layers_and_may_be_ended(tmp_path):
    module = tiny("llama")
    module.save_pretrained(tmp_path)
    loaded, layers = [], []
    model = load_compiled(
        open_checkpoint(tmp_path),
        lambda done, total: loaded.append((done, total)),
        CONTEXT,
        layer_progress=lambda done, total: layers.append((done, total)),
    )
    assert loaded[-1][0] == loaded[-1][1] > 0
    assert layers[-1] == (model.layers, model.layers)

    def progress(done, total):
        raise Ended

    with pytest.raises(Ended):
        load_compiled(open_checkpoint(tmp_path), progress, CONTEXT)


# What steps do not cover


@pytest.mark.parametrize(
    ("kind", "changes"),
    [
        ("olmoe", dict(clip_qkv=8.0)),
        ("olmoe", dict(attention_bias=True)),
        ("qwen3_moe", dict(head_dim=32)),  # experts of width 24
        ("llama_bias", dict()),
        ("llama", dict(head_dim=16)),
        ("llama", dict(hidden_size=120)),
        ("llama", dict(intermediate_size=80)),
        ("llama", dict(hidden_act="relu")),
    ],
)
def test_what_steps_do_not_cover_is_not_loaded(kind, changes):
    module = reference(kind, **{**SIZES, **changes})
    assert saved(module) is None


def test_layouts_that_have_no_tiles_are_not_loaded():
    assert saved(tiny("llama"), torch.float64) is None
