"""Folders of safetensors: reading valid ones, refusing damaged and unsafe ones by name."""

import json
import pickle
import struct
import time
import tracemalloc
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from safetensors.numpy import load_file, save_file
from transformers import AutoConfig

from engine.checkpoints import Span, TokenizerFolder, open_checkpoint, read_span
from engine.checkpoints.safetensors import read_header
from engine.errors import BadCheckpoint, UnsupportedModel
from tests.engine.checkpoints.files import named_errors_only, write_folder

SOME = settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


def file_with(header: Any, data: bytes = b"") -> bytes:
    """Return a file with this header, given as an object or as raw text."""
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + data


def floats(begin: int, end: int, shape: list[Any] | None = None, dtype: str = "F32") -> dict[str, Any]:
    return {
        "dtype": dtype,
        "shape": [(end - begin) // 4] if shape is None else shape,
        "data_offsets": [begin, end],
    }


def refused(folder: Path, data: bytes) -> BadCheckpoint | UnsupportedModel:
    path = folder / "model.safetensors"
    path.write_bytes(data)
    tracemalloc.start()
    started = time.thread_time()  # not what other programs take
    try:
        with pytest.raises((BadCheckpoint, UnsupportedModel)) as caught:
            read_header(path)
        assert tracemalloc.get_traced_memory()[1] < 32 << 20
    finally:
        tracemalloc.stop()
    assert time.thread_time() - started < 1.0
    assert caught.value.hint
    return caught.value


# -- valid folders -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("shards", [1, 2])
def test_spans_equal_what_safetensors_loads(tmp_path: Path, shards: int) -> None:
    folder = write_folder(tmp_path / "model", shards=shards)
    checkpoint = open_checkpoint(folder)
    expected = {
        name: array for file in folder.glob("*.safetensors") for name, array in load_file(file).items()
    }
    assert checkpoint.weights.keys() == expected.keys()
    for name, weight in checkpoint.weights.items():
        assert weight.shape == expected[name].shape
        assert read_span(weight.spans[0]).tobytes() == expected[name].tobytes()
    assert checkpoint.tokenizer == TokenizerFolder(folder)
    assert checkpoint.generation.eos_token_ids == (2,)


def test_a_file_can_be_opened_directly(tmp_path: Path) -> None:
    folder = write_folder(tmp_path / "model")
    assert open_checkpoint(folder / "model.safetensors").weights == open_checkpoint(folder).weights


def test_every_plain_number_type_is_read(tmp_path: Path) -> None:
    types = ("float64", "float32", "float16", "int64", "int32", "int16", "int8", "uint8", "bool")
    arrays = {kind: np.ones((2, 3), kind) for kind in types} | {"empty": np.ones((0, 3), "float32")}
    save_file({**arrays, "scalar": np.array(3.0, "float32")}, tmp_path / "a.safetensors")
    spans = read_header(tmp_path / "a.safetensors")
    assert {name: span.storage for name, span in spans.items()} == {
        **{
            "float64": "F64",
            "float32": "F32",
            "float16": "F16",
            "int64": "I64",
            "int32": "I32",
            "int16": "I16",
        },
        **{"int8": "I8", "uint8": "U8", "bool": "BOOL", "empty": "F32", "scalar": "F32"},
    }
    assert spans["scalar"].shape == ()
    assert read_span(spans["empty"]).size == 0


def test_a_file_may_have_as_many_tensors_as_a_model_of_many_experts(tmp_path: Path) -> None:
    """Qwen3-Next 80B A3B: 512 experts in 48 layers and one for drafts."""
    names = [
        f"model.layers.{layer}.mlp.experts.{expert}.{kind}_proj.weight"
        for layer in range(49)
        for expert in range(512)
        for kind in ("gate", "up", "down")
    ]
    path = tmp_path / "model.safetensors"
    path.write_bytes(file_with(dict.fromkeys(names, floats(0, 0, [0, 8]))))
    assert len(read_header(path)) == len(names)


def test_transformers_accepts_the_configuration(tmp_path: Path) -> None:
    folder = write_folder(
        tmp_path, {"rope_theta": 5e5, "rope_scaling": {"rope_type": "linear", "factor": 2.0}}
    )
    checkpoint = open_checkpoint(folder)
    ours = AutoConfig.for_model(checkpoint.architecture, **checkpoint.config)
    theirs = AutoConfig.from_pretrained(folder, local_files_only=True)
    assert ours.to_dict() | {"_name_or_path": ""} == theirs.to_dict() | {"_name_or_path": ""}
    assert ours.rope_parameters["rope_theta"] == 5e5


def test_a_missing_head_is_tied_and_a_copy_of_a_tied_head_ignored(tmp_path: Path) -> None:
    tied = open_checkpoint(write_folder(tmp_path / "a", tied=True))
    assert tied.config["tie_word_embeddings"] is True
    copied = open_checkpoint(write_folder(tmp_path / "b", {"tie_word_embeddings": True}, tied=False))
    assert "lm_head.weight" not in copied.weights
    untied = open_checkpoint(write_folder(tmp_path / "c", tied=False))
    assert "lm_head.weight" in untied.weights
    assert "tie_word_embeddings" not in untied.config


def test_end_tokens_come_from_both_configurations(tmp_path: Path) -> None:
    folder = write_folder(tmp_path, {"eos_token_id": [2, 3]})
    settings = {"eos_token_id": [5, 2], "temperature": 0.7, "top_k": 20, "top_p": "much", "bos_token_id": 1}
    settings["suppress_tokens"] = [7, 4, 7, -1, "6"]
    settings["begin_suppress_tokens"] = [9, -4, 9]
    (folder / "generation_config.json").write_text(json.dumps(settings))
    generation = open_checkpoint(folder).generation
    assert generation.eos_token_ids == (5, 2, 3)
    assert (generation.temperature, generation.top_k, generation.top_p) == (0.7, 20, None)
    assert generation.bos_token_id == 1
    assert generation.suppress_tokens == (7, 4)
    assert generation.begin_suppress_tokens == (9,)


# -- files ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "is incomplete"),
        (b"1234567", "is incomplete"),
        (struct.pack("<Q", 2**63), "declares a header"),
        (struct.pack("<Q", 100_000_001), "declares a header"),
        (struct.pack("<Q", 1000) + b"{}", "is incomplete"),
        (file_with(b"{"), "not valid JSON"),
        (file_with(b"\xff\xfe"), "not valid JSON"),
        (file_with(b"[1]"), "not contain a JSON object"),
        (file_with(b"[" * 90_000), "not valid JSON"),
        (file_with(b'{"a": 1, "a": 2}'), "appears twice"),
        (file_with({"a": 1}), "not an object"),
        (file_with({"a": {}}), "wrong type"),
        (file_with({"a": floats(0, 8) | {"shape": "2"}}, bytes(8)), "wrong type"),
        (file_with({"a": floats(0, 8, [2.0])}, bytes(8)), "wrong type"),
        (file_with({"a": floats(0, 8, [True])}, bytes(8)), "wrong type"),
        (file_with({"a": floats(0, 8, [-2])}, bytes(8)), "wrong type"),
        (file_with({"a": floats(0, 8, [2] * 9)}, bytes(8)), "wrong type"),
        (file_with({"a": floats(0, 8) | {"data_offsets": [0]}}, bytes(8)), "not a pair"),
        (file_with({"a": floats(0, 8) | {"data_offsets": [-4, 4]}}, bytes(8)), "wrong type"),
        (file_with({"a": floats(0, 8, [3])}, bytes(8)), "8 bytes do not match"),
        (file_with({"a": floats(8, 0, [2])}, bytes(8)), "do not match"),
        (file_with({"a": floats(0, 8, [2**62, 2**62])}, bytes(8)), "do not match"),
        (file_with({"a": floats(0, 8)}, bytes(7)), "is incomplete"),
        (file_with({"a": floats(2**62, 2**62 + 8)}, bytes(8)), "is incomplete"),
        (file_with({"a": floats(0, 8), "b": floats(4, 12)}, bytes(12)), "overlaps a"),
        (file_with({"a": floats(0, 8), "b": floats(0, 8)}, bytes(12)), "overlaps a"),
        (file_with({"a": floats(0, 8, [16], "F4")}, bytes(8)), "stores a as 'F4'"),
        (file_with({"a": floats(0, 18, [32], "Q4_0")}, bytes(18)), "stores a as 'Q4_0'"),
    ],
)
def test_each_error_in_a_file_is_refused_with_its_reason(tmp_path: Path, data: bytes, reason: str) -> None:
    assert reason in refused(tmp_path, data).message


