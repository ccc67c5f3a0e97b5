"""gpt-oss from its own folders, with experts in MXFP4, against transformers: plain, as a tree, rewound,
streamed."""

import json

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file
from transformers.integrations.mxfp4 import convert_moe_packed_tensors

from engine.checkpoints import open_checkpoint
from engine.errors import BadCheckpoint, UnsupportedModel
from engine.machine.disk_reads import SECTOR
from engine.model.interface import no_progress
from engine.model.sequence import Sequence
from engine.streaming import WeightLimits, chunks
from engine.torch_model.loader import load_model
from tests.engine.models import CONTEXT, reference

TEXT = [1, 5, 9, 30, 2, 44, 17, 8, 60, 3, 3, 21, 33, 52, 11, 40, 6, 28, 19, 55]
LIMIT = 160_000
SIZES = dict(hidden_size=64, intermediate_size=96)


@pytest.fixture(autouse=True)
def gap_of_one_sector(monkeypatch):
    """Join only spans within a sector of each other: in such small files all of them are close together."""
    monkeypatch.setattr(chunks, "GAP_NBYTES", SECTOR)


def packed_folder(module, folder, exponents=range(121, 126)):
    """Write the module's folder with random experts in MXFP4, as gpt-oss has them on the Hub, and give the
    module these experts. exponents: the bytes of scales."""
    tensors, random = dict(module.state_dict()), torch.Generator().manual_seed(3)
    for name in [name for name in tensors if name.endswith((".gate_up_proj", "experts.down_proj"))]:
        experts, columns, rows = tensors[name].shape
        blocks = torch.randint(256, (experts, rows, columns // 32, 16), dtype=torch.uint8, generator=random)
        scales = torch.randint(
            exponents.start, exponents.stop, blocks.shape[:3], dtype=torch.uint8, generator=random
        )
        del tensors[name]
        tensors |= {f"{name}_blocks": blocks, f"{name}_scales": scales}
        module.get_parameter(name).data = convert_moe_packed_tensors(blocks, scales, dtype=torch.float32)
    folder.mkdir(exist_ok=True)
    save_file({name: tensor.contiguous() for name, tensor in tensors.items()}, folder / "model.safetensors")
    settings = module.config.to_dict() | {"quantization_config": {"quant_method": "mxfp4"}}
    (folder / "config.json").write_text(json.dumps(settings))
    return folder


@pytest.fixture(scope="module")
def stored(tmp_path_factory):
    module = reference("gpt_oss", **SIZES)
    return module, packed_folder(module, tmp_path_factory.mktemp("gpt-oss"))


def load(folder, **how):
    return load_model(open_checkpoint(folder), torch.float32, "cpu", no_progress, context=CONTEXT, **how)


def expected(module, text):
    with torch.inference_mode():
        return module(torch.tensor([text])).logits[0, -1]


@pytest.mark.parametrize("how", [{}, {"packed": True}, {"limits": WeightLimits(LIMIT)}])
def test_experts_in_mxfp4_give_the_logits_of_transformers(stored, how):
    module, folder = stored
    model = load(folder, **how)
    sequence = Sequence(model, CONTEXT)
    for text in (TEXT, [*TEXT[:5], *TEXT[:6]], TEXT):  # the second and third rewind
        sequence.align(text[:-1])
        logits = sequence.extend(text[len(sequence.ids) :])
        torch.testing.assert_close(logits, expected(module, text), rtol=1e-4, atol=1e-4)
    assert (model.experts is not None) == ("limits" in how)
    model.close()


def test_each_path_of_a_tree_has_the_logits_of_its_text(stored):
    module, folder = stored
    model = load(folder, packed=True)
    sequence = Sequence(model, CONTEXT)
    sequence.extend(TEXT)
    tokens, parents = [7, 9, 11, 4, 8, 30], [-1, -1, 0, 0, 2, 1]
    paths = []
    for node, parent in enumerate(parents):
        paths.append([*(paths[parent] if parent >= 0 else []), node])
    visible = np.array([[node in path for node in range(len(tokens))] for path in paths])
    positions = [len(TEXT) + len(path) - 1 for path in paths]
    logits = sequence.consider(tokens, positions, visible).logits
    for node, path in enumerate(paths):
        text = [*TEXT, *(tokens[each] for each in path)]
        torch.testing.assert_close(logits[node], expected(module, text), rtol=1e-4, atol=1e-4)


def test_packed_experts_take_no_more_memory_than_in_the_file(stored):
    checkpoint = open_checkpoint(stored[1])
    experts = [
        weight for name, weight in checkpoint.weights.items() if ".experts." in name and "bias" not in name
    ]
    assert {weight.format for weight in experts} == {"MXFP4_APART"}
    assert sum(weight.nbytes for weight in experts) * 32 == 17 * sum(weight.numel for weight in experts)


def test_scales_that_are_missing_are_named(stored, tmp_path):
    module, _ = stored
    packed_folder(module, tmp_path)
    tensors = load_file(tmp_path / "model.safetensors")
    del tensors["model.layers.1.mlp.experts.down_proj_scales"]
    save_file(tensors, tmp_path / "model.safetensors")
    with pytest.raises(BadCheckpoint, match=r"layers.1.mlp.experts.down_proj_blocks"):
        open_checkpoint(tmp_path)


def test_scales_that_are_not_finite_are_refused(stored, tmp_path):
    module, _ = stored
    packed_folder(module, tmp_path)
    tensors = load_file(tmp_path / "model.safetensors")
    tensors["model.layers.1.mlp.experts.down_proj_scales"][2, 5, 1] = 255
    save_file(tensors, tmp_path / "model.safetensors")
    with pytest.raises(BadCheckpoint, match=r"layers.1.mlp.experts.2.down_proj"):
        load(tmp_path, packed=True)


def test_experts_that_are_unpacked_and_transposed_are_refused(tmp_path):
    reference("gpt_oss").save_pretrained(tmp_path)
    with pytest.raises(UnsupportedModel, match="transposed"):
        open_checkpoint(tmp_path)
