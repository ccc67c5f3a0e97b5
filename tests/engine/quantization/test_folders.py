"""A whole model in GPTQ or AWQ gives the same logits as transformers with the unpacked numbers."""

import json

import pytest
import torch
from safetensors.torch import save_file

from engine.checkpoints import open_checkpoint
from engine.model.interface import no_progress
from engine.model.sequence import Sequence
from engine.torch_model.loader import load_model
from tests.engine.models import reference
from tests.engine.quantization.grouped_reference import Matrix

TEXT = [1, 5, 9, 30, 2, 44]
SETTINGS = {
    "gptq": {
        "quant_method": "gptq",
        "bits": 4,
        "group_size": 16,
        "desc_act": True,
        "checkpoint_format": "gptq",
    },
    "awq": {"quant_method": "awq", "bits": 4, "group_size": 16, "zero_point": True, "version": "gemm"},
}


def write(folder, module, method, bits=4, size=16, act_order=None, range=0.3, **of_matrices):
    """Write a tiny model with packed layers, as transformers' `module`, whose weights become the unpacked
    numbers. size: columns of a group, -1 for all. range: of the numbers, roughly. of_matrices: further
    arguments of `Matrix`."""
    act_order = method == "gptq" if act_order is None else act_order
    tensors = {}
    for name, parameter in module.named_parameters():
        if not name.endswith("_proj.weight"):
            tensors[name] = parameter.detach().clone()
            continue
        rows, columns = parameter.shape
        together = columns if size == -1 else size
        matrix = Matrix(bits, together, rows, columns, act_order, seed=len(tensors), **of_matrices)
        matrix.scales *= range / (1 << bits)
        with torch.no_grad():
            parameter.copy_(matrix.numbers())
        parts = matrix.gptq(1) if method == "gptq" else matrix.awq()
        tensors |= {name.replace("weight", part): tensor for part, tensor in parts.items()}
    if module.config.tie_word_embeddings:
        tensors.pop("lm_head.weight", None)
    save_file(tensors, folder / "model.safetensors")
    config = json.loads(module.config.to_json_string(use_diff=False))
    settings = SETTINGS[method] | {"bits": bits, "group_size": size}
    if method == "gptq":
        settings["desc_act"] = act_order
    (folder / "config.json").write_text(json.dumps(config | {"quantization_config": settings}))


@pytest.mark.parametrize("kind", ["llama", "qwen2"])
@pytest.mark.parametrize("method", ["gptq", "awq"])
@pytest.mark.parametrize("packed", [False, True])
def test_a_folder_gives_the_logits_of_its_unpacked_numbers(tmp_path, kind, method, packed):
    module = reference(kind)
    write(tmp_path, module, method)
    checkpoint = open_checkpoint(tmp_path)
    model = load_model(checkpoint, torch.float32, "cpu", no_progress, 64, packed=packed)
    with torch.inference_mode():
        expected = module(torch.tensor([TEXT])).logits[0, -1]
    torch.testing.assert_close(Sequence(model, 32).extend(TEXT), expected, rtol=1e-4, atol=1e-4)
