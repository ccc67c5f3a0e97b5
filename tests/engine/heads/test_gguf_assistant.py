"""Assistants of Gemma 4 in GGUF files guess what they guess from a folder."""

import gguf as gguf_py
import numpy as np
import pytest
import torch

from engine import catalog
from engine.checkpoints import gguf, gguf_header, open_checkpoint
from engine.cli.plan import named_pairs
from engine.errors import BadCheckpoint, UnsupportedModel
from engine.heads import load_compiled_heads, open_heads
from engine.heads.compiled_assistant import CompiledAssistantHead
from tests.engine.checkpoints.gguf_converter import convert
from tests.engine.heads.assistants import CHOSEN, CLUSTERS, LARGE, SMALL, assistant_of
from tests.engine.heads.refusals import load as load_folder
from tests.engine.heads.refusals import refused
from tests.engine.heads.test_assistant import (
    TEXT,
    answer,
    each_form,
    each_kind,
    load,
    loaded,
    read,
    target_in,
)
from tests.engine.heads.test_compiled_assistant import loaded as compiled
from tests.engine.heads.test_compiled_assistant import read as read_compiled
from tests.engine.model.compiled_models import tiny
from tests.engine.models import reference

NAME = "gemma4-assistant"
PROJECTION = "nextn.pre_projection"


def written(path, kind=SMALL, ordered=True, **changes):
    """A GGUF file of the assistant that `loaded` has. changes: as `metadata` and others of `convert`."""
    path.parent.mkdir(parents=True, exist_ok=True)
    return convert(loaded(kind, ordered)[1], path, **changes)


@each_kind
@each_form
def test_it_guesses_what_the_same_assistant_guesses_from_a_folder(kind, ordered, tmp_path):
    _, _, target, expected = loaded(kind, ordered)
    found = load_folder(written(tmp_path / "assistant.gguf", kind, ordered), target)
    rows, state = read(target, TEXT)
    guesses = []
    for head in (found, expected):
        head.read(rows)
        guesses.append(head.forward(np.array([5, 9]), torch.cat([state, 2 * state])))
    assert torch.equal(guesses[0].logits, guesses[1].logits)
    assert torch.equal(guesses[0].states, guesses[1].states)
    if ordered:
        assert np.array_equal(guesses[0].tokens, guesses[1].tokens)
    assert (found.layers, found.parameters) == (expected.layers, expected.parameters)


def test_beside_a_compiled_target_it_is_compiled_too(tmp_path):
    target, expected, _ = compiled(LARGE, True)
    file = open_heads(convert(assistant_of(tiny(LARGE), True), tmp_path / "assistant.gguf"))
    found = load_compiled_heads(file, target, 96)
    assert isinstance(found, CompiledAssistantHead)
    rows, state = read_compiled(target, TEXT)
    guesses = []
    for head in (found, expected):
        head.read(rows)
        guesses.append(head.forward(np.array([5]), state))
    np.testing.assert_array_equal(guesses[0].logits, guesses[1].logits)


@pytest.mark.parametrize("storage", ["Q8_0", "Q4_0"])
def test_packed_weights_are_unpacked(storage, tmp_path):
    path = written(tmp_path / "assistant.gguf", storage=storage)
    stored = {tensor.name: tensor for tensor in gguf_py.GGUFReader(path).tensors}
    tensors = open_heads(path).tensors
    names = {f"{PROJECTION}.weight": "pre_projection.weight", "output_norm.weight": "model.norm.weight"}
    for name, own in names.items():
        expected = gguf_py.quants.dequantize(stored[name].data, stored[name].tensor_type)
        np.testing.assert_array_equal(tensors[own].read(), expected)
    assert stored[f"{PROJECTION}.weight"].tensor_type.name == storage


