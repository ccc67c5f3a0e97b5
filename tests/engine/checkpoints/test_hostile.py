"""Model files made to do harm, or broken by chance: a named error with a hint, soon, within bounded memory.

What each reader refuses by its reason is in its own tests; here are whole models, from the path to the
modules.
"""

import json
import os
import shutil
import struct
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import gguf
import numpy as np
import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from engine.checkpoints import GgufVocabulary, Span, open_checkpoint, read_span
from engine.checkpoints.safetensors import read_header
from engine.errors import BadCheckpoint, BadOption, ModelNotFound, SpecExecError, UnsupportedModel
from engine.loading import load_model, model_config
from engine.model import no_watch
from engine.reading import read_ahead
from engine.tokenizer import load_tokenizer
from engine.tokenizer.chat import Guard, render
from engine.tokenizer.gguf import from_vocabulary
from tests.engine.checkpoints.files import convert, named_errors_only, write_folder, write_gguf
from tests.engine.checkpoints.test_grouped import AWQ, GPTQ, awq_parts, gptq_parts, write
from tests.engine.models import reference

FEW = settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
BOUNDARIES = [0, 1, 2**15, 2**16, 2**31 - 1, 2**31, 2**32 - 1, 2**53, 2**60, 2**63 - 1, 2**63, 2**64 - 1]
MEMORY = 512 << 20


def _peak(since_now: bool = False) -> int:
    """Most bytes of memory this process had since it was last asked for those since now; 0 where the system
    does not say."""
    if sys.platform != "linux":
        return 0
    if since_now:
        Path("/proc/self/clear_refs").write_text("5")
    status = Path("/proc/self/status").read_text()
    return int(status.partition("VmHWM:")[2].split()[0]) << 10


@contextmanager
def refused(kind: type[SpecExecError] = SpecExecError, seconds: float = 1.0) -> Iterator[None]:
    """The block ends in a named error of this kind, with a hint and of bounded length, within the time, and
    without more memory than a hostile file may take."""
    before = _peak(since_now=True)
    started = time.process_time()
    with pytest.raises(kind) as caught:
        yield
    assert time.process_time() - started < seconds
    assert _peak() - before < MEMORY
    assert caught.value.hint
    assert len(caught.value.message) < 2000


def soundly(path: Path) -> None:
    """Open the model and its tokenizer: it is sound, or it is refused as it should be."""
    before = _peak(since_now=True)
    started = time.process_time()
    with named_errors_only():
        checkpoint = open_checkpoint(path)
        if isinstance(checkpoint.tokenizer, GgufVocabulary):
            from_vocabulary(checkpoint.tokenizer)
    assert _peak() - before < MEMORY
    assert time.process_time() - started < 1.0


def load(path: Path) -> None:
    load_model(open_checkpoint(path), torch.float32, torch.device("cpu"), no_watch, context=64)


# -- sound models, changed -----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A tiny model of each kind; of folders, the file whose bytes are changed."""
    folder = tmp_path_factory.mktemp("sound")
    convert(reference("llama"), folder / "split.gguf", tensors_per_part=12)
    write_gguf(folder / "one.gguf", "qwen2", metadata={"qwen2.rope.scaling.type": "linear"})
    shards = write_folder(folder / "shards", shards=2)
    gptq = write(folder / "gptq", gptq_parts(), GPTQ)
    awq = write(folder / "awq", awq_parts(), None, files={"quant_config.json": AWQ})
    return {
        "gguf": folder / "one.gguf",
        "split": next(folder.glob("split-00002-of-*.gguf")),
        "index": shards / "model.safetensors.index.json",
        "shard": next(shards.glob("model-00002-of-*.safetensors")),
        "config": gptq / "config.json",
        "gptq": gptq / "model.safetensors",
        "awq": awq / "quant_config.json",
    }


