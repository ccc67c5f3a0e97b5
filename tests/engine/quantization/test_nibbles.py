"""Numbers of four bits with scales apart, as compressed-tensors and gpt-oss store them, against formulas
written after their sources: `unpack_from_int32` and `dequantize` of compressed-tensors."""

import json

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file
from transformers.integrations.mxfp4 import convert_moe_packed_tensors

from engine.checkpoints import open_checkpoint
from engine.errors import BadCheckpoint, UnsupportedModel
from engine.formats import FORMATS, NibbleFormat
from engine.model.interface import no_progress
from engine.model.sequence import Sequence
from engine.quantization.random_matrix import random_packed
from engine.streaming import WeightLimits
from engine.torch_model.loader import load_model
from tests.engine.models import reference

NAMES = [name for name, form in FORMATS.items() if isinstance(form, NibbleFormat)]
DTYPES = {"": torch.float16, "_BF16": torch.bfloat16, "_F32": torch.float32}
SHAPE = (21, 96)
TEXT = [1, 5, 9, 30, 2, 44, 17, 8, 60, 3]
MODELOPT = {"quant_algo": "NVFP4", "group_size": 16, "exclude_modules": ["lm_head"]}


def numbers(packed):
    """The numbers of a matrix, float32, by the formulas of the sources."""
    name, (rows, columns) = packed.format.name, packed.shape
    data = packed.parts[0].view(rows, -1)
    if name == "MXFP4_APART":
        blocks = data.view(1, rows, -1, 16)
        scales = packed.parts[1].view(1, rows, -1)
        return convert_moe_packed_tensors(blocks, scales, dtype=torch.float32)[0].T
    quants = torch.stack([data & 15, data >> 4], 2).view(rows, columns).int()
    if name.startswith("NVFP4"):
        scales, number = (
            packed.parts[1].view(torch.float8_e4m3fn).float(),
            packed.parts[2].view(torch.float32),
        )
        scales = scales / number if name == "NVFP4_APART" else scales * number
        table = torch.tensor([0, 0.5, 1, 1.5, 2, 3, 4, 6])
        return table[quants & 7] * (1 - 2 * (quants >> 3)) * scales.view(rows, -1).repeat_interleave(16, 1)
    suffix = name.removeprefix("W4").removeprefix("_ZEROS")
    scales = packed.parts[1].view(DTYPES[suffix]).float().view(rows, -1)
    zeros = torch.full(scales.shape, 8)
    if "ZEROS" in name:
        words = packed.parts[2].view(torch.int32).view(-1, scales.shape[1])
        zeros = torch.stack([words >> 4 * row & 15 for row in range(8)], 1).flatten(0, 1)[:rows]
    return (quants - zeros.repeat_interleave(32, 1)).float() * scales.repeat_interleave(32, 1)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16])
def test_numbers_are_those_of_the_source(name, dtype):
    packed = random_packed(name, SHAPE, "cpu", dtype)
    assert packed.format.valid([part.numpy() for part in packed.parts])
    assert torch.equal(packed.dense(), numbers(packed).to(dtype))


@pytest.mark.parametrize("name", NAMES)
def test_rows_from_the_middle_are_those_of_the_whole(name):
    packed = random_packed(name, SHAPE, "cpu", torch.float32)
    from engine.quantization import operations

    found = operations.unpack(packed.format, packed.parts, SHAPE, 5, 11, torch.empty(11 * SHAPE[1]))
    assert torch.equal(found, numbers(packed)[5:16])


@pytest.mark.parametrize("name", NAMES)
def test_scales_that_are_not_finite_are_invalid(name):
    packed = random_packed(name, SHAPE, "cpu", torch.float32)
    parts = [part.numpy().copy() for part in packed.parts]
    if isinstance(packed.format.scales, str):
        parts[1][7] = 0xFF
    else:
        parts[1].view(np.uint8)[-2:] = 0xFF
    assert not packed.format.valid(parts)


