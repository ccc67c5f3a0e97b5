"""Quantization of safetensors folders to GPTQ folders that the engine reads; early refusal of other
models."""

import json
from pathlib import Path

import pytest
import torch
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import AutoConfig, AutoModelForCausalLM

from engine.checkpoints import Groups, open_checkpoint, read_span
from engine.conversion import quantizer
from engine.conversion.quantizer import quantize
from engine.errors import BadCheckpoint, BadOption, MissingExtra, UnsupportedModel
from engine.formats import format_named
from engine.quantization import Packed, Workspace
from engine.tokenizer import load_tokenizer

VOCABULARY = 96


def write_model(folder: Path, architecture: str = "llama", **changes: object) -> Path:
    """Write a random model of two layers, with a tokenizer whose tokens are letters."""
    sizes = dict(
        vocab_size=VOCABULARY, hidden_size=64, intermediate_size=96, num_hidden_layers=2,
        num_attention_heads=2, num_key_value_heads=1, head_dim=32, tie_word_embeddings=True,
        max_position_embeddings=512,
    )  # fmt: skip
    torch.manual_seed(0)
    config = AutoConfig.for_model(architecture, **{**sizes, **changes})
    AutoModelForCausalLM.from_config(config, dtype=torch.float32).save_pretrained(folder)
    letters = {chr(32 + n): n for n in range(VOCABULARY)}
    backend = Tokenizer(models.BPE(letters, []))
    backend.pre_tokenizer = pre_tokenizers.Split("", "isolated")
    backend.save(str(folder / "tokenizer.json"))
    (folder / "tokenizer_config.json").write_text('{"tokenizer_class": "PreTrainedTokenizerFast"}')
    return folder


def test_without_the_extra_the_error_says_what_to_install(tmp_path, monkeypatch):
    monkeypatch.setattr(quantizer, "find_spec", lambda name: None)
    with pytest.raises(MissingExtra) as caught:
        quantize(open_checkpoint(write_model(tmp_path / "model")), tmp_path / "new")
    assert "specexec-desktop[gptq]" in caught.value.hint
    assert not (tmp_path / "new").exists()


@pytest.mark.parametrize("options", [{"bits": 5}, {"bits": 16}, {"group_size": 0}, {"group_size": 8}])
def test_invalid_gptq_settings_are_refused(tmp_path, options):
    with pytest.raises(BadOption) as caught:
        quantize(open_checkpoint(write_model(tmp_path / "model")), tmp_path / "new", **options)
    assert caught.value.hint


def test_a_folder_that_is_not_empty_is_left_alone(tmp_path):
    folder = write_model(tmp_path / "model")
    before = sorted(file.name for file in folder.iterdir())
    with pytest.raises(BadOption, match="already exists"):
        quantize(open_checkpoint(folder), folder)
    assert sorted(file.name for file in folder.iterdir()) == before


def test_matrices_that_gptq_cannot_pack_are_refused_in_advance(tmp_path):
    folder = write_model(tmp_path / "model", intermediate_size=80)
    with pytest.raises(UnsupportedModel, match=r"_proj\.weight of shape"):
        quantize(open_checkpoint(folder), tmp_path / "new")


def test_texts_are_split_into_windows(tmp_path):
    tokenizer = load_tokenizer(open_checkpoint(write_model(tmp_path / "model")))
    texts = ["", "ab", "c" * 600, "d" * 520]
    windows = [window["input_ids"] for window in quantizer._windows(tokenizer, texts)]
    assert [tuple(window.shape) for window in windows] == [(1, 2), (1, 512), (1, 88), (1, 512)]


def test_an_incomplete_model_is_not_completed_with_random_numbers(tmp_path, monkeypatch):
    folder = write_model(tmp_path / "model", tie_word_embeddings=False)
    monkeypatch.setattr(quantizer, "find_spec", lambda name: name)
    file = folder / "model.safetensors"
    file.write_bytes(file.read_bytes().replace(b"model.norm.weight", b"model.norm.weighd"))
    with pytest.raises(BadCheckpoint, match=r"model\.norm\.weight is missing"):
        quantize(open_checkpoint(folder), tmp_path / "new", texts=["some text"])


@pytest.mark.parametrize(
    ("bits", "size", "act_order", "error"), [(4, 32, True, 0.15), (4, 32, False, 0.15), (8, -1, False, 0.02)]
)
def test_a_quantized_model_is_close_to_the_original(tmp_path, bits, size, act_order, error):
    pytest.importorskip("gptqmodel", reason="needs the extra gptq")
    source = open_checkpoint(write_model(tmp_path / "model"))
    quantize(source, tmp_path / "new", bits, size, act_order)
    made = open_checkpoint(tmp_path / "new")
    assert made.weights.keys() == source.weights.keys()
    packed = {name: weight for name, weight in made.weights.items() if weight.groups}
    assert len(packed) == 2 * 7
    for name, weight in packed.items():
        indexed = len(weight.spans) == 4
        assert weight.groups == Groups(bits, weight.shape[1] if size == -1 else size, 1, indexed)
        parts = [torch.from_numpy(read_span(span)) for span in weight.spans]
        workspace = Workspace(torch.float32, torch.device("cpu"))
        found = Packed(format_named("GPTQ"), weight.shape, parts, workspace, weight.groups).dense()
        data = read_span(source.weights[name].spans[0])
        exact = torch.from_numpy(data).view(torch.float32).view(weight.shape)
        assert (found - exact).norm() < error * exact.norm()
    assert "dataset" not in json.loads((tmp_path / "new" / "config.json").read_text())["quantization_config"]
    assert load_tokenizer(made).encode("abc") == load_tokenizer(source).encode("abc")
    assert sorted(file.name for file in tmp_path.iterdir()) == ["model", "new"]
    with pytest.raises(UnsupportedModel, match="already quantized"):
        quantize(made, tmp_path / "again")