@pytest.mark.parametrize("kind", ["gguf", "split", "index", "shard", "config", "gptq", "awq"])
@FEW
@given(data=st.data())
def test_a_changed_model_gives_named_errors_only(
    sound: dict[str, Path], kind: str, data: st.DataObject
) -> None:
    file = sound[kind]
    whole = file.read_bytes()
    head = {".gguf": 3500, ".json": len(whole)}.get(file.suffix) or 8 + int.from_bytes(whole[:8], "little")
    at = data.draw(st.integers(0, min(head, len(whole)) - 1), label="place")
    change = data.draw(st.sampled_from(["bit", "cut", "number", "digits"]), label="change")
    if change == "bit":
        changed = whole[:at] + bytes([whole[at] ^ 1 << data.draw(st.integers(0, 7))]) + whole[at + 1 :]
    elif change == "cut":
        changed = whole[: data.draw(st.sampled_from([at, len(whole) - 1 - at]))]
    elif change == "number":
        number = struct.pack("<Q", data.draw(st.sampled_from(BOUNDARIES)))[
            : data.draw(st.sampled_from([4, 8]))
        ]
        changed = whole[:at] + number + whole[at + len(number) :]
    else:  # the next number written in decimal digits
        digits = [place for place in range(at, head) if whole[place : place + 1].isdigit()][:1] or [at]
        text = data.draw(
            st.sampled_from([*map(str, BOUNDARIES), "-1", "1e999", "NaN", "9" * 5000, '"1"', "[]"])
        )
        changed = whole[: digits[0]] + text.encode() + whole[digits[0] + 1 :]
    try:
        file.write_bytes(changed)
        soundly(file if file.suffix == ".gguf" else file.parent)
    finally:
        file.write_bytes(whole)


@pytest.mark.parametrize("missing", ["index", "shard", "split"])
def test_a_model_without_one_of_its_files_is_refused(
    tmp_path: Path, sound: dict[str, Path], missing: str
) -> None:
    folder = tmp_path / "model"
    shutil.copytree(sound[missing].parent, folder)
    (folder / sound[missing].name).unlink()
    left = next(folder.glob("split-*.gguf")) if missing == "split" else folder
    with refused(BadCheckpoint):
        open_checkpoint(left)


# -- the path ------------------------------------------------------------------------------------------------


def test_paths_that_lead_nowhere_are_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    for path in (tmp_path / "no", tmp_path / "file" / "model.gguf", Path("a\0b"), Path("x.gguf")):
        with refused(ModelNotFound):
            open_checkpoint(path)
    with refused(BadCheckpoint):
        open_checkpoint(tmp_path / ("long" * 1000))


@pytest.mark.parametrize("name", ["config.json", "model.safetensors.index.json", "model.safetensors"])
def test_a_folder_where_a_file_should_be_is_refused(tmp_path: Path, name: str) -> None:
    folder = write_folder(tmp_path / "model", shards=1 if name == "model.safetensors" else 2)
    (folder / name).unlink()
    (folder / name).mkdir()
    (tmp_path / "a.gguf").mkdir()
    for path in (folder, folder / name, tmp_path, tmp_path / "a.gguf"):
        with refused():
            open_checkpoint(path)


@pytest.mark.skipif(sys.platform == "win32", reason="no named pipes in folders")
@pytest.mark.parametrize("name", ["a.gguf", "a.safetensors", "model.safetensors", "config.json"])
def test_a_pipe_is_not_waited_for(tmp_path: Path, name: str) -> None:
    folder = tmp_path / "model"
    folder.mkdir()
    if name.endswith("safetensors"):
        (folder / "config.json").write_text('{"model_type": "llama"}')
    os.mkfifo(folder / name)
    with refused():
        open_checkpoint(folder)


@pytest.mark.skipif(sys.platform == "win32", reason="links need rights of their own")
def test_links_are_followed_but_not_in_circles(tmp_path: Path) -> None:
    folder = write_folder(tmp_path / "model")
    link = tmp_path / "link"
    link.mkdir()
    for file in folder.iterdir():
        (link / file.name).symlink_to(file)
    assert open_checkpoint(link).weights.keys() == open_checkpoint(folder).weights.keys()
    for name in ("config.json", "model.safetensors"):
        (link / name).unlink()
        (link / name).symlink_to(name)
        with refused():
            open_checkpoint(link)


@pytest.mark.skipif(sys.platform == "win32" or os.geteuid() == 0, reason="needs a file one may not read")
def test_a_file_that_may_not_be_read_is_refused(tmp_path: Path) -> None:
    path = write_gguf(tmp_path / "model.gguf")
    path.chmod(0)
    with refused(BadCheckpoint):
        open_checkpoint(path)


