"""Files of heads that are incomplete, contradictory or for another target raise the right named error."""

import time

import pytest
import torch

from engine.errors import UnsupportedModel, VocabularyMismatch
from engine.heads import open_heads
from tests.engine.checkpoints.files import write_folder
from tests.engine.heads import made
from tests.engine.heads.refusals import load, refused
from tests.engine.models import VOCABULARY, ours, reference

OPTIONAL = ("embed_tokens.weight", "t2d")


def test_the_files_are_those_that_weights_are_read_from(tmp_path):
    folder = made.save(tmp_path, "eagle", made.random_weights("eagle"))
    (folder / "README.md").write_text("Heads")
    (file,) = open_heads(folder).files
    assert file.parent == folder
    assert file.suffix in (".safetensors", ".bin")


@pytest.mark.parametrize("kind", made.KINDS)
def test_a_missing_superfluous_or_misshapen_tensor_is_named(tmp_path, target, kind):
    weights = made.random_weights(kind)
    for name, weight in weights.items():
        left = {other: each for other, each in weights.items() if other != name}
        longer = torch.cat([weight, weight[-1:]])
        if name not in OPTIONAL:
            with refused():
                load(made.save(tmp_path, kind, weights | {name: longer}), target)
        made.save(tmp_path, kind, left)
        if name == "fc.weight":
            assert open_heads(tmp_path) is None
        elif name in OPTIONAL or (kind == "eagle_bias" and name.endswith("bias")):
            load(tmp_path, target)
        else:
            with refused():
                load(tmp_path, target)
    with refused(saying="other.weight|missing"):
        load(made.save(tmp_path, kind, weights | {"other.weight": torch.ones(3)}), target)


@pytest.mark.parametrize("kind", made.KINDS)
def test_heads_for_a_target_of_another_width_or_a_larger_vocabulary_are_refused(tmp_path, kind):
    folder = made.save(tmp_path, kind, made.random_weights(kind))
    with refused():
        load(folder, ours(reference("llama", num_hidden_layers=4, hidden_size=2 * made.WIDTH)))
    larger = ours(reference("llama", num_hidden_layers=4, vocab_size=VOCABULARY + 1))
    if kind == "medusa_2":  # shares the target's head, and so its vocabulary
        load(folder, larger)
    else:
        with refused(VocabularyMismatch, f"{VOCABULARY} tokens, the target has {VOCABULARY + 1}"):
            load(folder, larger)


def test_heads_that_read_layers_the_target_does_not_have_are_refused(tmp_path):
    folder = made.save(tmp_path, "eagle3", made.random_weights("eagle3"))
    with refused(saying="reads? layers"):
        load(folder, ours(reference("llama", num_hidden_layers=2)))


COUNT = made.DRAFT_VOCABULARY


@pytest.mark.parametrize(
    "d2t",
    [
        None,
        torch.zeros(COUNT - 1, dtype=torch.int64),
        torch.zeros((), dtype=torch.int64),
        torch.zeros(COUNT),
        torch.full((COUNT,), VOCABULARY),
        torch.full((COUNT,), -1),
        torch.full((COUNT,), 2**63 - 1),
        -torch.arange(COUNT),
    ],
    ids=["missing", "short", "scalar", "real", "too high", "negative", "overflowing", "one for all"],
)
def test_an_eagle_3_head_with_an_invalid_token_map_is_refused(tmp_path, target, d2t):
    weights = made.random_weights("eagle3") | {"d2t": d2t}
    if d2t is None:
        del weights["d2t"]
    with refused(saying="d2t"):
        load(made.save(tmp_path, "eagle3", weights), target)


def test_the_map_from_target_to_draft_is_not_needed(tmp_path, target):
    """Only training uses it."""
    weights = made.random_weights("eagle3") | {"t2d": torch.ones(3)}
    load(made.save(tmp_path, "eagle3", weights), target)


@pytest.mark.parametrize(
    "text", ["", "[]", "{", '{"medusa_num_heads": NaN}', '{"vocab_size": 61, "vocab_size": 61}', "[" * 9999]
)
def test_a_configuration_that_is_not_a_json_object_is_refused(tmp_path, text):
    made.save(tmp_path, "eagle", made.random_weights("eagle"))
    (tmp_path / "config.json").write_text(text)
    with refused(saying="config.json"):
        open_heads(tmp_path)