def test_blocks_with_a_factor_of_the_whole_matrix_are_multiplied_by_it(tmp_path):
    factor = {f"{PROJECTION}.scale": np.array([0.5], np.float32)}
    matrices = [
        open_heads(written(tmp_path / f"{name}.gguf", storage="NVFP4", tensors=tensors)).tensors
        for name, tensors in (("plain", {}), ("factored", factor))
    ]
    plain, factored = (tensors["pre_projection.weight"].read() for tensors in matrices)
    np.testing.assert_array_equal(factored, plain * np.float32(0.5))
    assert plain.any()


def test_numbers_that_are_none_are_refused(tmp_path):
    width = loaded(SMALL, True)[0].config.hidden_size
    tensors = {f"{PROJECTION}.weight": np.full((width // 2, 2 * width), np.nan, np.float32)}
    with refused(BadCheckpoint, "pre_projection"):
        load_folder(written(tmp_path / "assistant.gguf", tensors=tensors), loaded(SMALL, True)[2])


def test_without_clusters_all_tokens_get_logits_and_without_a_number_32_clusters_or_all_are_chosen(tmp_path):
    clusters = dict.fromkeys(("masked_embd_centroids.weight", "masked_embd_ordering"))
    plain = open_heads(written(tmp_path / "plain.gguf", tensors=clusters)).config
    assert plain["use_ordered_embeddings"] is False
    unknown = {f"{NAME}.centroid_top_k": None}
    chosen = [
        open_heads(written(tmp_path / f"{name}.gguf", metadata=metadata)).config
        for name, metadata in (("known", {}), ("unknown", unknown))
    ]
    assert [each["centroid_intermediate_top_k"] for each in chosen] == [CHOSEN, CLUSTERS]
    assert [each["num_centroids"] for each in chosen] == [CLUSTERS, CLUSTERS]
    wide = {
        "masked_embd_centroids.weight": np.ones((64, 16), np.float32),
        "masked_embd_ordering": np.arange(128, dtype=np.int32),
    }
    many = open_heads(written(tmp_path / "many.gguf", metadata=unknown, tensors=wide)).config
    assert many["centroid_intermediate_top_k"] == 32


def test_what_other_programs_write_of_an_assistant_is_understood(tmp_path):
    metadata = {
        f"{NAME}.requires_target_arch": "gemma4",
        f"{NAME}.use_ordered_embeddings": True,
        f"{NAME}.n_centroids": CLUSTERS,
        f"{NAME}.n_embd_backbone": 32,
        f"{NAME}.attention.k_eq_v": True,
        f"{NAME}.attention.shared_kv_layers": 0,
    }
    load_folder(written(tmp_path / "assistant.gguf", metadata=metadata), loaded(SMALL, True)[2])


@pytest.mark.parametrize(
    ("metadata", "kind", "saying"),
    [
        ({f"{NAME}.nextn_predict_layers": 1}, BadCheckpoint, "nextn_predict_layers"),
        ({f"{NAME}.attention.shared_kv_layers": 1}, BadCheckpoint, "shared_kv_layers"),
        ({f"{NAME}.requires_target_arch": "llama"}, BadCheckpoint, "requires_target_arch"),
        ({f"{NAME}.embedding_length_out": None}, BadCheckpoint, "embedding_length_out"),
        ({f"{NAME}.embedding_length_out": 64}, BadCheckpoint, r"shape \(16, 64\) instead of \(16, 128\)"),
        ({f"{NAME}.centroid_top_k": CLUSTERS + 1}, BadCheckpoint, "centroid_top_k"),
        ({f"{NAME}.final_logit_softcapping": 30.0}, UnsupportedModel, "final_logit_softcapping"),
        ({f"{NAME}.attention.scale": 0.5}, UnsupportedModel, "attention.scale"),
    ],
    ids=str,
)
def test_what_is_unknown_or_damaged_is_refused_by_name(tmp_path, metadata, kind, saying):
    with refused(kind, saying):
        load_folder(written(tmp_path / "assistant.gguf", metadata=metadata), loaded(SMALL, True)[2])


@pytest.mark.parametrize(
    ("tensors", "saying"),
    [
        ({"masked_embd_ordering": None}, "masked_embd_ordering is missing"),
        ({"masked_embd_ordering": np.zeros(128, np.int32)}, "does not put 128 tokens into 8 clusters"),
        ({f"{PROJECTION}.weight": None}, r"nextn.pre_projection.weight is missing"),
        ({"blk.1.layer_output_scale.weight": None}, "layer_output_scale"),
    ],
    ids=str,
)
def test_damaged_tensors_are_refused(tmp_path, tensors, saying):
    with refused(BadCheckpoint, saying):
        load_folder(written(tmp_path / "assistant.gguf", tensors=tensors), loaded(SMALL, True)[2])


def test_it_is_no_model_that_answers(tmp_path):
    with refused(UnsupportedModel, "drafts for a model and cannot answer"):
        open_checkpoint(written(tmp_path / "assistant.gguf"))


def test_other_files_are_no_assistants(tmp_path):
    model = convert(reference(SMALL), tmp_path / "model.gguf")
    cut = tmp_path / "cut.gguf"
    cut.write_bytes(written(tmp_path / "in/assistant.gguf").read_bytes()[:30])
    for path in (model, cut, tmp_path / "missing.gguf", tmp_path):
        assert not gguf.is_assistant(path)
        assert open_heads(path) is None


def test_only_the_beginning_of_a_file_is_read_to_recognize_it(tmp_path, monkeypatch):
    path, fill, sizes = written(tmp_path / "assistant.gguf"), gguf_header.reads.fill, []
    monkeypatch.setattr(
        gguf_header.reads, "fill", lambda into, file: (sizes.append(len(into)), fill(into, file))[1]
    )
    assert gguf.is_assistant(path)
    assert gguf.is_assistant(path.parent)
    assert sizes == [4096, 4096]


# -- beside its target ---------------------------------------------------------------------------------------


@pytest.fixture
def folder(tmp_path):
    return target_in(tmp_path / "target")


@pytest.mark.parametrize("place", ["elsewhere", "target-assistant", "target/assistant"])
def test_it_loads_as_a_draft_or_by_itself_where_it_lies_beside_its_target(folder, place):
    file = written(folder.parent / place / "any.gguf")
    engine, found = load(folder, **(dict(draft=str(file)) if place == "elsewhere" else {}))
    expected = file if place == "elsewhere" else file.parent
    assert (found.draft.architecture, found.draft.path, found.draft.layers) == ("assistant", str(expected), 3)
    plain = answer(engine, "none").token_ids
    assert answer(engine, "assistant").token_ids == plain
    engine.unload()


def test_beside_the_file_of_its_target_it_is_found_by_its_name(tmp_path):
    own = written(tmp_path / "both/mtp-model-BF16.gguf")
    own.with_name("mmproj-F16.gguf").write_bytes(b"GGUF")  # an encoder of images
    target = convert(reference(SMALL), own.with_name("model-Q8_0.gguf"))
    for path in (target, target.parent):
        assert catalog.companion_for(str(path)) == own
        assert open_checkpoint(path).path == target
    own.rename(own.with_name("other-BF16.gguf"))
    assert catalog.companion_for(str(target)) is None
    assert not gguf.claims(target.parent), "two files, any of which may be a model"
    convert(reference(SMALL), own)
    own.with_name("other-BF16.gguf").unlink()
    assert not gguf.claims(target.parent), "a model, whatever its name"


def test_alone_in_its_folder_it_is_recognized_by_any_name(tmp_path):
    assert gguf.is_assistant(written(tmp_path / "mtp-model.gguf").parent)


def test_a_folder_with_another_model_beside_it_is_no_companion(folder):
    own = written(folder.with_name("target-assistant") / "any.gguf")
    assert catalog.companion_for(str(folder)) == own.parent
    assert catalog.is_companion(own)
    convert(reference(SMALL), own.with_name("other.gguf"))
    assert catalog.companion_for(str(folder)) is None


def test_a_plan_counts_it_as_a_draft_of_its_target(folder):
    file = written(folder.parent / "any.gguf")
    (pair,) = named_pairs(str(folder), str(file))
    assert pair.heads is not None