def test_every_truncation_is_refused(tmp_path: Path) -> None:
    whole = (write_folder(tmp_path / "whole") / "model.safetensors").read_bytes()
    head = 8 + struct.unpack_from("<Q", whole)[0]
    for nbytes in [*range(head + 8), len(whole) - 1]:
        path = tmp_path / "cut.safetensors"
        path.write_bytes(whole[:nbytes])
        with pytest.raises(BadCheckpoint):
            read_header(path)


@SOME
@given(
    changes=st.lists(
        st.tuples(st.floats(0, 1, exclude_max=True), st.integers(1, 255)), min_size=1, max_size=4
    )
)
def test_flipped_bits_raise_named_errors_only(tmp_path: Path, changes: list[tuple[float, int]]) -> None:
    folder = write_folder(tmp_path / "model")
    data = bytearray((folder / "model.safetensors").read_bytes())
    head = 8 + struct.unpack_from("<Q", data)[0]
    for place, bits in changes:
        data[int(place * head)] ^= bits
    (folder / "model.safetensors").write_bytes(data)
    with named_errors_only():
        open_checkpoint(folder)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)


@settings(SOME, max_examples=60)
@given(
    header=st.dictionaries(
        st.text(max_size=8),
        JSON | st.fixed_dictionaries({"dtype": st.just("F32") | JSON, "shape": JSON, "data_offsets": JSON}),
        max_size=4,
    ),
    config=JSON | st.dictionaries(st.sampled_from(["model_type", "eos_token_id", "auto_map"]), JSON),
    index=JSON | st.fixed_dictionaries({"weight_map": JSON | st.just({"a": "model.safetensors"})}),
)
def test_any_json_gives_named_errors_only(tmp_path: Path, header: Any, config: Any, index: Any) -> None:
    write_folder(tmp_path)
    (tmp_path / "model.safetensors").write_bytes(file_with(header, bytes(64)))
    (tmp_path / "model.safetensors.index.json").write_text(json.dumps(index))
    for content in (config, {"model_type": "llama"}):
        (tmp_path / "config.json").write_text(json.dumps(content))
        with named_errors_only():
            open_checkpoint(tmp_path)


