"""gpt-oss from its own folders as a compiled program: experts in MXFP4, gate and up in turn."""

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file
from transformers.integrations.mxfp4 import convert_moe_packed_tensors

from engine.checkpoints import open_checkpoint
from engine.errors import BadCheckpoint
from engine.formats import joined, unpacked
from engine.machine.disk_reads import SECTOR
from engine.model.compiled import CompiledModel
from engine.model.interface import no_progress
from engine.model.loader import can_stream_compiled, load_compiled, prepare_compiled
from engine.model.sequence import Sequence
from engine.planner.outline import checkpoint_outline
from engine.streaming import WeightLimits, chunks
from engine.torch_model.loader import load_model
from tests.engine.model.compiled_models import (
    CONTEXT,
    TEXT,
    Branches,
    all_logits,
    assert_close,
    random_text,
    tiny,
)
from tests.engine.torch_model.test_gpt_oss import packed_folder

SMALL = range(117, 121)  # of scales: activations are rounded to int8, which such weights keep small
LIMITS = (290_000, 390_000)  # bytes: two slots of the ring, and a few of the cache of experts


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    """transformers' model, and its folder."""
    module = tiny("gpt_oss")
    return module, packed_folder(module, tmp_path_factory.mktemp("gpt-oss"), SMALL)


@pytest.fixture(scope="module")
def model(written):
    file = open_checkpoint(written[1])
    prepare_compiled(file)
    return load_compiled(file, no_progress, CONTEXT)


@pytest.mark.parametrize("in_turn", [False, True])
def test_joined_blocks_have_the_numbers_of_the_parts(in_turn):
    random = torch.Generator().manual_seed(1)
    blocks = torch.randint(256, (1, 12, 3, 16), dtype=torch.uint8, generator=random)
    scales = torch.randint(0, 253, (1, 12, 3), dtype=torch.uint8, generator=random)
    parts, out = [part.numpy().reshape(-1) for part in (blocks, scales)], np.empty(12 * 3 * 17, np.uint8)
    joined.join(parts, (12, 96), in_turn, out)
    expected = convert_moe_packed_tensors(blocks, scales, dtype=torch.float32)[0].numpy().T
    if in_turn:
        expected = np.concatenate([expected[::2], expected[1::2]])
    assert np.array_equal(unpacked(joined.JOINED, out, 12 * 96).reshape(12, 96), expected)


def test_a_text_has_the_logits_of_transformers(written, model):
    assert isinstance(model, CompiledModel)
    module, folder = written
    with torch.inference_mode():
        expected = module(torch.tensor([TEXT])).logits[0]
    assert_close(all_logits(model, TEXT), expected)
    through_torch = load_model(open_checkpoint(folder), torch.float32, "cpu", no_progress, CONTEXT)
    assert_close(all_logits(model, TEXT), all_logits(through_torch, TEXT))


@pytest.mark.parametrize("name", ["gate_up_proj_bias", "down_proj_bias"])
def test_the_tolerance_notices_other_biases_of_experts(written, model, tmp_path, name):
    module, _ = written
    packed_folder(module, tmp_path, SMALL)
    tensors = load_file(tmp_path / "model.safetensors")
    bias = tensors[f"model.layers.1.mlp.experts.{name}"]
    bias.copy_(torch.randn(bias.shape, generator=torch.Generator().manual_seed(4)))
    save_file(tensors, tmp_path / "model.safetensors")
    other = load_compiled(open_checkpoint(tmp_path), no_progress, CONTEXT)
    expected = load_model(open_checkpoint(tmp_path), torch.float32, "cpu", no_progress, CONTEXT)
    assert_close(all_logits(other, TEXT), all_logits(expected, TEXT))
    with pytest.raises(AssertionError):
        assert_close(all_logits(model, TEXT), all_logits(expected, TEXT))


def test_each_node_of_a_tree_has_the_bits_of_its_path_as_text(model):
    tree = Branches.grown(36, 1)
    for sizes in ([36], [1, 11, 24], [1] * 36):
        sequence = Sequence(model, CONTEXT)
        sequence.extend(TEXT[:7])
        found = np.concatenate([logits for logits, _ in tree.consider(sequence, sizes)])
        for path, text in tree.texts(TEXT[:7]):
            assert np.array_equal(found[path], all_logits(model, text)[7:])


@pytest.mark.parametrize("limit", LIMITS)
def test_streamed_experts_give_the_bits_of_resident_ones(written, model, limit, monkeypatch):
    monkeypatch.setattr(chunks, "GAP_NBYTES", SECTOR)  # in such small files all spans are close together
    file = open_checkpoint(written[1])
    assert can_stream_compiled(file)
    streamed = load_compiled(file, no_progress, CONTEXT, limits=WeightLimits(limit))
    try:
        matrices = streamed.nbytes - sum(vector.nbytes for vector in streamed.weights.vectors.values())
        assert matrices <= limit
        for text in (TEXT, [5], random_text(50)):
            assert np.array_equal(all_logits(streamed, text), all_logits(model, text))
        assert streamed.experts.misses
    finally:
        streamed.close()


def test_experts_take_the_bytes_of_the_file(written, model):
    """Without a copy in another format. Tiles round up their scales to a cache line."""
    file = open_checkpoint(written[1])
    experts = {name: weight for name, weight in file.weights.items() if weight.format == joined.APART}
    for name, weight in experts.items():
        (matrix,) = model.weights.matrices[name]
        assert matrix.layout == joined.JOINED
        assert weight.nbytes <= matrix.nbytes < 1.3 * weight.nbytes
    assert checkpoint_outline(file, "gpt-oss").compiled


def test_scales_that_are_not_finite_are_refused(written, tmp_path):
    module, _ = written
    packed_folder(module, tmp_path, SMALL)
    tensors = load_file(tmp_path / "model.safetensors")
    tensors["model.layers.1.mlp.experts.down_proj_scales"][2, 5, 1] = 255
    save_file(tensors, tmp_path / "model.safetensors")
    with pytest.raises(BadCheckpoint, match=r"layers.1.mlp.experts.2.down_proj"):
        load_compiled(open_checkpoint(tmp_path), no_progress, CONTEXT)