@pytest.mark.parametrize("make", [lambda folder: write_gguf(folder / "model.gguf"), write_folder])
def test_a_file_replaced_after_its_header_was_read_is_refused(
    tmp_path: Path, make: Callable[[Path], Path]
) -> None:
    weights = open_checkpoint(make(tmp_path)).weights
    span = weights["model.norm.weight"].spans[0]
    read_span(span)
    other = tmp_path / "other"
    other.write_bytes(span.file.read_bytes())
    os.utime(other, ns=(0, span.modified + 10**9))
    other.replace(span.file)
    with refused(BadCheckpoint):
        read_span(span)


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
def test_many_small_entries_in_a_header_are_bounded(tmp_path: Path, entry: bytes) -> None:
    text = b"{" + b"".join(entry.replace(b"a", b"%x" % number, 1) for number in range(500_000)) + b'"z":{}}'
    file = tmp_path / "model.safetensors"
    file.write_bytes(struct.pack("<Q", len(text)) + text)
    with refused(BadCheckpoint):
        read_header(file)


def test_headers_of_all_shards_are_bounded_together(tmp_path: Path) -> None:
    write_folder(tmp_path)
    text = b'{"__metadata__": {"a": "' + b"," * 400_000 + b'"}}'
    for number in range(50):
        (tmp_path / f"{number}.safetensors").write_bytes(struct.pack("<Q", len(text)) + text)
    places = {str(number): f"{number}.safetensors" for number in range(50)}
    (tmp_path / "model.safetensors.index.json").write_text(json.dumps({"weight_map": places}))
    with refused(BadCheckpoint):
        open_checkpoint(tmp_path)


@pytest.mark.parametrize("name", ["a\x1b[2Jb", "a" * 100_000, "a\nb", "\u202e", "\ud800"])
def test_names_that_would_disturb_a_terminal_are_refused(tmp_path: Path, name: str) -> None:
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
def test_absurd_sizes_are_refused_before_anything_is_built(tmp_path: Path, key: str, value: Any) -> None:
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
def test_configurations_that_make_no_model_are_refused(tmp_path: Path, config: dict[str, Any]) -> None:
    with refused():
        load(write_folder(tmp_path, config))


def test_private_settings_of_a_configuration_are_not_passed_on(tmp_path: Path) -> None:
    inner = {"_attn_implementation": "someone/kernel", "auto_map": {"AutoConfig": "code.Config"}}
    folder = write_folder(tmp_path / "a", {"_attn_implementation": "someone/kernel"})
    assert "_attn_implementation" not in open_checkpoint(folder).config
    wrapper = {"model_type": "gemma3", "text_config": {"model_type": "gemma3_text", **inner}}
    assert not inner.keys() & open_checkpoint(write_folder(tmp_path / "b", wrapper)).config.keys()


def test_numbers_no_float_can_hold_are_left_out(tmp_path: Path) -> None:
    folder = write_folder(tmp_path)
    (folder / "generation_config.json").write_text('{"temperature": 1' + "0" * 400 + "}")
    assert open_checkpoint(folder).generation.temperature is None


@pytest.mark.parametrize(
    "said",
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
    ids=lambda said: str(said)[:50],
)
def test_absurd_settings_of_packed_weights_are_refused(tmp_path: Path, said: Any) -> None:
    with refused():
        open_checkpoint(write(tmp_path, gptq_parts(), said))


@pytest.mark.skipif(sys.platform == "win32", reason="needs files with holes")
def test_a_stack_of_absurdly_many_experts_is_not_cut(tmp_path: Path) -> None:
    name = "model.layers.0.mlp.experts.gate_up_proj"
    text = json.dumps({name: {"dtype": "U8", "shape": [2**36, 2, 1], "data_offsets": [0, 2**37]}}).encode()
    write_folder(tmp_path, {"model_type": "mixtral"})
    with (tmp_path / "model.safetensors").open("wb") as file:
        file.write(struct.pack("<Q", len(text)) + text)
        file.truncate(8 + len(text) + 2**37)
    with refused(BadCheckpoint):
        open_checkpoint(tmp_path)


@pytest.mark.parametrize("name", ["model.norm.weight", "model.layers.1.mlp.up_proj.weight"])
@pytest.mark.parametrize("number", [np.nan, np.inf, -np.inf])
def test_numbers_that_are_none_are_refused_when_loaded(tmp_path: Path, name: str, number: float) -> None:
    path = convert(reference("llama"), tmp_path / "model.gguf")
    span = open_checkpoint(path).weights[name].spans[0]
    with path.open("r+b") as file:
        file.seek(span.offset + 4)
        file.write(np.float32(number).tobytes())
    with refused(BadCheckpoint):
        load(path)


