"""EAGLE-3 and P-EAGLE heads in speculators' form are those in the form of their authors."""

import json
from pathlib import Path

import numpy as np
import pytest
import torch
from transformers import LlamaConfig

from engine.errors import BadCheckpoint, UnsupportedModel
from engine.heads import load_compiled_heads, open_heads
from engine.heads.compiled_eagle import CompiledEagleHead
from engine.heads.compiled_p_eagle import CompiledPEagleHead
from engine.model.rows import Rows
from engine.torch_model.heads import load_heads
from tests.engine.heads import made
from tests.engine.heads.refusals import load, refused
from tests.engine.heads.test_compiled_blocks import CHANGES, SIZES
from tests.engine.heads.test_compiled_blocks import target as compiled_target
from tests.engine.heads.test_modules import TEXT, assert_in_pieces, table_and_head

KINDS = {"eagle3": "eagle3", "p-eagle": "peagle"}
each_kind = pytest.mark.parametrize("kind", KINDS)
DROPPED = ("model_type", "draft_vocab_size", "eagle_config", "ptd_token_id", "num_depths")


def save(folder, kind, weights, layers=None, **changes):
    """Write a head in speculators' form. layers: changes to the configuration of its layers, of which only
    what differs from transformers' defaults is written."""
    own = made.CONFIGS[kind] | (layers or {})
    diff = LlamaConfig(**{key: each for key, each in own.items() if key not in DROPPED}).to_diff_dict()
    config = {
        "speculators_model_type": KINDS[kind],
        "architectures": ["Eagle3Speculator" if kind == "eagle3" else "PEagleSpeculator"],
        "transformer_layer_config": diff,
        "draft_vocab_size": made.DRAFT_VOCABULARY,
        "norm_before_residual": False,
        "norm_before_fc": False,
        "target_hidden_size": None,
        "eagle_aux_hidden_state_layer_ids": [layer + 1 for layer in made.LEVELS],
        "embed_requires_grad": kind == "p-eagle",
        "speculators_config": {
            "algorithm": KINDS[kind],
            "default_proposal_method": "greedy",
            "proposal_methods": [{"proposal_type": "greedy", "speculative_tokens": made.BLOCK - 1}],
            "verifier": {"name_or_path": "Qwen/Qwen3-8B", "architectures": ["Qwen3ForCausalLM"]},
        },
    }
    if kind == "p-eagle":
        config["mask_token_id"] = made.MASK
    names = {name: name.replace("midlayer.", "layers.0.") for name in weights}
    stored = {names[name]: weight for name, weight in weights.items()}
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(made.CONFIGS, kind, config)
        return made.save(Path(folder), kind, stored, **changes)


def embedded(kind, table):
    """Random weights, with the embedding that speculators' files have."""
    return made.random_weights(kind) | {"embed_tokens.weight": table.clone()}


each_residual = pytest.mark.parametrize("normed", [False, True], ids=["states", "their norms"])


@each_residual
def test_an_eagle3_head_equals_the_reference(tmp_path, target, normed):
    table, _ = table_and_head(target)
    weights = embedded("eagle3", table)
    head = load(save(tmp_path, "eagle3", weights, norm_before_residual=normed), target)
    assert (head.method, list(head.hidden_layers)) == ("eagle", made.LEVELS)
    hidden = {layer: torch.randn(len(TEXT), made.WIDTH) for layer in head.hidden_layers}
    states = head.fuse(hidden)
    torch.testing.assert_close(states, made.fused(weights, "eagle3", [hidden[n] for n in made.LEVELS]))
    assert_in_pieces(head, states, lambda tokens, read: made.eagle3(weights, table[tokens], read, normed))


@each_residual
def test_a_p_eagle_head_with_its_own_embedding_equals_the_reference(tmp_path, target, normed):
    table, lm_head = table_and_head(target)
    weights = embedded("p-eagle", torch.randn(table.shape))
    head = load(save(tmp_path, "p-eagle", weights, norm_before_residual=normed), target)
    assert (head.method, list(head.hidden_layers)) == ("p-eagle", made.LEVELS)
    assert (head.positions, head.layers) == (made.BLOCK - 1, 2)
    states = head.fuse({layer: torch.randn(11, made.WIDTH) for layer in head.hidden_layers})
    tokens, log_probs = head.best(head.guess(TEXT[1:12], states, head.new_cache()), 6)
    own, following = weights["embed_tokens.weight"], torch.tensor(TEXT[1:12])
    expected = made.p_eagle(weights, own, following, states, normed)
    best = made.logits(weights, "p-eagle", expected, lm_head).log_softmax(-1).topk(6)
    assert tokens.tolist() == best.indices.tolist()
    torch.testing.assert_close(torch.from_numpy(log_probs), best.values, rtol=1e-4, atol=1e-4)


