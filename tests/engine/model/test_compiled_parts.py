"""FP8, NVFP4 with factors and W4A16 run in compiled passes, with the numbers that the files store."""

import json

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file

from engine.checkpoints import open_checkpoint
from engine.machine.disk_reads import SECTOR
from engine.model.compiled import CompiledModel
from engine.model.compiled_weights import read_weights
from engine.model.interface import no_progress
from engine.model.loader import can_stream_compiled, load_compiled, prepare_compiled
from engine.model.sequence import Sequence
from engine.model.weight_names import usual_names
from engine.planner.outline import checkpoint_outline
from engine.protocol import Chat, Load, Message, Options
from engine.serving.service import EngineService
from engine.streaming import WeightLimits, chunks
from engine.torch_model.loader import load_model
from tests.engine.checkpoints.gguf_converter import convert
from tests.engine.heads.test_service import write_target
from tests.engine.model.compiled_models import (
    CONTEXT,
    TEXT,
    Branches,
    all_logits,
    assert_close,
    tiny,
)
from tests.engine.quantization.test_factored import factors_of
from tests.engine.quantization.test_fp8 import scaled
from tests.engine.quantization.test_nibbles import write as write_nibbles

# name: how many numbers share a scale, type of the scales, name of the scales, settings
GROUP = {"weights": {"num_bits": 8, "type": "float", "strategy": "channel", "symmetric": True}}
BLOCKS = {"quant_method": "fp8", "weight_block_size": [128, 128]}
ROWS = {"quant_method": "compressed-tensors", "config_groups": {"a": GROUP}}
WAYS = {
    "blocks": ("block", torch.float32, "_scale_inv", BLOCKS),
    "rows": ("row", torch.bfloat16, "_scale", ROWS),
    "modelopt": ("matrix", torch.float32, "_scale", {"quant_method": "modelopt", "quant_algo": "FP8"}),
}
LEFT = ("gate.weight", "embed_tokens.weight", "embeddings.weight", "lm_head.weight")
LIMIT = 300 << 10  # bytes: two slots and few resident matrices
NIBBLES = ("NVFP4_SCALED", "NVFP4_APART", "W4_BF16", "W4_ZEROS")


def write(folder, kind, way, **sizes):
    """Write a tiny model as a folder in FP8; return transformers' module with the numbers that are stored."""
    module = tiny(kind, **sizes)
    share, dtype, leaf, settings = WAYS[way]
    tensors = module.state_dict()

    def add(name, matrix):
        scales, spread = scaled(matrix, share, dtype)
        numbers = (matrix / spread).clamp(-448, 448).to(torch.float8_e4m3fn)
        matrix.copy_(numbers.float() * spread)
        tensors.update({name: numbers, name + leaf: scales})

    for name, parameter in module.named_parameters():
        path, _, kinds = name.rpartition(".")
        if parameter.ndim == 3 and path.endswith(".experts"):
            names = kinds.removesuffix("_proj").split("_")
            del tensors[name]
            for expert, stack in enumerate(parameter.data):
                for part, matrix in zip(names, stack.chunk(len(names)), strict=True):
                    add(f"{path}.{expert}.{part}_proj.weight", matrix)
        elif parameter.ndim == 2 and not name.endswith(LEFT):
            add(name, parameter.data)
    if module.config.tie_word_embeddings:
        tensors.pop("lm_head.weight", None)
    save_file(tensors, folder / "model.safetensors")
    config = json.loads(module.config.to_json_string(use_diff=False))
    (folder / "config.json").write_text(json.dumps(config | {"quantization_config": settings}))
    return module


def loaded(source, **options):
    model = load_compiled(open_checkpoint(source), no_progress, CONTEXT, **options)
    assert isinstance(model, CompiledModel)
    return model


def expected_of(module):
    with torch.inference_mode():
        return module(torch.tensor([TEXT])).logits[0]


def assert_streamed_is_the_same(source, limit=LIMIT):
    """Stream what does not fit in so many bytes, and find the bits of a model that is in memory."""
    checkpoint = open_checkpoint(source)
    assert can_stream_compiled(checkpoint)
    streamed = loaded(source, limits=WeightLimits(limit))
    assert np.array_equal(all_logits(streamed, TEXT), all_logits(loaded(source), TEXT))
    assert streamed.moved > 0
    streamed.close()


@pytest.mark.parametrize(
    ("kind", "way"),
    [
        *(("llama", way) for way in WAYS),
        *((kind, "blocks") for kind in ("qwen3_5_text", "qwen3_moe", "qwen3_next")),
        *((kind, "modelopt") for kind in ("granitemoehybrid", "nemotron_h", "nemotron_h_experts")),
    ],
)
def test_logits_of_fp8_are_close_to_those_of_the_numbers(kind, way, tmp_path):
    module = write(tmp_path, kind, way)
    prepare_compiled(open_checkpoint(tmp_path))
    assert_close(all_logits(loaded(tmp_path), TEXT), expected_of(module))
    assert checkpoint_outline(open_checkpoint(tmp_path), "x").compiled