def test_a_short_read_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(bytes(10))
    with pytest.raises(BadCheckpoint, match="it has 10 of at least 12 bytes"):
        read_span(Span(tmp_path / "a", 4, 8, (2,), "F32"))


# -- folders -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "shard",
    ["../model.safetensors", "/model.safetensors", "a/b.safetensors", "..\\b.safetensors", "C:b.safetensors"],
)
def test_shards_outside_the_folder_are_refused(tmp_path: Path, shard: str) -> None:
    folder = write_folder(tmp_path / "model", shards=2)
    (folder / "model.safetensors.index.json").write_text(json.dumps({"weight_map": {"a": shard}}))
    with pytest.raises(BadCheckpoint, match="not a file of this folder"):
        open_checkpoint(folder)


def test_a_missing_shard_and_a_tensor_in_the_wrong_shard_are_refused(tmp_path: Path) -> None:
    folder = write_folder(tmp_path / "model", shards=2)
    index = folder / "model.safetensors.index.json"
    places = json.loads(index.read_text())["weight_map"]
    index.write_text(
        json.dumps({"weight_map": places | {"model.norm.weight": places["model.embed_tokens.weight"]}})
    )
    with pytest.raises(BadCheckpoint, match=r"does not contain model\.norm\.weight"):
        open_checkpoint(folder)
    index.write_text(json.dumps({"weight_map": places}))
    (folder / "model-00002-of-00002.safetensors").unlink()
    with pytest.raises(BadCheckpoint, match="is missing"):
        open_checkpoint(folder)


def test_pickle_files_are_refused_unopened(tmp_path: Path) -> None:
    folder = write_folder(tmp_path / "model")
    (folder / "model.safetensors").unlink()
    (folder / "pytorch_model.bin").write_bytes(pickle.dumps([1]))
    for path in (folder, folder / "pytorch_model.bin"):
        with pytest.raises(UnsupportedModel, match="pickle"):
            open_checkpoint(path)


def test_shipped_code_is_refused_only_where_it_is_needed(tmp_path: Path) -> None:
    code = {"auto_map": {"AutoModelForCausalLM": "modeling.Model"}}
    assert (
        "auto_map" not in open_checkpoint(write_folder(tmp_path / "a", {"model_type": "phi3", **code})).config
    )
    with pytest.raises(UnsupportedModel, match="never run"):
        open_checkpoint(write_folder(tmp_path / "b", {"model_type": "chatglm", **code}))


def test_a_folder_without_a_model_is_refused_with_the_missing_file(tmp_path: Path) -> None:
    with pytest.raises(BadCheckpoint, match=r"config\.json"):
        open_checkpoint(tmp_path)
    (tmp_path / "config.json").write_text('{"model_type": "llama"}')
    with pytest.raises(BadCheckpoint, match=r"model\.safetensors"):
        open_checkpoint(tmp_path)
    (tmp_path / "config.json").write_text('{"hidden_size": 4}')
    with pytest.raises(BadCheckpoint, match="model_type"):
        open_checkpoint(tmp_path)