@pytest.mark.parametrize(
    ("kind", "changes"),
    [
        ("eagle", dict(hidden_size="32")),
        ("eagle", dict(num_hidden_layers=2)),
        ("eagle", dict(num_hidden_layers=900)),
        ("eagle", dict(num_attention_heads=32)),
        ("eagle", dict(num_attention_heads=32, num_key_value_heads=16)),  # attention heads of width 1
        ("eagle", dict(num_attention_heads=None, num_key_value_heads=5)),
        ("eagle", dict(intermediate_size=1 << 20)),
        ("eagle", dict(hidden_act="no such function")),
        ("eagle", dict(rms_norm_eps="small")),
        ("eagle", dict(dtype=[1])),
        ("eagle", dict(rope_scaling={"rope_type": "no such rope"})),
        ("eagle", dict(rope_scaling=7)),
        ("eagle", dict(vocab_size=0)),
        ("eagle3", dict(draft_vocab_size=-1)),
        ("eagle3", dict(draft_vocab_size="40")),
        ("eagle3", dict(draft_vocab_size=VOCABULARY + 1)),
        ("eagle3", dict(draft_vocab_size=made.DRAFT_VOCABULARY - 1)),
        ("eagle3", dict(target_hidden_size=64)),
        ("eagle3", dict(eagle_config={"eagle_aux_hidden_state_layer_ids": [0, 1, 4]})),
        ("eagle3", dict(eagle_config={"eagle_aux_hidden_state_layer_ids": [1, 1, 2]})),
        ("eagle3", dict(eagle_config={"eagle_aux_hidden_state_layer_ids": [[0], 1, 2]})),
        ("eagle3", dict(eagle_config={"eagle_aux_hidden_state_layer_ids": {"0": 1}})),
        ("p-eagle", dict(ptd_token_id=None)),
        ("p-eagle", dict(ptd_token_id=VOCABULARY)),
        ("p-eagle", dict(num_depths=0)),
        ("p-eagle", dict(num_hidden_layers=1)),
        ("p-eagle", dict(draft_vocab_size=made.DRAFT_VOCABULARY - 1)),
        ("p-eagle", dict(eagle_config={"eagle_aux_hidden_state_layer_ids": [0, 1, 4]})),
        ("dflash", dict(dflash_config=7)),
        ("dflash", dict(block_size=1)),
        ("dflash", dict(block_size="16")),
        ("dflash", dict(layer_types=["full_attention"])),
        ("dflash", dict(dflash_config={"mask_token_id": VOCABULARY, "target_layer_ids": made.READ})),
        ("dflash", dict(dflash_config={"target_layer_ids": made.READ})),
        ("dflash", dict(dflash_config={"mask_token_id": made.MASK})),
        ("dflash", dict(dflash_config={"mask_token_id": made.MASK, "target_layer_ids": [0, 4]})),
        ("dflash", dict(dflash_config={"mask_token_id": made.MASK, "target_layer_ids": [0, 1, 2]})),
        ("dflash", dict(is_causal="yes")),
        ("medusa", dict(medusa_num_heads=10**9)),
        ("medusa", dict(medusa_num_heads=True)),
        ("medusa", dict(medusa_num_heads="3")),
        ("medusa", dict(medusa_num_layers=0)),
        ("medusa", dict(medusa_num_layers=1)),
        ("medusa", dict(medusa_num_layers=3)),
    ],
    ids=str,
)
def test_a_configuration_that_does_not_fit_is_a_named_error(tmp_path, target, kind, changes):
    with refused():
        load(made.save(tmp_path, kind, made.random_weights(kind), **changes), target)


@pytest.mark.parametrize(
    ("kind", "changes"),
    [
        ("dflash", dict(architectures=["DFlash2DraftModel"])),
        ("dflash", dict(output_multiplier=0.2)),
        ("dflash", dict(final_logit_softcapping=30)),
        ("p-eagle", dict(norm_before_fc=True)),
        ("p-eagle", dict(transformer_layer_config={"hidden_size": 64})),
    ],
    ids=str,
)
def test_heads_that_ask_for_more_than_is_computed_are_refused(tmp_path, target, kind, changes):
    with refused(UnsupportedModel, "not supported"):
        load(made.save(tmp_path, kind, made.random_weights(kind), **changes), target)


def test_more_heads_and_blocks_than_there_are_tensors_are_refused_at_once(tmp_path, target):
    count = 300
    weights = {f"{n}.0.linear.bias": torch.zeros(1) for n in range(count)}
    made.save(tmp_path, "medusa_2", weights, medusa_num_heads=count, medusa_num_layers=count)
    started = time.process_time()
    with refused(saying="300 heads of 300 blocks"):
        load(tmp_path, target)
    assert time.process_time() - started < 1


def test_logits_without_dimensions_are_refused(tmp_path, target):
    weights = made.random_weights("medusa") | {"0.2.weight": torch.tensor(1.0)}
    with refused(saying="shape"):
        load(made.save(tmp_path, "medusa", weights), target)


def test_more_heads_than_the_configuration_says_are_used(tmp_path, target):
    folder = made.save(tmp_path, "medusa", made.random_weights("medusa"), medusa_num_heads=2)
    assert load(folder, target).layers == 3


def test_weights_in_an_unsupported_format_are_refused(tmp_path, target):
    weights = made.random_weights("eagle")
    weights["fc.weight"] = weights["fc.weight"].to(torch.float8_e4m3fn)
    with refused(UnsupportedModel):
        load(made.save(tmp_path, "eagle", weights), target)


def test_settings_that_may_name_code_are_dropped(tmp_path):
    weights = made.random_weights("eagle")
    code = dict(auto_map={"AutoModel": "heads.py"}, trust_remote_code=True, _attn_implementation="a/b")
    assert open_heads(made.save(tmp_path, "eagle", weights, **code)).config.keys() == made.LLAMA.keys() | {
        "bias"
    }


@pytest.mark.parametrize("kind", ["medusa", "medusa_2"])
def test_medusa_heads_without_their_file_are_refused(tmp_path, kind):
    made.save(tmp_path, kind, {})
    (tmp_path / "medusa_lm_head.safetensors").unlink()
    with refused(saying=r"medusa_lm_head\.safetensors"):
        open_heads(tmp_path)


def test_a_folder_without_heads_is_left_to_the_reader_of_models(tmp_path):
    model = write_folder(tmp_path / "model")
    (tmp_path / "empty").mkdir()
    for path in (model, model / "model.safetensors", tmp_path / "empty", tmp_path / "nowhere"):
        assert open_heads(path) is None
