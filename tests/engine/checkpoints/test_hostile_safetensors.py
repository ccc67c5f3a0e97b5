"""Hostile or damaged folders in Hugging Face's layout: JSON, configurations, tokenizer files."""

import json
import struct
import sys
from pathlib import Path
from typing import Any

import pytest

from engine.checkpoints import open_checkpoint
from engine.checkpoints.limits import TENSORS_LIMIT
from engine.checkpoints.safetensors import read_header
from engine.errors import BadCheckpoint
from engine.tokenizer import load_tokenizer
from engine.torch_model.loader import model_config
from tests.engine.checkpoints.files import named_errors_only, write_folder
from tests.engine.checkpoints.refusal import load, refused
from tests.engine.checkpoints.test_grouped import GPTQ, gptq_parts, write

# -- JSON ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        b'{"a": ' + b"[" * 100_000,
        b'{"a": ' + b'{"a": ' * 100_000,
        b'{"a": [' + b"[]," * 5_000_000 + b"0]}",
        b'{"a": [' + b"{}," * 5_000_000 + b"0]}",
        b'{"a": "' + b"a" * (40 << 20) + b'"}',
        b'{"model_type": "llama", "rms_norm_eps": NaN}',
        b'{"model_type": "llama", "rms_norm_eps": 1e999}',
        b'{"model_type": "llama", "rms_norm_eps": -Infinity}',
        b'{"model_type": "llama", "hidden_size": ' + b"9" * 100_000 + b"}",
        b'{"model_type": "llama", "model_type": "qwen2"}',
        b'{"model_type": "\xff"}',
        b"[]",
        b"",
    ],
    ids=lambda text: text[:40].decode(errors="replace"),
)
@pytest.mark.parametrize("name", ["config.json", "generation_config.json", "model.safetensors.index.json"])
def test_hostile_json_is_refused(tmp_path: Path, name: str, text: bytes) -> None:
    folder = write_folder(tmp_path, shards=2)
    (folder / name).write_bytes(text)
    with refused(BadCheckpoint):
        open_checkpoint(folder)


@pytest.mark.parametrize(
    "entry", [b'"a":[],', b'"a":{},', b'"a":{"dtype":"F32","shape":[],"data_offsets":[0,0]},']
)
def test_the_number_of_header_entries_is_bounded(tmp_path: Path, entry: bytes) -> None:
    entries = (entry.replace(b"a", b"%x" % number, 1) for number in range(TENSORS_LIMIT))
    text = b"{" + b"".join(entries) + b'"z":{}}'
    file = tmp_path / "model.safetensors"
    file.write_bytes(struct.pack("<Q", len(text)) + text)
    with refused(BadCheckpoint) as caught:
        read_header(file)
    assert "more than any model" in caught.value.message


def test_the_headers_of_all_shards_share_one_bound(tmp_path: Path) -> None:
    write_folder(tmp_path)
    text = b'{"__metadata__": {"a": "' + b"," * 400_000 + b'"}}'
    for number in range(50):
        (tmp_path / f"{number}.safetensors").write_bytes(struct.pack("<Q", len(text)) + text)
    places = {str(number): f"{number}.safetensors" for number in range(50)}
    (tmp_path / "model.safetensors.index.json").write_text(json.dumps({"weight_map": places}))
    with refused(BadCheckpoint):
        open_checkpoint(tmp_path)


@pytest.mark.parametrize("name", ["a\x1b[2Jb", "a" * 100_000, "a\nb", "\u202e", "\ud800"])
def test_names_with_control_characters_are_refused(tmp_path: Path, name: str) -> None:
    text = json.dumps({name: {"dtype": "F32", "shape": [], "data_offsets": [0, 4]}}).encode()
    (tmp_path / "model.safetensors").write_bytes(struct.pack("<Q", len(text)) + text + bytes(4))
    with refused(BadCheckpoint):
        read_header(tmp_path / "model.safetensors")


