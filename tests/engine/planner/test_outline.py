"""A model has the same outline from the catalogue and from the header of its file."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from engine import catalog
from engine.catalog import sizes
from engine.checkpoints import open_checkpoint
from engine.checkpoints.drafts import draft_layer
from engine.machine.disk_reads import SECTOR
from engine.model.rows import Rows
from engine.planner import checkpoint_outline
from engine.planner.outline import catalogued
from engine.planner.tiles import PACKING
from engine.quantization import packed_in
from engine.torch_model.mtp import load_mtp
from engine.torch_model.tensor_cache import head_dim
from tests.engine.catalog.test_sizes import model_of
from tests.engine.checkpoints.files import real_file
from tests.engine.checkpoints.gguf_converter import convert
from tests.engine.checkpoints.test_gguf_architectures import tiny
from tests.engine.heads.test_mtp import Drafted, fp8, plain
from tests.engine.models import ours, reference


@pytest.mark.parametrize("id", ["smollm2", "coder", "coder-draft"])
def test_header_and_catalogue_agree(id: str):
    said = catalogued(catalog.entries()[id].id)
    found = checkpoint_outline(open_checkpoint(real_file(id)), id)
    assert sorted(found.layers) == sorted(said.layers)
    for own, other in zip(found.substitutes, said.substitutes, strict=True):
        assert sorted(own.layers) == sorted(other.layers)
        assert own == replace(other, layers=own.layers)
    same = {
        "substitutes": found.substitutes,
        "layers": found.layers,
        "layer_weights": found.layer_weights,
        "context": found.context,
    }
    assert found == replace(said, **same)
    assert found.layer_weights == pytest.approx(said.layer_weights, rel=1e-5), (
        "the last norm belongs to no layer"
    )


@pytest.mark.parametrize("id", ["smollm2", "coder", "coder-draft"])
def test_no_piece_of_a_matrix_is_larger_than_the_outline_says(id: str):
    file = open_checkpoint(real_file(id))
    matrices = [weight for weight in file.weights.values() if len(weight.shape) == 2]
    largest = max(piece.nbytes for matrix in matrices for piece in matrix.cut(1))
    assert largest + 2 * SECTOR <= checkpoint_outline(file, id).piece < 4 * largest


@pytest.mark.parametrize("kind", ["llama", "mixtral", "qwen3", "gemma3_text", "phi3"])
def test_outlines_of_checkpoints_saved_by_transformers(kind: str, tmp_path):
    module = reference(kind)
    module.save_pretrained(tmp_path)
    found = checkpoint_outline(open_checkpoint(tmp_path), "tiny")
    config = module.config
    head_dim = getattr(config, "head_dim", None) or config.hidden_size // config.num_attention_heads
    assert len(found.layers) == config.num_hidden_layers
    assert found.kv_row == 2 * config.num_hidden_layers * config.num_key_value_heads * head_dim
    assert (found.hidden, found.vocabulary) == (config.hidden_size, config.vocab_size)
    assert found.tied == config.tie_word_embeddings
    assert found.states == 0


def test_inputs_of_layers_are_a_table_and_shared_rows_count_once(tmp_path):
    module = reference("gemma4_text")
    module.save_pretrained(tmp_path)
    file = open_checkpoint(tmp_path)
    found = checkpoint_outline(file, "tiny")
    config, norm = module.config, file.weights["model.norm.weight"].nbytes
    inputs = file.weights["model.embed_tokens_per_layer.weight"].nbytes
    projection = file.weights["model.per_layer_model_projection.weight"].nbytes
    assert found.compiled
    assert found.tables == inputs, "the embedding is the head"
    assert found.layers[0] == projection + found.layers[2] > found.layers[2]
    assert found.layers[4] > found.layers[2], "an MLP twice as wide outweighs keys and values"
    narrow = file.weights["model.per_layer_projection_norm.weight"].nbytes
    assert found.nbytes == sum(weight.nbytes for weight in file.weights.values()) - norm - narrow
    own = [config.per_layer_config[layer] for layer in range(4)]  # those behind read their rows
    assert found.kv_row == sum(2 * layer.num_key_value_heads * layer.head_dim for layer in own)


def test_a_file_of_vectors_is_packed_slower(tmp_path):
    module = tiny("llama", hidden_size=256, intermediate_size=512, num_attention_heads=8, head_dim=32)
    speeds = {}
    for name in ("Q4_K", "IQ2_XXS"):
        file = open_checkpoint(convert(module, tmp_path / f"{name}.gguf", storage=name))
        speeds[name] = checkpoint_outline(file, name).packing
    assert speeds["Q4_K"] == 1.0
    assert 0.9 * PACKING["IQ2_XXS"] < speeds["IQ2_XXS"] < PACKING["IQ2_XXS"], "norms are not packed"


def tail_nbytes(tail) -> int:
    parts = tail.delta._parts if tail.delta else ()
    return sum(part.nbytes for part in (tail.inputs, *parts))


@pytest.mark.parametrize(
    "kind", ["qwen3_5_text", "lfm2", "lfm2_moe", "granitemoehybrid", "nemotron_h", "nemotron_h_experts"]
)
def test_states_count_as_memory_and_only_layers_that_attend_have_rows(kind: str, tmp_path):
    module = reference(kind)
    module.save_pretrained(tmp_path)
    found = checkpoint_outline(open_checkpoint(tmp_path), "tiny")
    cache = ours(module).new_cache(64)
    assert found.kv_row == 2 * 1 * module.config.num_key_value_heads * head_dim(module.config)
    assert cache.nbytes == 4 * found.kv_row * 65 + 2 * found.states
    assert cache.saved_nbytes == 6 * found.states
    model = ours(module)
    states = model.new_cache(64)
    visible = np.eye(3, dtype=np.bool_)
    model.forward(Rows(np.array([5, 6, 7]), np.zeros(3, np.int64), visible), states)
    kept = sum(tail_nbytes(states.memory(layer).tail) for layer in model._state_shapes)
    assert 0 < kept <= 3 * found.state_row
    assert kept == 3 * states.record_nbytes
    counted = sum(parameter.numel() for parameter in module.parameters())
    assert found.weights == pytest.approx(counted, rel=0.01)
    assert found.nbytes == pytest.approx(sum(p.nbytes for p in module.parameters()), rel=0.01)
    assert not found.packed
    assert (found.active < 0.8) == (kind in ("nemotron_h_experts", "lfm2_moe"))  # the mixtures here


def test_the_outline_of_a_catalogue_model_is_computed_once():
    """A recommendation asks for all of them, and a program for several recommendations."""
    assert catalogued("llama-3.3-70b-awq") is catalogued("llama-3.3-70b-awq")


def test_a_catalogue_mixture_uses_two_experts_of_eight():
    found = catalogued("mixtral-8x7b-awq")
    assert found.active == pytest.approx(12.6 / 46.4, abs=0.01)
    assert found.uncut > 0, "AWQ's matrices are moved whole"
    assert catalogued("mixtral-8x7b-q4_k_m").uncut == 0


@pytest.mark.parametrize("write", [plain, fp8])
def test_the_layer_for_drafts_counts_as_it_will_be_in_memory(write, tmp_path):
    file = open_checkpoint(write(Drafted("qwen3_5_text"), tmp_path))
    found = checkpoint_outline(file, "tiny")
    layer = load_mtp(draft_layer(file), torch.bfloat16, "cpu")
    heads, width = file.config["num_key_value_heads"], file.config["head_dim"]
    weights = sum(parameter.nbytes for parameter in layer.parameters())
    weights += sum(matrix.nbytes for matrix in packed_in(layer))
    counted = found.own_layer.nbytes(context=10, itemsize=2)
    assert counted == pytest.approx(weights + 10 * 2 * heads * width * 2, rel=0.05)
    assert len(found.layers) == file.config["num_hidden_layers"]


@pytest.mark.parametrize("kind", ["qwen3_5_text", "glm4_moe"])
def test_a_catalogue_model_counts_the_matrices_of_its_layer_for_drafts(kind, tmp_path):
    figures, _ = model_of(kind)
    layer = draft_layer(open_checkpoint(plain(Drafted(kind), tmp_path)))
    stored = [weight for weight in layer.weights.values() if len(weight.shape) == 2]
    found = list(sizes.mtp_matrices(figures, catalog.entries()["llama-3.1-8b-q4_k_m"]))
    assert sum(rows * columns * count for rows, columns, count in found) == sum(w.numel for w in stored)
    assert max(rows for rows, _, _ in found) == max(weight.shape[0] for weight in stored)
    assert catalogued("qwen3.5-0.8b-q8_0").own_layer.widest == 2 * 8 * 256, "queries with their gates"
