"""GPTQ and AWQ run in compiled passes where these have the same numbers, and through torch elsewhere."""

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file

from engine.checkpoints import open_checkpoint
from engine.checkpoints.grouped import without_plain_indices
from engine.errors import BadCheckpoint
from engine.machine.disk_reads import SECTOR
from engine.model.compiled import CompiledModel
from engine.model.compiled_weights import read_weights
from engine.model.interface import no_progress
from engine.model.loader import load_compiled, prepare_compiled
from engine.model.sequence import Sequence
from engine.protocol import Chat, Load, Message, Options
from engine.serving.service import EngineService
from engine.streaming import WeightLimits, chunks
from engine.torch_model.loader import load_model
from tests.engine.heads.test_service import write_target
from tests.engine.model.compiled_models import (
    CONTEXT,
    TEXT,
    TOLERANCE,
    Branches,
    all_logits,
    assert_close,
    difference,
    tiny,
)
from tests.engine.quantization.test_folders import write

# Activations are rounded to int8: weights of this range keep what that changes within the tolerance.
GOOD = dict(size=32, act_order=False, range=0.03)
LIMIT = 100_000  # bytes: a part of the model
MATRIX = "model.layers.1.mlp.up_proj"


def loaded(folder, **options):
    return load_compiled(open_checkpoint(folder), no_progress, CONTEXT, **options)


def change(folder, name, edit):
    tensors = load_file(folder / "model.safetensors")
    edit(tensors[name])
    save_file(tensors, folder / "model.safetensors")


every_setting = pytest.mark.parametrize(
    ("method", "settings"),
    [
        ("gptq", dict()),
        ("gptq", dict(symmetric=True, size=-1)),
        ("gptq", dict(bits=2, size=64)),
        ("gptq", dict(bits=3)),
        ("gptq", dict(bits=8, symmetric=True)),
        ("awq", dict()),
        ("awq", dict(size=-1)),
    ],
)


@pytest.mark.parametrize("kind", ["llama", "qwen2"])
@every_setting
def test_logits_are_close_to_those_of_the_unpacked_numbers(tmp_path, kind, method, settings):
    module = tiny(kind)
    write(tmp_path, module, method, **GOOD | settings)
    prepare_compiled(open_checkpoint(tmp_path))
    model = loaded(tmp_path)
    assert isinstance(model, CompiledModel)
    with torch.inference_mode():
        expected = module(torch.tensor([TEXT])).logits[0]
    found = all_logits(model, TEXT)
    assert_close(found, expected)
    through_torch = load_model(open_checkpoint(tmp_path), torch.float32, "cpu", no_progress, CONTEXT)
    assert_close(found, all_logits(through_torch, TEXT))


@every_setting
def test_every_matrix_holds_its_numbers_bit_for_bit(tmp_path, method, settings):
    module = tiny("qwen2")
    write(tmp_path, module, method, **GOOD | settings)
    weights = without_plain_indices(open_checkpoint(tmp_path).weights)
    read = read_weights(weights, module.config.tie_word_embeddings, None, no_progress, no_progress)
    for name, matrices in read.matrices.items():
        numbers = np.empty(weights[name].shape, np.float32)
        matrices[0].rows(np.arange(len(numbers)), numbers)
        assert np.array_equal(numbers, module.get_parameter(name).detach().numpy())


@pytest.mark.parametrize("method", ["gptq", "awq"])
def test_each_node_of_a_tree_has_the_bits_of_its_path_as_text(tmp_path, method):
    write(tmp_path, tiny("qwen2"), method, **GOOD)
    model, tree = loaded(tmp_path), Branches.grown(36, 1)
    for sizes in ([36], [1, 11, 24], [1] * 36):
        sequence = Sequence(model, CONTEXT)
        sequence.extend(TEXT[:7])
        found = np.concatenate([logits for logits, _ in tree.consider(sequence, sizes)])
        for path, text in tree.texts(TEXT[:7]):
            assert np.array_equal(found[path], all_logits(model, text)[7:])


