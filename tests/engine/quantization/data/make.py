"""Makes the files beside it: matrices packed and unpacked by GPTQModel 7.6.0 (pip install gptqmodel==7.6.0).

gptq_BITS_SIZE_OFFSET and awq_SIZE; `expected` is float16 [columns, rows]. All zero points from 0 up occur, so
that those of version 1 (offset 1) wrap.
"""

from pathlib import Path

import torch
from gptqmodel.nn_modules.qlinear import PackableQuantLinear
from gptqmodel.nn_modules.qlinear.torch import TorchLinear
from gptqmodel.nn_modules.qlinear.torch_awq import AwqTorchLinear
from gptqmodel.quantization.awq.utils.packing_utils import dequantize_gemm
from gptqmodel.quantization.config import QuantizeConfig
from gptqmodel.utils.model import convert_gptq_v2_to_v1_format_module
from safetensors.torch import save_file

ROWS, COLUMNS = 32, 64
FOLDER = Path(__file__).parent


def linear(bits: int, size: int) -> tuple[torch.nn.Linear, torch.Tensor, torch.Tensor, torch.Tensor]:
    """A layer, scales and zero points [rows, groups], the group of each column in random order."""
    torch.manual_seed(bits * size)
    scales = torch.rand(ROWS, COLUMNS // size).half().float() + 0.01
    zeros = torch.randint(0, 1 << bits, (ROWS, COLUMNS // size)).float()
    group = (torch.arange(COLUMNS) // size)[torch.randperm(COLUMNS)].int()
    layer = torch.nn.Linear(COLUMNS, ROWS, bias=False)
    quants = torch.randint(0, 1 << bits, (ROWS, COLUMNS))
    layer.weight.data = scales[:, group] * (quants - zeros[:, group])
    return layer, scales, zeros, group


def parts(module: torch.nn.Module, names: tuple[str, ...], expected: torch.Tensor) -> dict[str, torch.Tensor]:
    tensors = {name: getattr(module, name) for name in names} | {"expected": expected.half()}
    return {name: tensor.detach().clone().contiguous() for name, tensor in tensors.items()}


def settings(bits: int, size: int) -> dict[str, object]:
    return dict(bits=bits, group_size=size, sym=False, in_features=COLUMNS, out_features=ROWS)


with torch.inference_mode():
    for bits, size, offset in ((2, 32, 1), (3, 32, 1), (3, 64, 0), (4, 32, 1), (4, 16, 0), (8, 32, 1)):
        module = TorchLinear(**settings(bits, size), desc_act=True)
        module.pack_original(*linear(bits, size))
        expected = PackableQuantLinear.dequantize_weight(module)
        if offset:
            convert_gptq_v2_to_v1_format_module(module, QuantizeConfig(bits=bits))
        names = ("qweight", "qzeros", "scales", "g_idx")
        save_file(parts(module, names, expected), FOLDER / f"gptq_{bits}_{size}_{offset}.safetensors")
    layer, scales, zeros, group = linear(4, 32)
    layer.weight.data = layer.weight.data[:, group.argsort(stable=True)]
    module = AwqTorchLinear(**settings(4, 32), desc_act=False)
    module.pack(layer, scales, zeros)
    expected = dequantize_gemm(module.qweight, module.qzeros, module.scales, 4, 32)
    save_file(parts(module, ("qweight", "qzeros", "scales"), expected), FOLDER / "awq_32.safetensors")
