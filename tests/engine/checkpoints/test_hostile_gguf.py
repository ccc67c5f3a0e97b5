"""Hostile or damaged GGUF files: metadata, vocabularies, numbers."""

import time
from pathlib import Path
from typing import Any

import gguf
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.checkpoints import GgufVocabulary, Span, open_checkpoint
from engine.errors import BadCheckpoint
from engine.model.interface import no_progress
from engine.model.reader import read_ahead
from engine.tokenizer.chat import Guard
from engine.tokenizer.gguf import from_vocabulary
from tests.engine.checkpoints.files import write_gguf
from tests.engine.checkpoints.gguf_converter import convert
from tests.engine.checkpoints.refusal import FEW, load, refused
from tests.engine.models import reference

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


@pytest.mark.parametrize("name", ["model.norm.weight", "model.layers.1.mlp.up_proj.weight"])
@pytest.mark.parametrize("number", [np.nan, np.inf, -np.inf])
def test_non_finite_weights_are_refused_on_load(tmp_path: Path, name: str, number: float) -> None:
    path = convert(reference("llama"), tmp_path / "model.gguf")
    span = open_checkpoint(path).weights[name].spans[0]
    with path.open("r+b") as file:
        file.seek(span.offset + 4)
        file.write(np.float32(number).tobytes())
    with refused(BadCheckpoint):
        load(path)


def test_an_infinite_block_scale_is_refused_on_load(tmp_path: Path) -> None:
    packed = gguf.quantize(np.ones((96, 64), np.float32), gguf.GGMLQuantizationType.Q8_0)
    packed[3, :2] = np.array([np.inf], np.float16).view(np.uint8)
    (tmp_path / "raw").write_bytes(packed.tobytes())
    span = Span(tmp_path / "raw", 0, packed.nbytes, (96, 64), "Q8_0")
    with refused(BadCheckpoint):
        list(read_ahead({"a": ("Q8_0", (span,))}, no_progress))


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
def test_nested_special_tokens_neither_hang_nor_lose_text(
    tokens: list[str], kinds: list[int], text: str
) -> None:
    guard = Guard(tokens)
    assert "".join(piece for piece, _ in guard.pieces(guard.take_out(text))) == text
    types = np.array(kinds[: len(tokens)], np.int32)
    changes = dict(tokens=tokens, types=types, scores=np.zeros(len(tokens), np.float32), unknown_id=None)
    backend = from_vocabulary(vocabulary(**changes)).backend
    assert all(token < len(tokens) for token in backend.encode(text, add_special_tokens=False).ids)


def test_many_special_tokens_do_not_slow_down_a_message() -> None:
    started = time.thread_time()  # not what other programs take
    guard = Guard(f"<|special {number}|>" for number in range(200_000))
    text = "What is <|special 123456|>? " * 20
    assert "".join(piece for piece, _ in guard.pieces(guard.take_out(text))) == text
    assert time.thread_time() - started < 1.0
