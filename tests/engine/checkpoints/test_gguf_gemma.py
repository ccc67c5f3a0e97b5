"""GGUF files of Gemma 3n and 4: what only these have, and what is refused."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from engine.checkpoints import Checkpoint, open_checkpoint
from engine.errors import BadCheckpoint, UnsupportedModel
from tests.engine.checkpoints.gguf_converter import convert
from tests.engine.checkpoints.test_gguf_architectures import logits, rebuilt, tiny
from tests.engine.models import VOCABULARY

ROPE, PATTERN = "rope_freqs.weight", "gemma4.attention.sliding_window_pattern"
SCALES = "gemma3n.activation_sparsity_scale"


def opened(
    folder: Path,
    kind: str,
    metadata: dict[str, Any] | None = None,
    tensors: dict[str, NDArray[np.float32] | None] | None = None,
) -> Checkpoint:
    path = convert(tiny(kind), folder / "model.gguf", metadata=metadata, tensors=tensors)
    return open_checkpoint(path)


def ones(*shape: int) -> NDArray[np.float32]:
    return np.ones(shape, np.float32)


def test_rows_that_were_added_for_images_and_sound_are_zeros(tmp_path: Path) -> None:
    module = tiny("gemma3n_text", vocab_size_per_layer_input=VOCABULARY - 3)
    found = rebuilt(open_checkpoint(convert(module, tmp_path / "model.gguf")))
    assert not found.model.embed_tokens_per_layer.weight[-3:].any()
    torch.testing.assert_close(logits(found), logits(module), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("kind", ["gemma4_text", "gemma3n_text"])
def test_keys_and_values_of_layers_that_use_those_of_earlier_ones_may_be_missing_or_there(
    tmp_path: Path, kind: str
) -> None:
    names = [f"blk.{layer}.attn_{part}.weight" for layer in (4, 5) for part in ("k", "v", "k_norm")]
    there = {f"blk.4.attn_{part}.weight": ones(16, 48 if "3n" in kind else 32) for part in "kv"}
    bare = opened(tmp_path, kind, tensors=dict.fromkeys(names))
    assert opened(tmp_path, kind, tensors=there).weights.keys() == bare.weights.keys()
    with pytest.raises(BadCheckpoint, match=r"attn_k\.weight has the shape \(3, 3\)"):
        opened(tmp_path, kind, tensors={"blk.4.attn_k.weight": ones(3, 3)})


@pytest.mark.parametrize("key", ["no.such.key", "attention.scale", "embedding_length_out", "logit_scale"])
def test_other_keys_are_refused_by_name(tmp_path: Path, key: str) -> None:
    with pytest.raises(UnsupportedModel, match=rf"gemma4\.{key}"):
        opened(tmp_path, "gemma4_text", {f"gemma4.{key}": 3})


@pytest.mark.parametrize(
    ("metadata", "reason"),
    [
        ({"gemma4.expert_count": 128, "gemma4.expert_used_count": 8}, r"mixture .* \(gemma4.expert_count\)"),
        ({"gemma4.feed_forward_length": [48, 48, 48, 48, 96, 48]}, "gemma4.feed_forward_length"),
        ({"gemma4.feed_forward_length": [48, 40, 48, 48, 48, 48]}, "gemma4.feed_forward_length"),
        ({"gemma4.attention.head_count_kv": [2, 2, 1, 2, 2, 2]}, "gemma4.attention.head_count_kv"),
        ({"gemma4.attention.head_count_kv": [2, 1, 2, 1, 2, 1]}, "gemma4.attention.head_count_kv"),
        ({"gemma4.attention.value_length": 8}, "different lengths"),
        ({"gemma4.attention.value_length_swa": 16}, "different lengths"),
        ({"gemma4.rope.dimension_count": 8}, "part of each head"),
        ({"gemma4.rope.dimension_count_swa": 4}, "part of each head"),
        ({"gemma4.rope.scaling.type": "linear"}, r"scales positions \(gemma4.rope.scaling.type\)"),
        ({"gemma4.rope.scaling.factor": 8.0}, r"scales positions \(gemma4.rope.scaling.factor\)"),
    ],
)
def test_what_gemma_4_does_not_compute_is_refused_by_name(
    tmp_path: Path, metadata: dict[str, Any], reason: str
) -> None:
    with pytest.raises(UnsupportedModel, match=reason):
        opened(tmp_path, "gemma4_text", metadata)


@pytest.mark.parametrize("divisors", [[1, 1e30, 1, 1, 1, 1, 1, 1], [1, 1, 2, 2, 2, 2, 2, 2], [np.nan] * 8])
def test_another_table_of_rotated_pairs_is_refused(tmp_path: Path, divisors: list[float]) -> None:
    with pytest.raises(UnsupportedModel, match="other divisors"):
        opened(tmp_path, "gemma4_text", tensors={ROPE: np.array(divisors, np.float32)})


@pytest.mark.parametrize(
    ("kind", "metadata", "tensors", "reason"),
    [
        ("gemma4_text", {PATTERN: 2}, {}, "sliding_window_pattern"),
        ("gemma4_text", {PATTERN: [True] * 6}, {}, "sliding_window_pattern"),
        ("gemma4_text", {"gemma4.attention.shared_kv_layers": 6}, {}, "shared_kv_layers"),
        ("gemma4_text", {"gemma4.feed_forward_length": [48] * 5}, {}, "feed_forward_length"),
        ("gemma4_text", {"gemma4.attention.head_count_kv": [3] * 6}, {}, "head_count_kv"),
        ("gemma4_text", {}, {ROPE: None}, "rope_freqs.weight is missing"),
        ("gemma4_text", {}, {ROPE: ones(4)}, r"shape \(4,\) instead of \(8,\)"),
        ("gemma4_text", {}, {"blk.1.layer_output_scale.weight": None}, "layer_output_scale"),
        ("gemma4_text", {}, {"blk.3.attn_v.weight": None}, "blk.3.attn_v.weight is missing"),
        ("gemma3n_text", {SCALES: [0.5] * 5}, {}, "activation_sparsity_scale"),
        ("gemma3n_text", {SCALES: [float("nan")] * 6}, {}, "activation_sparsity_scale"),
        ("gemma3n_text", {SCALES: 0.5}, {}, "activation_sparsity_scale"),
        ("gemma3n_text", {"gemma3n.altup.num_inputs": 1000}, {}, "altup.num_inputs"),
        ("gemma3n_text", {"gemma3n.altup.active_idx": 3}, {}, "altup.active_idx"),
        ("gemma3n_text", {}, {"blk.0.laurel_l.weight": None}, "laurel_l.weight is missing"),
        ("gemma3n_text", {}, {"altup_proj.weight": ones(3, 48, 48)}, r"instead of \(2, 48, 48\)"),
    ],
)
def test_what_contradicts_itself_is_refused_by_name(
    tmp_path: Path, kind: str, metadata: dict[str, Any], tensors: dict[str, Any], reason: str
) -> None:
    with pytest.raises(BadCheckpoint, match=reason):
        opened(tmp_path, kind, metadata, tensors)