# -- configurations ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("value", [10**9, 2**31, 2**63, -1, 0, 1e9, "1000000000", [1], True, {"a": 1}])
@pytest.mark.parametrize(
    "key",
    [
        "num_hidden_layers",
        "hidden_size",
        "intermediate_size",
        "vocab_size",
        "num_attention_heads",
        "num_key_value_heads",
        "head_dim",
        "num_labels",
        "max_position_embeddings",
    ],
)
def test_absurd_sizes_are_refused_before_a_model_is_built(tmp_path: Path, key: str, value: Any) -> None:
    folder = write_folder(tmp_path, {key: value})
    if key == "max_position_embeddings" and value == 2**31:
        assert model_config(open_checkpoint(folder)).max_position_embeddings == value
        return
    with refused(BadCheckpoint):
        load(folder)


@pytest.mark.parametrize(
    "config",
    [
        {"model_type": "mixtral", "num_experts": 10**9},
        {"model_type": "mixtral", "num_local_experts": 10**9},
        {"model_type": "mixtral", "num_local_experts": 4, "num_experts_per_tok": 5},
        {"num_attention_heads": 4, "num_key_value_heads": 3},
        {"head_dim": 15},
        {"num_hidden_layers": 1000},
        {"num_hidden_layers": None},
        {"model_type": "qwen2", "layer_types": ["full_attention"] * 100_000},
        {"rope_parameters": {"rope_type": "dynamic", "rope_theta": 1e4, "factor": 0}},
        {
            "rope_parameters": {
                "rope_type": "longrope",
                "rope_theta": 1e4,
                "short_factor": [],
                "long_factor": [],
            }
        },
        {"rope_parameters": {"rope_type": "x" * 10**6}},
        {"hidden_act": "x" * 10**6},
        {"pad_token_id": 10**12},
        {"dtype": "no such type"},
        {"model_type": "x" * 10**6},
        {"model_type": "gemma3", "text_config": {"num_hidden_layers": 10**9}},
        {"hidden_size": 2**20, "vocab_size": 2**22},
    ],
    ids=lambda config: str(config)[:60],
)
def test_impossible_configurations_are_refused(tmp_path: Path, config: dict[str, Any]) -> None:
    with refused():
        load(write_folder(tmp_path, config))


def test_private_settings_are_dropped(tmp_path: Path) -> None:
    inner = {"_attn_implementation": "someone/kernel", "auto_map": {"AutoConfig": "code.Config"}}
    folder = write_folder(tmp_path / "a", {"_attn_implementation": "someone/kernel"})
    assert "_attn_implementation" not in open_checkpoint(folder).config
    wrapper = {"model_type": "gemma3", "text_config": {"model_type": "gemma3_text", **inner}}
    assert not inner.keys() & open_checkpoint(write_folder(tmp_path / "b", wrapper)).config.keys()


def test_numbers_beyond_a_float_are_ignored(tmp_path: Path) -> None:
    folder = write_folder(tmp_path)
    (folder / "generation_config.json").write_text('{"temperature": 1' + "0" * 400 + "}")
    assert open_checkpoint(folder).generation.temperature is None


@pytest.mark.parametrize(
    "config",
    [
        GPTQ | {"group_size": 10**18},
        GPTQ | {"bits": 10**18},
        GPTQ | {"group_size": 0},
        GPTQ | {"quant_method": "x" * 10**6},
        GPTQ | {"checkpoint_format": ["x" * 10**6]},
        GPTQ | {"dynamic": {f"+{number}": {"group_size": number} for number in range(1, 50_000)}},
        GPTQ | {"dynamic": [1]},
        [],
        "gptq",
    ],
    ids=lambda config: str(config)[:50],
)
def test_absurd_quantization_settings_are_refused(tmp_path: Path, config: Any) -> None:
    with refused():
        open_checkpoint(write(tmp_path, gptq_parts(), config))


@pytest.mark.skipif(sys.platform == "win32", reason="needs sparse files")
def test_an_absurd_number_of_stacked_experts_is_refused(tmp_path: Path) -> None:
    name = "model.layers.0.mlp.experts.gate_up_proj"
    text = json.dumps({name: {"dtype": "U8", "shape": [2**36, 2, 1], "data_offsets": [0, 2**37]}}).encode()
    write_folder(tmp_path, {"model_type": "mixtral"})
    with (tmp_path / "model.safetensors").open("wb") as file:
        file.write(struct.pack("<Q", len(text)) + text)
        file.truncate(8 + len(text) + 2**37)
    with refused(BadCheckpoint):
        open_checkpoint(tmp_path)


# -- tokenizer files -----------------------------------------------------------------------------------------

