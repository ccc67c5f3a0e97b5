"""NVFP4 with a factor of the whole matrix, as llama.cpp's converter writes what ModelOpt has quantized."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from engine.checkpoints import open_checkpoint, read_span
from engine.errors import BadCheckpoint, UnsupportedModel
from engine.formats import format_named
from engine.model.interface import no_progress
from engine.model.sequence import Sequence
from engine.quantization.random_matrix import random_packed
from engine.streaming import WeightLimits
from engine.torch_model.loader import load_model
from tests.engine.checkpoints.gguf_converter import convert
from tests.engine.models import reference

TEXT = [1, 5, 9, 30, 2, 44, 17, 8, 60, 3]
SIZES = dict(hidden_size=64, intermediate_size=128, head_dim=16, tie_word_embeddings=False)
MATRICES = {
    "attn_q": "self_attn.q_proj",
    "attn_k": "self_attn.k_proj",
    "attn_v": "self_attn.v_proj",
    "attn_output": "self_attn.o_proj",
    "ffn_gate": "mlp.gate_proj",
    "ffn_up": "mlp.up_proj",
    "ffn_down": "mlp.down_proj",
}


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16])
def test_numbers_are_those_of_the_blocks_times_the_factor(dtype):
    packed = random_packed("NVFP4_FACTORED", (21, 128), "cpu", dtype)
    assert packed.format.valid([part.numpy() for part in packed.parts])
    exact = random_packed("NVFP4_FACTORED", (21, 128), "cpu", torch.float32)
    blocks = replace(exact, format=format_named("NVFP4"), parts=exact.parts[:1]).dense()
    assert torch.equal(packed.dense(), (blocks * exact.parts[1].view(torch.float32)).to(dtype))


@pytest.mark.parametrize("factor", [float("nan"), float("inf"), -1.0])
def test_a_factor_that_is_none_is_invalid(factor):
    packed = random_packed("NVFP4_FACTORED", (21, 128), "cpu", torch.float32)
    parts = [packed.parts[0].numpy(), np.array([factor], np.float32).view(np.uint8)]
    assert not packed.format.valid(parts)


def factors_of(layers):
    """Factors of the matrices in all layers, by the names in GGUF files."""
    names = [f"blk.{layer}.{name}" for layer in range(layers) for name in MATRICES]
    return {name: np.array([0.5 + 0.1 * number], np.float32) for number, name in enumerate(names)}


def written(module, path, more):
    return convert(module, path, tensors=more, storage="NVFP4")


def test_a_file_gives_the_logits_of_its_numbers(tmp_path):
    module = reference("llama", **SIZES)
    factors = factors_of(module.config.num_hidden_layers)
    scales = {f"{name}.scale": factor for name, factor in factors.items()}
    inputs = {f"{name}.input_scale": np.ones(1, np.float32) for name in factors}
    plain = load_model(
        open_checkpoint(written(module, tmp_path / "plain.gguf", {})), torch.float32, "cpu", no_progress, 64
    )
    for name, factor in factors.items():
        _, layer, matrix = name.split(".")
        linear = plain.module.get_submodule(f"model.layers.{layer}.{MATRICES[matrix]}")
        linear.weight = torch.nn.Parameter(linear.weight * float(factor[0]), requires_grad=False)
    expected = Sequence(plain, 64).extend(TEXT)
    file = open_checkpoint(written(module, tmp_path / "scaled.gguf", scales | inputs))
    for limits in (None, WeightLimits(160_000)):
        model = load_model(file, torch.float32, "cpu", no_progress, 64, packed=True, limits=limits)
        torch.testing.assert_close(Sequence(model, 64).extend(TEXT), expected, rtol=1e-4, atol=1e-4)
        model.close()


@pytest.mark.parametrize("stacked", [True, "gate_up"])
def test_each_expert_of_a_stack_has_a_factor_of_its_own(tmp_path, stacked):
    module = reference("qwen3_moe", hidden_size=64, moe_intermediate_size=64)
    count = module.config.num_experts
    kinds = {"gate_up_exps": ("gate", "up")} if stacked == "gate_up" else {"gate_exps": ("gate",)}
    kinds |= {"down_exps": ("down",)}
    scales = np.arange(1, count + 1).astype(np.float32)
    more = {f"blk.0.ffn_{kind}.scale": scales for kind in kinds}
    path = convert(module, tmp_path / "model.gguf", stacked, tensors=more, storage="NVFP4")
    weights = open_checkpoint(path).weights
    for kind in [each for names in kinds.values() for each in names]:
        for expert in range(count):
            weight = weights[f"model.layers.0.mlp.experts.{expert}.{kind}_proj.weight"]
            assert weight.format == "NVFP4_FACTORED"
            assert read_span(weight.spans[1]).view(np.float32).tolist() == [expert + 1]
    others = {weights[f"model.layers.1.mlp.experts.0.{kind}_proj.weight"].format for kind in ("gate", "down")}
    assert others == {"NVFP4"}


def test_factors_of_another_number_or_matrix_are_refused(tmp_path):
    module = reference("llama", **SIZES)
    two = written(module, tmp_path / "two.gguf", {"blk.0.attn_q.scale": np.ones(2, np.float32)})
    with pytest.raises(BadCheckpoint, match=r"attn_q\.scale is not 1 numbers"):
        open_checkpoint(two)
    norm = written(module, tmp_path / "norm.gguf", {"blk.0.attn_norm.scale": np.ones(1, np.float32)})
    table = written(module, tmp_path / "table.gguf", {"token_embd.scale": np.ones(1, np.float32)})
    for file in (norm, table):
        with pytest.raises(
            UnsupportedModel,
            match="supported for NVFP4 matrices, not for others, nor for the table of tokens",
        ):
            open_checkpoint(file)
