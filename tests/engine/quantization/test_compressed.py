"""Folders as compressed-tensors itself packs them are read as it unpacks them, bit for bit."""

import json

import pytest
import torch
from compressed_tensors.compressors.nvfp4.base import NVFP4PackedCompressor
from compressed_tensors.compressors.pack_quantized.base import PackedQuantizationCompressor
from compressed_tensors.quantization import QuantizationArgs, QuantizationScheme
from safetensors.torch import save_file

from engine.checkpoints import Groups, open_checkpoint, read_span
from engine.formats import format_named
from engine.quantization.packed import Packed, Workspace
from tests.engine.models import reference

WHOLE = {
    f"{strategy}{size or ''}, {'symmetric' if symmetric else 'zero points'}, {scales}": (
        PackedQuantizationCompressor,
        dict(num_bits=4, type="int", strategy=strategy, group_size=size, symmetric=symmetric),
        getattr(torch, scales),
    )
    for strategy, size in (("group", 128), ("group", 32), ("channel", None))
    for symmetric in (True, False)
    for scales in ("bfloat16", "float16")
}
FLOAT = dict(
    num_bits=4,
    type="float",
    strategy="tensor_group",
    group_size=16,
    symmetric=True,
    scale_dtype=torch.float8_e4m3fn,
)
CASES = WHOLE | {"NVFP4": (NVFP4PackedCompressor, FLOAT, torch.bfloat16)}


def stored(weight: torch.Tensor, args: QuantizationArgs, dtype: torch.dtype) -> dict[str, torch.Tensor]:
    """The weight with scales that fit its groups, and zero points, as the compressors take them."""
    size = args.group_size or weight.shape[1]
    groups = weight.view(len(weight), -1, size)
    if args.type == "float":
        largest = groups.abs().amax(2)
        divisor = 6 * 448 / largest.max()
        scales = (largest / 6 * divisor).to(args.scale_dtype).float()
        return {"weight": weight, "weight_scale": scales, "weight_global_scale": divisor.float().view(1)}
    if args.symmetric:
        return {"weight": weight.to(dtype), "weight_scale": (groups.abs().amax(2) / 7.5).to(dtype)}
    low, high = groups.amin(2).clamp(max=0), groups.amax(2).clamp(min=0)
    scales = (high - low) / 15
    zeros = (-8 - low / scales).round().clamp(-8, 7).to(torch.int8)
    return {"weight": weight.to(dtype), "weight_scale": scales.to(dtype), "weight_zero_point": zeros}


@pytest.mark.parametrize("case", CASES)
def test_numbers_are_those_that_compressed_tensors_unpacks(case, tmp_path):
    compressor, settings, dtype = CASES[case]
    scheme = QuantizationScheme(targets=["Linear"], weights=QuantizationArgs(**settings))
    module = reference("llama", hidden_size=128, intermediate_size=256, num_attention_heads=4, head_dim=32)
    tensors = dict(module.state_dict())
    tensors.pop("lm_head.weight", None)
    expected = {}
    for name in [name for name in tensors if name.endswith("_proj.weight")]:
        packed = compressor.compress(stored(tensors.pop(name), scheme.weights, dtype), scheme)
        expected[name] = compressor.decompress(packed, scheme)["weight"]
        tensors |= {name.replace("weight", part): tensor.contiguous() for part, tensor in packed.items()}
    heads = {f"model.layers.0.self_attn.{part}_scale": torch.ones(1) for part in "kv"}
    save_file(tensors | heads, tmp_path / "model.safetensors")
    group = {"targets": ["Linear"], "weights": scheme.weights.model_dump(mode="json")}
    kind = "nvfp4-pack-quantized" if case == "NVFP4" else "pack-quantized"
    quantization = {
        "quant_method": "compressed-tensors",
        "format": kind,
        "config_groups": {"group_0": group},
        "kv_cache_scheme": {"num_bits": 8, "type": "float", "strategy": "tensor"},
    }
    config = module.config.to_dict() | {"quantization_config": quantization}
    (tmp_path / "config.json").write_text(json.dumps(config))
    weights = open_checkpoint(tmp_path).weights
    assert not [name for name in weights if name.endswith("_scale")]
    for name, numbers in expected.items():
        weight = weights[name]
        parts = [torch.from_numpy(read_span(span)) for span in weight.spans]
        packed = Packed(
            format_named(weight.format), weight.shape, parts, Workspace(numbers.dtype, torch.device("cpu"))
        )
        assert torch.equal(packed.dense(), numbers), name
        size = weight.shape[1] if settings["group_size"] is None else settings["group_size"]
        assert weight.groups == (None if case == "NVFP4" else Groups(4, size, 0)), name
