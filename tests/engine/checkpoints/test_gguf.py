"""GGUF files as Hugging Face models: names, shapes, configurations, and refusal of damaged files."""

from pathlib import Path
from typing import Any

import gguf
import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from transformers import AutoConfig, AutoModelForCausalLM

from engine.checkpoints import Checkpoint, open_checkpoint, read_span
from engine.errors import BadCheckpoint, ModelNotFound, UnsupportedModel
from tests.engine.checkpoints.files import (
    HEADS,
    HIDDEN,
    KV_HEADS,
    TOKENS,
    real_file,
    values,
    weights,
    write_gguf,
)

YARN = {
    "llama.rope.scaling.type": "yarn",
    "llama.rope.scaling.factor": 4.0,
    "llama.rope.scaling.original_context_length": 64,
}


def _parameters(checkpoint: Checkpoint) -> dict[str, tuple[int, ...]]:
    """Return the parameter names and shapes of the transformers model with the checkpoint's configuration."""
    with torch.device("meta"):
        model = AutoModelForCausalLM.from_config(
            AutoConfig.for_model(checkpoint.architecture, **checkpoint.config)
        )
    return {name: tuple(parameter.shape) for name, parameter in model.named_parameters()}


# -- real files ----------------------------------------------------------------------------------------------


def test_weights_equal_those_loaded_by_transformers() -> None:
    file = real_file("smollm2")
    checkpoint = open_checkpoint(file)
    reference = AutoModelForCausalLM.from_pretrained(
        file.parent, gguf_file=file.name, dtype=torch.float32, local_files_only=True
    ).state_dict()
    assert {*checkpoint.weights, "lm_head.weight"} == {*reference}
    chosen = [
        name
        for name in checkpoint.weights
        if name.startswith(("model.layers.0.", "model.layers.29.", "model.norm"))
    ]
    assert len(chosen) == 19
    for name in [*chosen, "model.embed_tokens.weight"]:
        np.testing.assert_array_equal(values(checkpoint.weights[name]), reference[name].numpy(), name)


@pytest.mark.parametrize("architecture", ["smollm2", "qwen2", "qwen3"])
def test_the_configuration_equals_the_one_read_by_transformers(tmp_path: Path, architecture: str) -> None:
    # transformers needs ten seconds for each of the real Qwen files.
    real = architecture == "smollm2"
    file = real_file("smollm2") if real else write_gguf(tmp_path / "model.gguf", architecture, tied=False)
    checkpoint = open_checkpoint(file)
    ours = AutoConfig.for_model(checkpoint.architecture, **checkpoint.config)
    theirs = AutoConfig.from_pretrained(file.parent, gguf_file=file.name, local_files_only=True)
    for key in (
        *(
            "model_type",
            "vocab_size",
            "hidden_size",
            "intermediate_size",
            "num_hidden_layers",
            "num_attention_heads",
        ),
        *(
            "num_key_value_heads",
            "max_position_embeddings",
            "rope_parameters",
            "tie_word_embeddings",
            "hidden_act",
        ),
        *("bos_token_id", "eos_token_id"),
    ):
        assert getattr(ours, key) == getattr(theirs, key), key
    assert ours.rms_norm_eps == pytest.approx(theirs.rms_norm_eps, rel=1e-6)
    assert ours.head_dim == ours.hidden_size // ours.num_attention_heads


def test_spans_equal_the_tensors_the_gguf_package_finds() -> None:
    file = real_file("smollm2")
    spans = {weight.spans[0].offset: weight.spans[0] for weight in open_checkpoint(file).weights.values()}
    found = {tensor.data_offset: tensor for tensor in gguf.GGUFReader(file).tensors}
    assert spans.keys() == found.keys()
    for offset, span in spans.items():
        theirs = found[offset]
        assert (span.nbytes, span.storage) == (theirs.n_bytes, theirs.tensor_type.name)
        assert span.shape == tuple(int(size) for size in reversed(theirs.shape))