def write(folder, name, module=None):
    """The folder of a tiny llama whose layers are stored in that format; returns the module with their
    numbers."""
    module = module or reference("llama", hidden_size=64, intermediate_size=96)
    tensors = dict(module.state_dict())
    tensors.pop("lm_head.weight", None)
    for key in [key for key in tensors if key.endswith("_proj.weight")]:
        packed = random_packed(name, tuple(tensors.pop(key).shape), "cpu", torch.float32, seed=len(tensors))
        module.get_parameter(key).data = numbers(packed)
        rows = packed.shape[0]
        kinds = DTYPES.get(name.removeprefix("W4").removeprefix("_ZEROS"), torch.float8_e4m3fn)
        made = {"weight_scale": packed.parts[1].view(kinds).view(rows, -1)}
        if name == "NVFP4_APART":
            made |= {"weight_packed": packed.parts[0].view(rows, -1)}
            made |= {"weight_global_scale": packed.parts[2].view(torch.float32)}
        elif name == "NVFP4_SCALED":
            made |= {"weight": packed.parts[0].view(rows, -1), "input_scale": torch.ones(())}
            made |= {"weight_scale_2": packed.parts[2].view(torch.float32)[0]}
        else:
            made |= {"weight_packed": packed.parts[0].view(torch.int32).view(rows, -1)}
            made |= {"weight_shape": torch.tensor(packed.shape)}
        if "ZEROS" in name:
            made |= {"weight_zero_point": packed.parts[2].view(torch.int32).view(-(-rows // 8), -1)}
        tensors |= {key.replace("weight", part): tensor.contiguous() for part, tensor in made.items()}
    save_file(tensors, folder / "model.safetensors")
    (folder / "config.json").write_text(json.dumps(module.config.to_dict() | settings_of(name)))
    return module


def settings_of(name):
    """The settings of a folder in that format, as its config.json has them."""
    if name == "NVFP4_SCALED":
        return {"quantization_config": {"quant_method": "modelopt", **MODELOPT}}
    kind = "nvfp4-pack-quantized" if name == "NVFP4_APART" else "pack-quantized"
    groups = {"group_0": {"weights": {"num_bits": 4}, "targets": ["Linear"]}}
    settings = {"quant_method": "compressed-tensors", "format": kind, "config_groups": groups}
    return {"quantization_config": settings}


@pytest.mark.parametrize("name", [name for name in NAMES if name != "MXFP4_APART"])
def test_a_folder_gives_the_logits_of_its_numbers(name, tmp_path):
    module = write(tmp_path, name)
    with torch.inference_mode():
        expected = module(torch.tensor([TEXT])).logits[0, -1]
    for limits in (None, WeightLimits(120_000)):
        model = load_model(
            open_checkpoint(tmp_path), torch.float32, "cpu", no_progress, 64, packed=True, limits=limits
        )
        torch.testing.assert_close(Sequence(model, 64).extend(TEXT), expected, rtol=1e-4, atol=1e-4)
        model.close()


def test_what_does_not_fit_or_is_not_supported_is_named(tmp_path):
    write(tmp_path, "W4_ZEROS")
    file, key = tmp_path / "model.safetensors", "model.layers.0.mlp.up_proj.weight"
    tensors = load_file(file)
    save_file(tensors | {f"{key}_g_idx": torch.zeros(64, dtype=torch.int32)}, file)
    with pytest.raises(UnsupportedModel, match="g_idx"):
        open_checkpoint(tmp_path)
    save_file(tensors | {f"{key}_zero_point": tensors[f"{key}_zero_point"][:-1]}, file)
    with pytest.raises(BadCheckpoint, match="zero points"):
        open_checkpoint(tmp_path)
    save_file({name: tensor for name, tensor in tensors.items() if name != f"{key}_scale"}, file)
    with pytest.raises(BadCheckpoint, match="scales are missing"):
        open_checkpoint(tmp_path)
    config = tmp_path / "config.json"
    config.write_text(config.read_text().replace('"num_bits": 4', '"num_bits": 3'))
    with pytest.raises(UnsupportedModel, match="3 bits"):
        open_checkpoint(tmp_path)


def test_settings_of_modelopt_may_have_a_file_of_their_own(tmp_path):
    write(tmp_path, "NVFP4_SCALED")
    expected = open_checkpoint(tmp_path).weights
    config = json.loads((tmp_path / "config.json").read_text())
    del config["quantization_config"]
    (tmp_path / "config.json").write_text(json.dumps(config))
    own = tmp_path / "hf_quant_config.json"
    own.write_text(json.dumps({"producer": {"name": "modelopt"}, "quantization": MODELOPT}))
    found = open_checkpoint(tmp_path).weights
    assert {name: weight.format for name, weight in found.items()} == {
        name: weight.format for name, weight in expected.items()
    }
    own.write_text(json.dumps({"quantization": {"quant_algo": None, "kv_cache_quant_algo": "FP8"}}))
    assert {weight.format for weight in open_checkpoint(tmp_path).weights.values()} > {"U8", "F8_E4M3"}


def test_modelopt_may_store_each_layer_otherwise(tmp_path):
    module = write(tmp_path, "NVFP4_SCALED")
    file, key = tmp_path / "model.safetensors", "model.layers.0.mlp.up_proj.weight"
    numbers_of = module.get_parameter(key).data.to(torch.float8_e4m3fn)
    tensors = load_file(file) | {key: numbers_of, f"{key}_scale": torch.tensor(0.5)}
    del tensors[f"{key}_scale_2"]
    save_file(tensors, file)
    layers = {"model.layers.0.mlp.up_proj": {"quant_algo": "FP8"}, "others": {"quant_algo": "NVFP4"}}
    settings = {"quant_method": "modelopt", "quant_algo": "MIXED_PRECISION", "quantized_layers": layers}
    config = json.loads((tmp_path / "config.json").read_text())
    (tmp_path / "config.json").write_text(json.dumps(config | {"quantization_config": settings}))
    module.get_parameter(key).data = numbers_of.float() / 2
    with torch.inference_mode():
        expected = module(torch.tensor([TEXT])).logits[0, -1]
    model = load_model(open_checkpoint(tmp_path), torch.float32, "cpu", no_progress, 64, packed=True)
    torch.testing.assert_close(Sequence(model, 64).extend(TEXT), expected, rtol=1e-4, atol=1e-4)


KEY = "model.layers.0.mlp.up_proj.weight"
REFUSED = {
    "scales are missing": lambda tensors: tensors.pop(f"{KEY}_scale"),
    "do not fit": lambda tensors: tensors.update({f"{KEY}_scale": tensors[f"{KEY}_scale"][:, :2].clone()}),
    "weight_scale_2 is not one number": lambda tensors: tensors.pop(f"{KEY}_scale_2"),
    "belongs to no weight": lambda tensors: tensors.pop(KEY),
    "weight_scale: its weight, in BF16,": lambda tensors: (
        tensors.pop(f"{KEY}_scale_2"),
        tensors.update({KEY: torch.zeros(96, 64, dtype=torch.bfloat16)}),
    ),
    "weight_scale_2: its weight, in F8_E4M3,": lambda tensors: tensors.update(
        {KEY: torch.zeros(96, 64).to(torch.float8_e4m3fn), f"{KEY}_scale": torch.tensor(0.5)}
    ),
    "factors of their input": lambda tensors: tensors.update(
        {KEY.replace("weight", "pre_quant_scale"): torch.ones(64)}
    ),
}


@pytest.mark.parametrize("reason", REFUSED)
def test_what_does_not_fit_in_a_folder_of_modelopt_is_named(reason, tmp_path):
    write(tmp_path, "NVFP4_SCALED")
    tensors = load_file(tmp_path / "model.safetensors")
    REFUSED[reason](tensors)
    save_file(tensors, tmp_path / "model.safetensors")
    with pytest.raises((BadCheckpoint, UnsupportedModel), match=reason):
        open_checkpoint(tmp_path)


def test_another_algorithm_of_modelopt_is_refused(tmp_path):
    write(tmp_path, "NVFP4_SCALED")
    config = tmp_path / "config.json"
    config.write_text(config.read_text().replace('"quant_algo": "NVFP4"', '"quant_algo": "W4A8_AWQ"'))
    with pytest.raises(UnsupportedModel, match="W4A8_AWQ by ModelOpt"):
        open_checkpoint(tmp_path)