@pytest.mark.parametrize("way", WAYS)
def test_every_matrix_of_fp8_holds_its_numbers_bit_for_bit(way, tmp_path):
    module = write(tmp_path, "qwen3_5_text", way)
    checkpoint = open_checkpoint(tmp_path)
    weights = usual_names(checkpoint.architecture, checkpoint.weights)
    read = read_weights(weights, module.config.tie_word_embeddings, None, no_progress, no_progress)
    for name, matrices in read.matrices.items():
        if name in dict(module.named_parameters()):
            numbers = np.empty(weights[name].shape, np.float32)
            matrices[0].rows(np.arange(len(numbers)), numbers)
            assert np.array_equal(numbers, module.get_parameter(name).detach().numpy())


@pytest.mark.parametrize(("kind", "limit"), [("llama", LIMIT), ("qwen3_next", 700_000)])
def test_streamed_fp8_gives_the_bits_of_what_stays_in_memory(kind, limit, tmp_path):
    write(tmp_path, kind, "blocks", intermediate_size=512)
    assert_streamed_is_the_same(tmp_path, limit)


def write_small(folder, name):
    """Write a tiny model in numbers of four bits, as small as those of real models."""
    module = write_nibbles(folder, name, tiny("llama", intermediate_size=1024))
    tensors = load_file(folder / "model.safetensors")
    size = 1 / 64 if name.startswith("NVFP4") else 1 / 8
    for key, tensor in tensors.items():
        if key.endswith("weight_global_scale"):
            tensor /= size
        elif key.endswith("weight_scale_2") or (key.endswith("weight_scale") and size == 1 / 8):
            tensor *= size
    save_file(tensors, folder / "model.safetensors")
    for key, parameter in module.named_parameters():
        if key.endswith("_proj.weight"):
            parameter.data *= size
    return module


@pytest.mark.parametrize("name", NIBBLES)
def test_four_bits_in_parts_resident_and_streamed(name, tmp_path):
    module = write_small(tmp_path, name)
    assert_close(all_logits(loaded(tmp_path), TEXT), expected_of(module))
    assert_streamed_is_the_same(tmp_path)
    assert checkpoint_outline(open_checkpoint(tmp_path), "x").compiled


def test_nvfp4_with_factors_of_gguf_resident_and_streamed(tmp_path):
    module = tiny("llama", intermediate_size=1024)
    factors = factors_of(module.config.num_hidden_layers)
    # Activations are rounded to int8: small weights keep what that changes within the tolerance.
    more = {f"{name}.scale": factor / 16 for name, factor in factors.items()}
    path = convert(module, tmp_path / "model.gguf", tensors=more, storage="NVFP4")
    file = open_checkpoint(path)
    assert "NVFP4_FACTORED" in {weight.format for weight in file.weights.values()}
    through_torch = load_model(file, torch.float32, "cpu", no_progress, CONTEXT)
    assert_close(all_logits(loaded(path), TEXT), all_logits(through_torch, TEXT))
    assert_streamed_is_the_same(path)


@pytest.mark.parametrize(("kind", "way"), [("qwen3_5_text", "blocks"), ("llama", "rows")])
def test_each_node_of_a_tree_has_the_bits_of_its_path_as_text(kind, way, tmp_path):
    write(tmp_path, kind, way)
    model, tree = loaded(tmp_path), Branches.grown(12, 1)
    sequence = Sequence(model, CONTEXT)
    sequence.extend(TEXT[:7])
    found = np.concatenate([logits for logits, _ in tree.consider(sequence, [1, 11])])
    for path, text in tree.texts(TEXT[:7]):
        assert np.array_equal(found[path], all_logits(model, text)[7:])


def test_what_has_no_tiles_goes_through_torch(tmp_path):
    write_nibbles(tmp_path, "W4_F32", tiny("llama"))
    assert load_compiled(open_checkpoint(tmp_path), no_progress, CONTEXT) is None
    assert not can_stream_compiled(open_checkpoint(tmp_path))


def test_groups_of_another_size_go_through_torch_and_are_planned_so(tmp_path):
    """Groups of 32 in place of 16: their scales would be taken for those of neighbours."""
    write_nibbles(tmp_path, "NVFP4_APART", tiny("llama"))
    assert checkpoint_outline(open_checkpoint(tmp_path), "llama").compiled
    file = tmp_path / "model.safetensors"
    tensors = load_file(file)
    scales = {
        name: each[:, ::2].contiguous() for name, each in tensors.items() if name.endswith("weight_scale")
    }
    save_file(tensors | scales, file)
    assert load_compiled(open_checkpoint(tmp_path), no_progress, CONTEXT) is None
    assert not checkpoint_outline(open_checkpoint(tmp_path), "llama").compiled


@pytest.mark.parametrize("limit", [None, LIMIT], ids=["resident", "streamed"])
def test_the_service_answers_from_fp8_in_compiled_passes(limit, tmp_path, monkeypatch):
    monkeypatch.setattr(chunks, "GAP_NBYTES", SECTOR)  # in such small files all spans are close together
    write_target(tmp_path)
    write(tmp_path, "llama", "modelopt", intermediate_size=512)
    engine = EngineService()
    request = Load(id=1, target=str(tmp_path), device="cpu", context=64, ram_limit=limit and limit / 2**30)
    engine.load(request, lambda event: None, lambda: False)
    try:
        assert isinstance(engine.session.pair.target.model, CompiledModel)
        chat = Chat(id=2, messages=[Message("user", "HELLO")], options=Options(seed=4, max_new_tokens=5))
        answer = engine.answer(chat, lambda event: None, lambda: False)
    finally:
        engine.unload()
    assert answer.tokens > 0
    assert (answer.bytes_streamed > 0) == bool(limit)