@pytest.mark.parametrize("model", ["coder", "coder-draft"])
def test_a_real_qwen_file_has_every_parameter_of_its_model(model: str) -> None:
    checkpoint = open_checkpoint(real_file(model))
    assert _parameters(checkpoint) == {name: weight.shape for name, weight in checkpoint.weights.items()}
    assert {"Q6_K", "F32"} < {weight.format for weight in checkpoint.weights.values()}


# -- tiny files ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("architecture", ["llama", "mistral", "qwen2", "qwen3"])
@pytest.mark.parametrize("tied", [True, False])
def test_every_parameter_of_the_transformers_model_has_its_span(
    tmp_path: Path, architecture: str, tied: bool
) -> None:
    checkpoint = open_checkpoint(write_gguf(tmp_path / "model.gguf", architecture, tied))
    assert {name: weight.shape for name, weight in checkpoint.weights.items()} == _parameters(checkpoint)
    assert checkpoint.config["tie_word_embeddings"] is tied
    assert checkpoint.nbytes == sum(array.nbytes for _, array in weights(architecture, tied))


def test_only_queries_and_keys_of_llama_are_interleaved(tmp_path: Path) -> None:
    for architecture, expected in (("llama", {HEADS, KV_HEADS, 0}), ("qwen2", {0}), ("qwen3", {0})):
        found = open_checkpoint(write_gguf(tmp_path / f"{architecture}.gguf", architecture)).weights
        assert {weight.rope_heads for weight in found.values()} == expected
        queries = (
            found["model.layers.1.self_attn.q_proj.weight"],
            found["model.layers.1.self_attn.k_proj.weight"],
        )
        assert [weight.rope_heads for weight in queries] == (
            [HEADS, KV_HEADS] if architecture == "llama" else [0, 0]
        )


def test_read_span_gives_the_stored_bytes(tmp_path: Path) -> None:
    checkpoint = open_checkpoint(write_gguf(tmp_path / "model.gguf", "qwen2"))
    arrays = dict(weights("qwen2"))
    data = read_span(checkpoint.weights["model.layers.0.mlp.down_proj.weight"].spans[0])
    assert data.dtype == np.uint8
    assert data.flags.writeable
    assert data.tobytes() == arrays["blk.0.ffn_down.weight"].tobytes()


def test_a_file_truncated_after_opening_is_refused_when_read(tmp_path: Path) -> None:
    path = write_gguf(tmp_path / "model.gguf")
    spans = [weight.spans[0] for weight in open_checkpoint(path).weights.values()]
    last = max(spans, key=lambda span: span.offset)
    with path.open("r+b") as file:
        file.truncate(last.offset + last.nbytes - 1)
    with pytest.raises(BadCheckpoint, match="is incomplete"):
        read_span(last)
    path.unlink()
    with pytest.raises(BadCheckpoint, match="cannot be read"):
        read_span(last)


def test_rope_frequencies_become_llama3_scaling(tmp_path: Path) -> None:
    checkpoint = _with_rope(tmp_path, _llama3_divisors(32.0, 500000.0))
    rope = checkpoint.config["rope_parameters"]
    assert rope["rope_type"] == "llama3"
    assert rope["factor"] == 32.0
    from transformers.modeling_rope_utils import ROPE_INIT_FUNCTIONS

    config = AutoConfig.for_model(checkpoint.architecture, **checkpoint.config)
    frequencies, scale = ROPE_INIT_FUNCTIONS["llama3"](config, device="cpu")
    plain = 500000.0 ** -(np.arange(0, 16, 2) / 16)
    np.testing.assert_allclose(frequencies.numpy(), plain / _llama3_divisors(32.0, 500000.0), rtol=1e-5)
    assert scale == 1.0


def test_an_unknown_frequency_table_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UnsupportedModel, match="table"):
        _with_rope(tmp_path, np.linspace(1, 8, 8, dtype=np.float32))
    with pytest.raises(BadCheckpoint, match="rope_freqs"):
        _with_rope(tmp_path, np.full(8, np.nan, np.float32))
    with pytest.raises(BadCheckpoint, match="rope_freqs"):
        _with_rope(tmp_path, np.ones(9, np.float32))