def test_an_infinite_scale_of_a_block_is_refused_when_loaded(tmp_path: Path) -> None:
    packed = gguf.quantize(np.ones((96, 64), np.float32), gguf.GGMLQuantizationType.Q8_0)
    packed[3, :2] = np.array([np.inf], np.float16).view(np.uint8)
    (tmp_path / "raw").write_bytes(packed.tobytes())
    span = Span(tmp_path / "raw", 0, packed.nbytes, (96, 64), "Q8_0")
    with refused(BadCheckpoint):
        list(read_ahead({"a": ("Q8_0", (span,))}, no_watch))


# -- GGUF metadata -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "metadata",
    [
        {"llama.rope.scaling.type": "yarn", "llama.rope.scaling.attn_factor": [1.0, 2.0]},
        {"llama.rope.scaling.type": "x" * 10**6},
        {"llama.attention.key_length": 2**31 - 2},
        {"llama.embedding_length": 2**31},
        {"llama.block_count": 4000},
        {"llama.expert_count": 1024, "llama.expert_used_count": 2, "llama.block_count": 1000},
        {"general.architecture": None},
        {"tokenizer.ggml.pre": ["x"] * 100_000},
        {"tokenizer.ggml.scores": [float("nan")] * 15},
        {"split.count": 65_535, "split.no": 0, "split.tensors.count": 20},
    ],
    ids=str,
)
def test_absurd_metadata_is_refused(tmp_path: Path, metadata: dict[str, Any]) -> None:
    path = tmp_path / "model-00001-of-65535.gguf"
    if "general.architecture" in metadata:
        writer = gguf.GGUFWriter(path, "llama")
        writer.kv_data[0]["general.architecture"].value = "x" * 10**6
        writer.write_header_to_file()
        writer.write_kv_data_to_file()
        writer.close()
    else:
        write_gguf(path, metadata=metadata)
    with refused():
        open_checkpoint(path)


# -- vocabularies --------------------------------------------------------------------------------------------


def vocabulary(**changes: Any) -> GgufVocabulary:
    usual: dict[str, Any] = dict(
        model="llama",
        pre="gpt-2",
        tokens=["<unk>", *"abc", "ab", "abc"],
        scores=np.zeros(6, np.float32),
        types=None,
        merges=None,
        bos_id=None,
        eos_id=None,
        unknown_id=0,
        add_bos=None,
        add_eos=None,
        add_space_prefix=None,
        chat_template=None,
    )
    return GgufVocabulary(**(usual | changes))


@pytest.mark.parametrize(
    "changes",
    [
        dict(model="gpt2", merges=["a b", "ab ab"]),
        dict(model="gpt2", merges=["a b"] * 1000 + ["abc abc"]),
        dict(model="gpt2", merges=[""]),
        dict(model="gpt2", merges=["a" * 10**7]),
        dict(model="gpt2", merges=[]),
        dict(tokens=["a" * 10**7], scores=np.zeros(1, np.float32)),
        dict(tokens=["a" * number for number in range(6000)], scores=np.zeros(6000, np.float32)),
        dict(tokens=["a", "a"], scores=np.zeros(2, np.float32)),
        dict(tokens=["", "[EMPTY_0]"], scores=np.zeros(2, np.float32)),
        dict(tokens=["a" * number for number in range(1, 1025)], scores=np.zeros(1024, np.float32)),
        dict(
            tokens=[f"<{number}>" for number in range(70_000)],
            types=np.full(70_000, 3, np.int32),
            scores=np.zeros(70_000, np.float32),
        ),
        dict(scores=None),
        dict(pre="x" * 10**6, model="gpt2", merges=["a b"]),
        dict(model="x" * 10**6),
    ],
    ids=lambda changes: str(changes)[:60],
)
def test_hostile_vocabularies_are_refused(changes: dict[str, Any]) -> None:
    with refused():
        from_vocabulary(vocabulary(**changes))


