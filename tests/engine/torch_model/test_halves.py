"""Models that multiply in float16, as on cards before Ampere: numbers between products stay float32."""

import copy
from pathlib import Path

import numpy as np
import pytest
import torch
from transformers import PreTrainedModel

from engine.checkpoints import open_checkpoint
from engine.model.interface import no_progress
from engine.model.rows import Rows
from engine.model.sequence import Sequence
from engine.streaming import WeightLimits
from engine.torch_model.forward import TorchModel
from engine.torch_model.loader import load_model
from tests.engine.models import CONTEXT, reference

TEXT = [1, *range(3, 40), 5, 5, 9]
# The largest difference of log-probabilities from those in float32. Those of Gemma 3n differ by 0.011; by
# 0.029 in float16 throughout, and by 0.42 in bfloat16.
TOLERANCE = 0.02
KINDS = (
    "qwen2", "gemma2", "gemma3n_text", "gemma4_text", "qwen3_moe", "glm4_moe", "qwen3_5_text", "nemotron_h",
)  # fmt: skip


def in_halves(module: PreTrainedModel, folder: Path, **how) -> TorchModel:
    module.save_pretrained(folder)
    return load_model(open_checkpoint(folder), torch.float16, "cpu", no_progress, CONTEXT, **how)


def log_probabilities(module: PreTrainedModel, tokens: list[int]) -> torch.Tensor:
    with torch.inference_mode():
        return module(torch.tensor([tokens])).logits[0].log_softmax(-1)


def forwarded(model: TorchModel, tokens: list[int]) -> torch.Tensor:
    logits = model.forward(Rows.text(tokens, 0), model.new_cache(CONTEXT)).logits
    assert logits.dtype == torch.float32
    return logits.log_softmax(-1)


def with_large_states(module: PreTrainedModel) -> PreTrainedModel:
    """As in Qwen 2.5 and Gemma: one channel grows beyond what float16 has, and later norms scale it down."""
    with torch.no_grad():
        for layer in module.model.layers:
            layer.mlp.down_proj.weight[0] = 30_000
    return module


def with_large_gates(module: PreTrainedModel) -> PreTrainedModel:
    """What a down projection reads is beyond float16; what it writes is not."""
    with torch.no_grad():
        for layer in module.model.layers:
            layer.mlp.gate_proj.weight *= 256
            layer.mlp.up_proj.weight *= 256
            layer.mlp.down_proj.weight *= 2**-8
    return module


@pytest.mark.parametrize("enlarged", [with_large_states, with_large_gates])
@pytest.mark.parametrize("kind", ["qwen2", "gemma3_text"])
def test_numbers_that_overflow_float16_are_as_in_float32(kind, enlarged, tmp_path):
    module = enlarged(reference(kind))
    expected = log_probabilities(module, TEXT)
    assert expected.isfinite().all()
    assert not log_probabilities(copy.deepcopy(module).half(), TEXT).isfinite().all()
    model = in_halves(module, tmp_path)
    assert model.arithmetic == "float16"
    assert (forwarded(model, TEXT) - expected).abs().max() < TOLERANCE


@pytest.mark.parametrize("kind", KINDS)
def test_log_probabilities_are_close_to_those_in_float32(kind, tmp_path):
    module = reference(kind)
    model = in_halves(module, tmp_path)
    assert (forwarded(model, TEXT) - log_probabilities(module, TEXT)).abs().max() < TOLERANCE


def test_weights_take_two_bytes_and_so_do_rows(tmp_path):
    module = reference("qwen2")
    model = in_halves(module, tmp_path)
    matrices = sum(weight.numel() for weight in module.parameters() if weight.dim() == 2)
    assert sum(matrix.nbytes for matrix in model._packed) == 2 * matrices
    plain = load_model(open_checkpoint(tmp_path), torch.float32, "cpu", no_progress, CONTEXT)
    assert 2 * model.new_cache(CONTEXT).nbytes == plain.new_cache(CONTEXT).nbytes


def test_a_streamed_model_gives_the_numbers_of_one_in_memory(tmp_path):
    module = with_large_states(reference("qwen2"))
    expected = forwarded(in_halves(module, tmp_path), TEXT)
    model = in_halves(module, tmp_path, limits=WeightLimits(60_000))
    assert model.streamer is not None
    torch.testing.assert_close(forwarded(model, TEXT), expected, rtol=1e-4, atol=1e-4)
    model.close()


@pytest.mark.parametrize("kind", ["qwen2", "gemma2", "qwen3_5_text"])
def test_each_tree_node_sees_its_path_as_plain_text_would(kind, tmp_path):
    """What differs are the last bits of sums: keys and values, rounded to float16, may differ by one of
    theirs."""
    module = reference(kind)
    model = in_halves(with_large_states(module) if kind == "qwen2" else module, tmp_path)
    sequence = Sequence(model, CONTEXT)
    sequence.extend(TEXT)
    tokens, parents = [7, 8, 9, 10, 11], [-1, -1, 0, 0, 1]
    visible = np.eye(5, dtype=np.bool_)
    paths: list[list[int]] = []
    for node, parent in enumerate(parents):
        if parent >= 0:
            visible[node] |= visible[parent]
        paths.append([*(paths[parent] if parent >= 0 else TEXT), tokens[node]])
    found = sequence.consider(tokens, [len(path) - 1 for path in paths], visible).logits.log_softmax(-1)
    for row, path in zip(found, paths, strict=True):
        torch.testing.assert_close(row, forwarded(model, path)[-1], rtol=0.0, atol=TOLERANCE / 10)