BYTE_PAIRS: dict[str, Any] = {"type": "BPE", "vocab": {"a": 0, "b": 1, "ab": 2}, "merges": [["a", "b"]]}
TEN = {"type": "Replace", "pattern": {"String": "a"}, "content": "a" * 10}


@pytest.mark.parametrize(
    "changes",
    [
        {"model": BYTE_PAIRS | {"merges": [["ab", "ab"]]}},
        {"model": BYTE_PAIRS | {"merges": [["a"]]}},
        {"model": BYTE_PAIRS | {"vocab": {"a": 2**32 - 1}, "merges": []}},
        {"model": BYTE_PAIRS | {"vocab": {}, "merges": []}},
        {"model": BYTE_PAIRS | {"continuing_subword_prefix": "####"}},
        {"model": BYTE_PAIRS | {"unk_token": "x", "vocab": {"b": 0}, "merges": []}},
        {"model": {"type": "WordLevel", "vocab": {"b": 0}, "unk_token": "x"}},
        {"model": {"type": "Unigram", "unk_id": None, "vocab": []}},
        {"model": {"type": "no such"}},
        {"normalizer": {"type": "Sequence", "normalizers": [TEN] * 12}},
        {"normalizer": {"type": "Precompiled", "precompiled_charsmap": "AAAAAAAA"}},
        {"pre_tokenizer": {"type": "FixedLength", "length": 0}},
        {"decoder": {"type": "Sequence", "decoders": [TEN] * 12}},
        {"added_tokens": "x"},
    ],
    ids=lambda changes: str(changes)[:70],
)
def test_hostile_tokenizer_files_are_refused(tmp_path: Path, changes: dict[str, Any]) -> None:
    write_folder(tmp_path)
    usual = {"version": "1.0", "added_tokens": [], "normalizer": None, "pre_tokenizer": None, "decoder": None}
    (tmp_path / "tokenizer.json").write_text(json.dumps(usual | {"model": BYTE_PAIRS} | changes))
    with refused(BadCheckpoint):
        load_tokenizer(open_checkpoint(tmp_path))


def test_a_decoder_that_fails_only_on_some_tokens_is_refused_by_name(tmp_path: Path) -> None:
    write_folder(tmp_path)
    strip = {"type": "Strip", "content": " ", "start": 1, "stop": 2**31 - 1}  # panics on an empty text
    decoder = {"type": "Sequence", "decoders": [{"type": "Fuse"}, strip]}
    text = {"version": "1.0", "model": BYTE_PAIRS, "decoder": decoder}
    (tmp_path / "tokenizer.json").write_text(json.dumps(text))
    tokenizer = load_tokenizer(open_checkpoint(tmp_path))
    with refused(BadCheckpoint):
        tokenizer.stream().step(0)


@pytest.mark.parametrize(
    "text", [b"[" * 10**6, b'{"a": [' + b"[]," * 5_000_000 + b"0]}", b" " * (65 << 20), b"{}"]
)
def test_large_and_empty_tokenizer_files_are_refused(tmp_path: Path, text: bytes) -> None:
    write_folder(tmp_path)
    (tmp_path / "tokenizer.json").write_bytes(text)
    with refused(BadCheckpoint):
        load_tokenizer(open_checkpoint(tmp_path))


def test_a_folder_without_a_tokenizer_is_refused(tmp_path: Path) -> None:
    with refused(BadCheckpoint):
        load_tokenizer(open_checkpoint(write_folder(tmp_path)))


@pytest.mark.parametrize(
    "config",
    [
        {"chat_template": [{"name": ["x"], "template": 1}, {"name": "default", "template": {}}, 3]},
        {"bos_token": "\ud800", "eos_token": {"content": 5}},
        {"chat_template": {"a": 1}},
    ],
    ids=str,
)
def test_invalid_tokenizer_settings_are_ignored_or_refused(tmp_path: Path, config: dict[str, Any]) -> None:
    write_folder(tmp_path)
    (tmp_path / "tokenizer.json").write_text(json.dumps({"version": "1.0", "model": BYTE_PAIRS}))
    (tmp_path / "tokenizer_config.json").write_text(json.dumps(config))
    with named_errors_only():
        assert load_tokenizer(open_checkpoint(tmp_path)).chat_template is None
