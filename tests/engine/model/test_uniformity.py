"""Weights that say nothing are named before a model answers with them."""

from pathlib import Path

import numpy as np
import pytest

from engine.checkpoints import open_checkpoint
from engine.model.uniformity import damage_of
from tests.engine.checkpoints.files import HIDDEN, TOKENS, WIDE, weights, write_gguf
from tests.engine.checkpoints.gguf_converter import convert
from tests.engine.checkpoints.test_grouped import AWQ, GPTQ, awq_parts, gptq_parts, write
from tests.engine.models import CONFIGS, reference
from tests.engine.remarks import said

UP = "blk.1.ffn_up.weight"
EMBEDDED = Path(__file__).parents[3] / "resources/models/SmolLM2-135M-Instruct.Q4_1.gguf"


def zeros(*shape: int) -> np.ndarray:
    return np.zeros(shape, np.float32)


def first_damaged(file: Path) -> str:
    """Return the name of the first weight that says nothing."""
    damage = damage_of(open_checkpoint(file))
    assert damage is not None
    return damage.first


@pytest.mark.parametrize(
    ("name", "array"),
    [
        (UP, zeros(WIDE, HIDDEN)),
        (UP, zeros(WIDE, HIDDEN) + 0.25),
        (UP, np.zeros((WIDE, HIDDEN), np.float16)),
        ("output_norm.weight", zeros(HIDDEN)),
        ("token_embd.weight", zeros(len(TOKENS), HIDDEN)),
    ],
    ids=["zeros", "quarters", "float16", "norm", "embedding"],
)
def test_a_weight_of_one_number_is_named(tmp_path: Path, name: str, array: np.ndarray) -> None:
    damage = damage_of(open_checkpoint(write_gguf(tmp_path / "a.gguf", tensors={name: array})))
    assert damage is not None
    assert (damage.model, damage.damaged, damage.weights) == ("a.gguf", 1, 20)
    assert "a.gguf is probably damaged: in 1 of its 20 weights" in said([damage])
    assert "download it again" in said([damage])


def test_a_file_whose_end_was_never_written_is_named(tmp_path: Path) -> None:
    file = write_gguf(tmp_path / "a.gguf")
    whole = file.read_bytes()
    file.write_bytes(whole[: len(whole) // 2].ljust(len(whole), b"\0"))
    assert "model.layers.1" in first_damaged(file)


@pytest.mark.parametrize("kind", ["llama", "qwen2", "qwen3", "gemma2", "gemma3_text", "phi3", "mixtral"])
def test_sound_models_give_no_warning(tmp_path: Path, kind: str) -> None:
    assert kind in CONFIGS
    assert damage_of(open_checkpoint(convert(reference(kind), tmp_path / "a.gguf"))) is None
    assert damage_of(open_checkpoint(EMBEDDED)) is None


def test_zeros_that_real_models_have_give_no_warning(tmp_path: Path) -> None:
    embedding = dict(weights("qwen2"))["token_embd.weight"]
    embedding[:4] = 0  # tokens that were never trained
    tensors = {"token_embd.weight": embedding, "blk.0.attn_q.bias": zeros(HIDDEN)}
    assert damage_of(open_checkpoint(write_gguf(tmp_path / "a.gguf", "qwen2", tensors=tensors))) is None


@pytest.mark.parametrize("gemma", ["gemma2", "gemma3_text"])
def test_norms_of_gemma_that_are_zero_multiply_by_one(tmp_path: Path, gemma: str) -> None:
    module = reference(gemma)
    module.model.norm.weight.data.zero_()
    module.save_pretrained(tmp_path)
    assert damage_of(open_checkpoint(tmp_path)) is None
    module.model.norm.weight.data.fill_(-1.0)
    assert first_damaged(convert(module, tmp_path / "a.gguf")) == "model.norm.weight"


@pytest.mark.parametrize(("config", "parts"), [(GPTQ, gptq_parts()), (AWQ, awq_parts())])
def test_packed_weights_of_one_number_are_named(tmp_path: Path, config: dict, parts: dict) -> None:
    random = np.random.default_rng(0)
    assert "q_proj" in first_damaged(write(tmp_path / "same", parts, config))
    parts = parts | {
        "qweight": random.integers(0, 2**31, parts["qweight"].shape, np.int32),
        "scales": random.random(parts["scales"].shape).astype(np.float16),
    }
    assert damage_of(open_checkpoint(write(tmp_path / "different", parts, config))) is None