def test_an_index_that_repeats_the_group_size_is_as_none(tmp_path):
    write(tmp_path, tiny("llama"), "gptq", **GOOD)
    expected = all_logits(loaded(tmp_path), TEXT)
    tensors = load_file(tmp_path / "model.safetensors")
    save_file({name: t for name, t in tensors.items() if "g_idx" not in name}, tmp_path / "model.safetensors")
    assert np.array_equal(all_logits(loaded(tmp_path), TEXT), expected)


ELSEWHERE = [
    ("gptq", dict(act_order=True), {}),
    ("gptq", dict(bits=8), {}),
    ("gptq", dict(scales=torch.bfloat16), {}),
    ("gptq", dict(size=16), {}),
    ("awq", dict(scales=torch.bfloat16), {}),
    ("awq", dict(), dict(limits=WeightLimits(LIMIT))),
]


@pytest.mark.parametrize(("method", "settings", "options"), ELSEWHERE)
def test_the_service_answers_through_torch_elsewhere(tmp_path, monkeypatch, method, settings, options):
    monkeypatch.setattr(chunks, "GAP_NBYTES", SECTOR)  # in such small files all spans are close together
    write_target(tmp_path)
    write(tmp_path, tiny("llama"), method, **GOOD | settings)
    assert loaded(tmp_path, **options) is None
    engine = EngineService()
    limit = LIMIT / 2**30 if options else None
    request = Load(id=1, target=str(tmp_path), device="cpu", context=64, ram_limit=limit)
    engine.load(request, lambda event: None, lambda: False)
    try:
        chat = Chat(id=2, messages=[Message("user", "HELLO")], options=Options(seed=4, max_new_tokens=5))
        answer = engine.answer(chat, lambda event: None, lambda: False)
    finally:
        engine.unload()
    assert answer.tokens > 0
    assert (answer.bytes_streamed > 0) == bool(options)


def test_an_index_that_contradicts_the_settings_is_not_ignored(tmp_path):
    write(tmp_path, tiny("llama"), "gptq", **GOOD)
    change(tmp_path, f"{MATRIX}.g_idx", lambda index: index.copy_(index.flip(0)))
    assert loaded(tmp_path) is None


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
@pytest.mark.parametrize("method", ["gptq", "awq"])
def test_scales_that_are_not_finite_are_refused(tmp_path, method, value):
    write(tmp_path, tiny("llama"), method, **GOOD)
    change(tmp_path, f"{MATRIX}.scales", lambda scales: scales[1, 3:4].fill_(value))
    with pytest.raises(BadCheckpoint, match=MATRIX):
        loaded(tmp_path)


@pytest.mark.parametrize("part", ["qweight", "qzeros", "scales", "g_idx"])
def test_files_that_end_too_early_are_refused(tmp_path, part):
    write(tmp_path, tiny("llama"), "gptq", **GOOD)
    checkpoint, file = open_checkpoint(tmp_path), tmp_path / "model.safetensors"
    place = ["qweight", "qzeros", "scales", "g_idx"].index(part)
    span = checkpoint.weights[f"{MATRIX}.weight"].spans[place]
    file.write_bytes(file.read_bytes()[: span.offset + span.nbytes - 1])
    with pytest.raises(BadCheckpoint):
        load_compiled(checkpoint, no_progress, CONTEXT)


def test_any_zero_points_are_read(tmp_path):
    write(tmp_path, tiny("llama"), "awq", **GOOD)
    change(tmp_path, f"{MATRIX}.qzeros", lambda zeros: zeros.random_(-(1 << 31), (1 << 31) - 1))
    through_torch = load_model(open_checkpoint(tmp_path), torch.float32, "cpu", no_progress, CONTEXT)
    assert difference(all_logits(loaded(tmp_path), TEXT), all_logits(through_torch, TEXT)) < TOLERANCE
