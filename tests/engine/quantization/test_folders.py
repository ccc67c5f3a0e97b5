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


def write(folder, kind, method):
    """Write a tiny model with packed layers, and return it unpacked, as transformers' own."""
    module = reference(kind)
    tensors = {}
    for name, parameter in module.named_parameters():
        if not name.endswith("_proj.weight"):
            tensors[name] = parameter.detach().clone()
            continue
        matrix = Matrix(4, 16, *parameter.shape, act_order=method == "gptq", seed=len(tensors))
        matrix.scales *= 0.02
        with torch.no_grad():
            parameter.copy_(matrix.numbers())
        parts = matrix.gptq(1) if method == "gptq" else matrix.awq()
        tensors |= {name.replace("weight", part): tensor for part, tensor in parts.items()}
    if module.config.tie_word_embeddings:
        tensors.pop("lm_head.weight", None)
    save_file(tensors, folder / "model.safetensors")
    config = json.loads(module.config.to_json_string(use_diff=False))
    (folder / "config.json").write_text(json.dumps(config | {"quantization_config": SETTINGS[method]}))
    return module


@pytest.mark.parametrize("kind", ["llama", "qwen2"])
@pytest.mark.parametrize("method", ["gptq", "awq"])
@pytest.mark.parametrize("packed", [False, True])
def test_a_folder_gives_the_logits_of_its_unpacked_numbers(tmp_path, kind, method, packed):
    module = write(tmp_path, kind, method)
    checkpoint = open_checkpoint(tmp_path)
    model = load_model(checkpoint, torch.float32, "cpu", no_progress, 64, packed=packed)
    with torch.inference_mode():
        expected = module(torch.tensor([TEXT])).logits[0, -1]
    torch.testing.assert_close(Sequence(model, 32).extend(TEXT), expected, rtol=1e-4, atol=1e-4)