@each_kind
@each_residual
def test_beside_a_compiled_target_it_is_compiled_too(kind, normed, tmp_path, monkeypatch):
    for name, size in SIZES.items():
        monkeypatch.setattr(made, name, size)
    of, weights = compiled_target(), made.random_weights(kind)
    file = open_heads(save(tmp_path, kind, weights, CHANGES, norm_before_residual=normed))
    assert file.attention_width == 32
    fast, slow = load_compiled_heads(file, of, 96), load_heads(file, of, 96)
    assert isinstance(fast, CompiledEagleHead if kind == "eagle3" else CompiledPEagleHead)
    assert (fast.parameters, fast.hidden_layers) == (slow.parameters, slow.hidden_layers)
    random = np.random.default_rng(1)
    hidden = {layer: random.standard_normal((11, 64), np.float32) for layer in fast.hidden_layers}
    guessed = []
    for head in (fast, slow):
        states, cache = head.fuse(hidden), head.new_cache()
        if kind == "eagle3":
            found = head.forward(Rows.text(TEXT[1:12], 0), states, cache)
        else:
            found = head.guess(TEXT[1:12], states, cache)
        guessed.append(torch.as_tensor(found).clone())
    assert torch.nn.functional.cosine_similarity(*guessed, dim=-1).min() > 0.998


def test_layers_that_are_not_named_are_those_of_eagle3(tmp_path, target):
    changes = dict(eagle_aux_hidden_state_layer_ids=None)
    folder = save(tmp_path, "eagle3", made.random_weights("eagle3"), **changes)
    with refused(BadCheckpoint, r"layers \[1, 1, 0\] of the target"):  # of four layers: a low one twice
        load(folder, target)


@pytest.mark.parametrize(
    ("kind", "changes", "saying"),
    [
        ("p-eagle", dict(norm_before_fc=True), "norm_before_fc"),
        ("eagle3", dict(fc_norm=True), "fc_norm"),
        ("eagle3", dict(norm_output=True), "norm_output"),
        ("eagle3", dict(embed_requires_grad=True), "embed_requires_grad"),
        ("eagle3", dict(speculators_model_type="dflash"), "speculators_model_type dflash"),
        ("p-eagle", dict(transformer_layer_config={"model_type": "qwen3"}), "layers of the type qwen3"),
    ],
    ids=str,
)
def test_what_is_not_computed_is_refused_by_name(tmp_path, kind, changes, saying):
    with refused(UnsupportedModel, saying):
        open_heads(save(tmp_path, kind, made.random_weights(kind), **changes))


@pytest.mark.parametrize(
    ("kind", "changes"),
    [
        ("p-eagle", dict(transformer_layer_config=None)),
        ("p-eagle", dict(transformer_layer_config="llama")),
        ("p-eagle", dict(mask_token_id=None)),
        ("p-eagle", dict(speculators_config={"proposal_methods": [{"speculative_tokens": 0}]})),
        ("p-eagle", dict(eagle_aux_hidden_state_layer_ids=[0, 1, 2])),
        ("eagle3", dict(eagle_aux_hidden_state_layer_ids=[1, 2, "3"])),
        ("eagle3", dict(eagle_aux_hidden_state_layer_ids=[2, 3, 5])),
        ("eagle3", dict(draft_vocab_size=0.5)),
    ],
    ids=str,
)
def test_what_is_not_valid_is_a_named_error(tmp_path, target, kind, changes):
    with refused(BadCheckpoint):
        load(save(tmp_path, kind, made.random_weights(kind), **changes), target)


@pytest.mark.parametrize("proposals", [{}, {"proposal_methods": []}, None], ids=str)
def test_without_a_number_of_tokens_the_usual_one_is_guessed(tmp_path, target, proposals):
    folder = save(tmp_path, "p-eagle", made.random_weights("p-eagle"), speculators_config=proposals)
    assert load(folder, target).positions == 7


def test_where_a_first_layer_adds_to_is_said_or_known(tmp_path, target):
    for kind in KINDS:
        path = save(tmp_path / kind, kind, made.random_weights(kind)) / "config.json"
        config = json.loads(path.read_text())
        del config["norm_before_residual"]
        path.write_text(json.dumps(config))
    with refused(BadCheckpoint, "norm_before_residual is None"):
        open_heads(tmp_path / "eagle3")
    assert load(tmp_path / "p-eagle", target).method == "p-eagle"


@pytest.mark.parametrize("said", ["false", [0], 1])
def test_where_a_first_layer_adds_to_is_true_or_false(said, tmp_path, target):
    path = save(tmp_path, "p-eagle", made.random_weights("p-eagle")) / "config.json"
    config = json.loads(path.read_text())
    path.write_text(json.dumps(config | {"norm_before_residual": said}))
    with refused(BadCheckpoint, "where true or false is expected"):
        load(tmp_path, target)