def _with_rope(folder: Path, divisors: NDArray[np.float32]) -> Checkpoint:
    path = folder / "rope.gguf"
    path.unlink(missing_ok=True)
    return open_checkpoint(
        write_gguf(path, metadata={"llama.rope.freq_base": 500000.0}, tensors={"rope_freqs.weight": divisors})
    )


def _llama3_divisors(factor: float, theta: float, head_dim: int = HIDDEN // HEADS) -> NDArray[np.float32]:
    """Return the divisors as convert_hf_to_gguf.py computes them, one frequency at a time."""
    divisors = []
    for frequency in theta ** -(np.arange(0, head_dim, 2) / head_dim):
        wavelength = 2 * np.pi / frequency
        if wavelength < 8192 / 4:
            divisors.append(1.0)
        elif wavelength > 8192:
            divisors.append(factor)
        else:
            smooth = (8192 / wavelength - 1) / (4 - 1)
            divisors.append(1 / ((1 - smooth) / factor + smooth))
    return np.array(divisors, np.float32)


@pytest.mark.parametrize(
    ("metadata", "expected"),
    [
        (
            {"llama.rope.scaling.type": "linear", "llama.rope.scaling.factor": 4.0},
            {"rope_type": "linear", "factor": 4.0},
        ),
        ({"llama.rope.scale_linear": 2.0}, {"rope_type": "linear", "factor": 2.0}),
        ({"llama.rope.scaling.type": "none"}, {"rope_type": "default"}),
        (YARN, {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 64}),
        (
            YARN | {"llama.rope.scaling.yarn_attn_factor": 1.5, "llama.rope.scaling.yarn_beta_fast": 16.0},
            {
                **{"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 64},
                **{"attention_factor": 1.5, "beta_fast": 16.0},
            },
        ),
    ],
)
def test_position_scaling_is_read(tmp_path: Path, metadata: dict[str, Any], expected: dict[str, Any]) -> None:
    checkpoint = open_checkpoint(write_gguf(tmp_path / "model.gguf", metadata=metadata))
    assert checkpoint.config["rope_parameters"] == {"rope_theta": 10000.0, **expected}
    AutoConfig.for_model(checkpoint.architecture, **checkpoint.config)


@pytest.mark.parametrize(
    ("metadata", "reason"),
    [
        ({"llama.expert_weights_scale": 2.5}, "expert_weights_scale"),
        ({"llama.attention.sliding_window": 32}, "sliding_window"),
        ({"llama.residual_scale": 0.5}, "residual_scale"),
        ({"llama.rope.dimension_count": 8}, "part of each head"),
        ({"llama.rope.scaling.type": "longrope"}, "longrope"),
        (YARN | {"llama.rope.scaling.yarn_log_multiplier": 0.1}, "yarn_log_multiplier"),
        (YARN | {"llama.rope.scaling.yarn_ext_factor": 0.5}, "yarn_ext_factor"),
        ({"llama.attention.head_count": [4, 2]}, "different sizes"),
    ],
)
def test_unsupported_computations_are_refused(tmp_path: Path, metadata: dict[str, Any], reason: str) -> None:
    with pytest.raises(UnsupportedModel, match=reason):
        open_checkpoint(write_gguf(tmp_path / "model.gguf", metadata=metadata))


def test_an_unsupported_architecture_is_named_with_the_supported_ones(tmp_path: Path) -> None:
    with pytest.raises(UnsupportedModel, match="'falcon'") as caught:
        open_checkpoint(write_gguf(tmp_path / "model.gguf", "falcon"))
    assert "llama" in caught.value.hint
    assert "qwen3" in caught.value.hint


@pytest.mark.parametrize(
    ("metadata", "reason"),
    [
        ({"llama.block_count": None}, "block_count is missing"),
        ({"llama.block_count": "2"}, "block_count is '2'"),
        ({"llama.block_count": 0}, "block_count is '0'"),
        ({"llama.block_count": 2**31}, "block_count"),
        ({"llama.block_count": 3}, "blk.2.attn_norm.weight is missing"),
        ({"llama.attention.head_count": 0}, "head_count"),
        ({"llama.attention.head_count_kv": 3}, "3 key-value heads"),
        ({"llama.attention.head_count": 5}, "5 heads"),
        ({"llama.embedding_length": 128}, "has the shape"),
        ({"llama.attention.layer_norm_rms_epsilon": float("nan")}, "epsilon"),
        ({"llama.rope.freq_base": -1.0}, "freq_base"),
        ({"tokenizer.ggml.tokens": None}, "tokens is missing"),
        ({"tokenizer.ggml.tokens": "abc"}, "tokens"),
        (
            {"tokenizer.ggml.tokens": [*TOKENS, "x"], "tokenizer.ggml.token_type": None},
            "16 tokens, but only 15 embeddings",
        ),
        ({"tokenizer.ggml.token_type": [1, 2]}, "token_type has 2 items"),
        ({"tokenizer.ggml.merges": [1, 2]}, "merges"),
        ({"tokenizer.ggml.add_bos_token": 1}, "add_bos_token"),
    ],
)
def test_contradictory_metadata_is_refused_by_name(
    tmp_path: Path, metadata: dict[str, Any], reason: str
) -> None:
    with pytest.raises(BadCheckpoint, match=reason):
        open_checkpoint(write_gguf(tmp_path / "model.gguf", metadata=metadata))


@pytest.mark.parametrize(
    ("name", "array", "reason"),
    [
        ("blk.1.ffn_up.weight", None, "blk.1.ffn_up.weight is missing"),
        ("output_norm.weight", None, "output_norm.weight is missing"),
        ("blk.0.attn_q.weight", np.zeros((HIDDEN, 32), np.float32), "blk.0.attn_q.weight has the shape"),
        ("token_embd.weight", np.zeros((len(TOKENS), 32), np.float32), "token_embd.weight has the shape"),
    ],
)
def test_missing_and_misshapen_tensors_are_refused_by_name(
    tmp_path: Path, name: str, array: NDArray[np.float32] | None, reason: str
) -> None:
    with pytest.raises(BadCheckpoint, match=reason):
        open_checkpoint(write_gguf(tmp_path / "model.gguf", tensors={name: array}))


def test_an_unknown_tensor_is_refused_and_a_harmless_one_ignored(tmp_path: Path) -> None:
    extra = np.ones(8, np.float32)
    checkpoint = open_checkpoint(
        write_gguf(tmp_path / "harmless.gguf", tensors={"blk.0.attn_rot_embd.weight": extra})
    )
    assert len(checkpoint.weights) == 2 + 9 * 2
    with pytest.raises(UnsupportedModel, match="ffn_gate_inp"):
        open_checkpoint(write_gguf(tmp_path / "unknown.gguf", tensors={"blk.0.ffn_gate_inp.weight": extra}))
    with pytest.raises(UnsupportedModel, match=r"whole matrices \(blk\.0\.attn_q\.scale\)"):
        open_checkpoint(write_gguf(tmp_path / "scaled.gguf", tensors={"blk.0.attn_q.scale": extra[:1]}))


def test_a_folder_with_one_gguf_file_is_that_file(tmp_path: Path) -> None:
    path = write_gguf(tmp_path / "model.gguf")
    assert open_checkpoint(tmp_path).path == path


def test_a_gguf_file_of_another_name_is_recognised(tmp_path: Path) -> None:
    assert open_checkpoint(write_gguf(tmp_path / "blob")).format == "gguf"


def test_other_and_missing_files_are_refused(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("hello")
    with pytest.raises(UnsupportedModel, match=r"notes\.txt"):
        open_checkpoint(tmp_path / "notes.txt")
    with pytest.raises(ModelNotFound):
        open_checkpoint(tmp_path / "missing.gguf")


def test_end_tokens_of_all_kinds_are_collected(tmp_path: Path) -> None:
    path = write_gguf(
        tmp_path / "model.gguf",
        metadata={
            "tokenizer.ggml.eot_token_id": 5,
            "tokenizer.ggml.eom_token_id": 2,
            "tokenizer.ggml.bos_token_id": 10**6,
            "tokenizer.ggml.suppress_tokens": [4, 10**6],
        },
    )
    generation = open_checkpoint(path).generation
    assert generation.eos_token_ids == (2, 5)
    assert generation.suppress_tokens == (4,)
    assert generation.bos_token_id is None