@FEW
@given(
    tokens=st.lists(st.text("ab<>", min_size=1, max_size=6), min_size=1, max_size=20, unique=True),
    kinds=st.lists(st.integers(-1, 7), min_size=20, max_size=20),
    text=st.text("ab<> ", max_size=30),
)
def test_special_tokens_within_each_other_neither_hang_nor_lose_text(
    tokens: list[str], kinds: list[int], text: str
) -> None:
    guard = Guard(tokens)
    assert "".join(piece for piece, _ in guard.pieces(guard.take_out(text))) == text
    types = np.array(kinds[: len(tokens)], np.int32)
    changes = dict(tokens=tokens, types=types, scores=np.zeros(len(tokens), np.float32), unknown_id=None)
    backend = from_vocabulary(vocabulary(**changes)).backend
    assert all(token < len(tokens) for token in backend.encode(text, add_special_tokens=False).ids)


def test_very_many_special_tokens_do_not_slow_a_message() -> None:
    started = time.perf_counter()
    guard = Guard(f"<|special {number}|>" for number in range(200_000))
    text = "What is <|special 123456|>? " * 20
    assert "".join(piece for piece, _ in guard.pieces(guard.take_out(text))) == text
    assert time.perf_counter() - started < 1.0


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
def test_senseless_settings_of_a_tokenizer_are_left_out_or_refused(
    tmp_path: Path, config: dict[str, Any]
) -> None:
    write_folder(tmp_path)
    (tmp_path / "tokenizer.json").write_text(json.dumps({"version": "1.0", "model": BYTE_PAIRS}))
    (tmp_path / "tokenizer_config.json").write_text(json.dumps(config))
    with named_errors_only():
        assert load_tokenizer(open_checkpoint(tmp_path)).chat_template is None


# -- chat templates ------------------------------------------------------------------------------------------

HI = [{"role": "user", "content": "hi"}]
LOOP = "{% for i in range(99999) %}"


@pytest.mark.parametrize(
    "template",
    [
        LOOP * 3 + "{% endfor %}" * 3,
        "{{ 10 ** (10 ** 9) }}",
        "{{ ('a' * 10 ** 9 + 'b' * 10 ** 9) | length }}",
        "{% set n = namespace(x='aaaaaaaa') %}{% for i in range(60) %}{% set n.x = n.x ~ n.x %}{% endfor %}",
        "{{ 'a' * (20 * 10 ** 6) }}",
        "{% macro again() %}{{ again() }}{% endmacro %}{{ again() }}",
        "{{ " + "(" * 5000 + "1" + ")" * 5000 + " }}",
        "{{ ''.__class__.__mro__[1].__subclasses__() }}",
        "{{ messages.append(1) }}",
        "{% include '/etc/passwd' %}",
        "{{ 1 / 0 }}",
        "{{ nothing.at.all }}",
        "{% for %}",
        "a" * (2 << 20),
    ],
    ids=lambda template: template[:50],
)
def test_hostile_chat_templates_are_ended(template: str) -> None:
    render("{{ messages[0].content }}", HI, True, {})  # the process is there
    started = time.monotonic()
    with refused(UnsupportedModel):
        render(template, HI, True, {})
    assert time.monotonic() - started < 5.0  # on a machine that is busy; alone 1


def test_after_a_hostile_template_the_next_one_is_rendered() -> None:
    with refused(UnsupportedModel):
        render(LOOP * 3 + "{% endfor %}" * 3, HI, True, {})
    assert render("{{ bos_token }}{{ messages[0].content }}", HI, True, {"bos_token": "<s>"}) == "<s>hi"
    with refused(BadOption):
        render("{{ raise_exception('No.') }}", HI, True, {})


def test_a_template_that_makes_up_marks_is_refused() -> None:
    guard = Guard(["<s>"])
    marked = guard.take_out("<s>")
    with refused(UnsupportedModel):
        list(guard.pieces(marked.replace(":0", ":999999")))


# -- all of it -----------------------------------------------------------------------------------------------


def test_fuzzing_for_a_moment_finds_nothing(tmp_path: Path) -> None:
    pytest.importorskip("atheris")
    command = [sys.executable, "-m", "tests.engine.checkpoints.fuzz", "all", "--seconds", "1"]
    root = Path(__file__).parents[3]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(root), os.environ.get("PYTHONPATH", "")])}
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-3000:]
    assert not list(tmp_path.iterdir())
