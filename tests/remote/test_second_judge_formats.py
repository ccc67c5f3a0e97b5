"""Tiny GGUF files whose matrices are packed say the same here and in llama.cpp, so that formats which gguf-py
unpacks, or only names, are not our own reading.

llama.cpp rounds activations to 8 bits for products with packed weights, so log-probabilities are only near.
"""

import json
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from engine.checkpoints import open_checkpoint
from engine.formats import FORMATS
from engine.model.interface import no_progress
from engine.model.sequence import Sequence
from engine.torch_model.loader import load_model
from tests.engine.checkpoints.gguf_converter import convert
from tests.engine.checkpoints.test_gguf_architectures import tiny
from tests.engine.formats.made import random_blocks, reference
from tests.remote.test_second_judge import COUNT, PROMPT, SCRIPT, distance

NAMES = ("IQ1_S", "IQ1_M", "IQ2_XXS", "IQ2_XS", "IQ2_S", "IQ3_XXS", "IQ3_S")
NAMES += ("MXFP4", "NVFP4", "Q1_0", "TQ1_0", "TQ2_0")
DEVIATION = 0.06  # of weights: the reciprocal of the root of the number of columns
CLOSE = 0.25  # of log-probabilities; Q8_0 differs by 0.04, IQ3_S by 0.14


def file_in(name: str, folder: Path) -> Path:
    """Write a model whose matrices are stored in the format `name`, but for embedding and head."""
    form = FORMATS[name]
    sizes: dict[str, Any] = dict(hidden_size=256, intermediate_size=512, head_dim=32)
    module = tiny("llama", num_attention_heads=8, num_key_value_heads=8, tie_word_embeddings=False, **sizes)
    size = DEVIATION / reference(form, random_blocks(form, 500, size=1.0)).std()
    generator, shape = np.random.default_rng(5), tuple(module.lm_head.weight.shape)
    tables = {
        f"{table}.weight": generator.normal(0, deviation, shape).astype(np.float32)
        for table, deviation in (("token_embd", 1.0), ("output", 2 * DEVIATION))
    }
    return convert(module, folder / f"{name}.gguf", storage=name, size=size, tensors=tables)


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("judged")
    return {name: file_in(name, folder) for name in NAMES}


@pytest.fixture(scope="module")
def judged(llama_cpp: Path, files: dict[str, Path]) -> dict[str, dict[str, Any]]:
    command = [llama_cpp, SCRIPT, str(COUNT), *files.values()]
    done = subprocess.run(command, input=json.dumps(PROMPT), capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr[-2000:]
    lines = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    return dict(zip(files, lines, strict=True))


def told(file: Path, tokens: list[int]) -> tuple[list[float], list[float]]:
    """Return the log-probabilities of the prompt's continuation by `tokens`, and those of the best tokens in
    their places. The token that ends a text is never the best, as llama.cpp is told."""
    checkpoint = open_checkpoint(file)
    sequence = Sequence(load_model(checkpoint, torch.float32, "cpu", no_progress, 256), 256)
    end = torch.tensor([checkpoint.config["eos_token_id"]])
    found, best, rows = [], [], PROMPT
    for token in tokens:
        after = torch.as_tensor(sequence.extend(rows)).float().log_softmax(-1).flatten()
        found.append(float(after[token]))
        best.append(float(after.index_fill(-1, end, -torch.inf).max()))
        rows = [token]
    return found, best


@pytest.mark.parametrize("name", NAMES)
def test_llama_cpp_unpacks_the_same_numbers(
    name: str, files: dict[str, Path], judged: dict[str, dict[str, Any]]
) -> None:
    assert "error" not in judged[name], judged[name]
    tokens = judged[name]["tokens"]
    found, best = told(files[name], tokens)
    apart, short = distance(judged[name]["log_probs"], found), distance(best, found)
    print(f"| {name} | {len(set(tokens))} | {apart:.1e} | {np.count_nonzero(np.equal(best, found))} |")
    assert apart < CLOSE
    assert short < CLOSE, "llama.cpp's greedy tokens are the best here too, or as good as they"


def test_other_numbers_are_told_apart(files: dict[str, Path], judged: dict[str, dict[str, Any]]) -> None:
    found, _ = told(files["TQ2_0"], judged["Q1_0"]["tokens"])
    assert distance(judged["Q1_0"]["log_probs"], found) > 2 * CLOSE
