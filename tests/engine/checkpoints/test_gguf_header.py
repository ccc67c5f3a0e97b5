"""GGUF headers: valid ones are read, all others refused with a named error, in bounded time and memory."""

import re
import struct
import sys
import time
import tracemalloc
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from engine.checkpoints import open_checkpoint
from engine.checkpoints.gguf_header import STRINGS_LIMIT, read_header
from engine.errors import BadCheckpoint, UnsupportedModel
from tests.engine.checkpoints.files import named_errors_only, write_gguf

SOME = settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


def text(value: str | bytes) -> bytes:
    data = value if isinstance(value, bytes) else value.encode()
    return struct.pack("<Q", len(data)) + data


def entry(key: str, kind: int, value: bytes) -> bytes:
    return text(key) + struct.pack("<I", kind) + value


def tensor(name: str = "a", shape: tuple[int, ...] = (8,), kind: int = 0, offset: int = 0) -> bytes:
    return text(name) + struct.pack(f"<I{len(shape)}QIQ", len(shape), *shape, kind, offset)


def header(
    *parts: bytes, tensors: int = 0, entries: int = 0, version: int = 3, magic: bytes = b"GGUF", data: int = 0
) -> bytes:
    """Return a file with these parts, padding to 32 bytes and `data` bytes of weights."""
    head = magic + struct.pack("<IQQ", version, tensors, entries) + b"".join(parts)
    return head + bytes(-len(head) % 32) + bytes(data)


@contextmanager
def bounded(seconds: float = 1.0, mebibytes: float = 64.0) -> Iterator[None]:
    """Fail if the block takes more time of this thread or its peak allocation is larger."""
    tracemalloc.start()
    started = time.thread_time()  # not what other programs take
    try:
        yield
    finally:
        taken = time.thread_time() - started
        peak = tracemalloc.get_traced_memory()[1] / 2**20
        tracemalloc.stop()
    assert taken < seconds
    assert peak < mebibytes


def refused(folder: Path, data: bytes) -> BadCheckpoint | UnsupportedModel:
    path = folder / "model.gguf"
    path.write_bytes(data)
    with bounded(), pytest.raises((BadCheckpoint, UnsupportedModel)) as caught:
        read_header(path)
    assert caught.value.hint
    return caught.value


def test_a_valid_header_is_read(tmp_path: Path) -> None:
    numbers = struct.pack("<IQ", 5, 3) + struct.pack("<3i", 1, -2, 3)
    words = struct.pack("<IQ", 8, 2) + text("ab") + text("ü")
    parts = [
        *(entry("u", 4, struct.pack("<I", 7)), entry("f", 12, struct.pack("<d", 0.5)), entry("b", 7, b"\1")),
        *(entry("s", 8, text("hi")), entry("n", 9, numbers), entry("w", 9, words)),
        *(tensor("x", (32, 2), kind=2), tensor("y", (3,), offset=64)),
    ]
    path = tmp_path / "model.gguf"
    path.write_bytes(header(*parts, tensors=2, entries=6, data=64 + 12))
    found = read_header(path)
    assert found.version == 3
    assert found.metadata.pop("n").tolist() == [1, -2, 3]  # type: ignore[union-attr]
    assert found.metadata == {"u": 7, "f": 0.5, "b": True, "s": "hi", "w": ["ab", "ü"]}
    x, y = found.tensors["x"], found.tensors["y"]
    assert (x.shape, x.storage, x.nbytes) == ((2, 32), "Q4_0", 36)
    assert (y.shape, y.storage, y.nbytes, y.offset - x.offset) == ((3,), "F32", 12, 64)
    assert y.offset + y.nbytes == path.stat().st_size


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (header(magic=b"GGML"), "not a GGUF file"),
        (header(version=1), "version 1"),
        (header(version=4), "version 4"),
        (b"GGUF" + struct.pack(">IQQ", 3, 0, 0), "big-endian"),
        (header(tensors=2**60), "1,152,921,504,606,846,976 tensors"),
        (header(tensors=1000), "is incomplete"),
        (header(entries=2**60), "metadata entries"),
        (header(entries=1000), "is incomplete"),
        (header(struct.pack("<Q", 2**62), entries=1, data=64), "bytes of text"),
        (header(entry("k", 8, struct.pack("<Q", 2**40)), entries=1), "bytes of text"),
        (header(entry("k", 8, struct.pack("<Q", 2**20)), entries=1), "is incomplete"),
        (header(entry("k", 9, struct.pack("<IQ", 8, 2**50)), entries=1), "strings"),
        (header(entry("k", 9, struct.pack("<IQ", 6, 2**62)), entries=1), "array items"),
        (header(entry("k", 9, struct.pack("<IQ", 6, 2**20)), entries=1), "is incomplete"),
        (header(entry("k", 9, struct.pack("<IQIQ", 9, 1, 4, 0)), entries=1), "items of type 9"),
        (header(entry("k", 13, b""), entries=1, data=64), "unknown type 13"),
        (header(entry("k", 9, struct.pack("<IQ", 99, 0)), entries=1, data=64), "items of type 99"),
        (header(entry("k", 8, text(b"\xff\xfe")), entries=1, data=64), "not UTF-8"),
        (header(entry("k", 9, struct.pack("<IQ", 8, 1) + text(b"\xc3")), entries=1, data=64), "not UTF-8"),
        (header(entry("k", 4, bytes(4)), entry("k", 4, bytes(4)), entries=2, data=64), "appears twice"),
        (header(entry("general.alignment", 4, struct.pack("<I", 0)), entries=1, data=64), "alignment 0"),
        (header(entry("general.alignment", 4, struct.pack("<I", 48)), entries=1, data=64), "alignment 48"),
        (header(entry("general.alignment", 4, struct.pack("<I", 2**31)), entries=1, data=64), "alignment"),
        (header(entry("general.alignment", 8, text("32")), entries=1, data=64), "alignment '32'"),
        (header(tensor(shape=()), tensors=1, data=64), "0 dimensions"),
        (header(tensor(shape=(1,) * 5), tensors=1, data=64), "5 dimensions"),
        (header(text("a") + struct.pack("<I", 2**31), tensors=1, data=64), "2147483648 dimensions"),
        (header(tensor(shape=(4, 0)), tensors=1, data=64), r"shape \(0, 4\)"),
        (header(tensor(shape=(2**63, 2**63)), tensors=1, data=64), "is incomplete"),
        (header(tensor(kind=4), tensors=1, data=64), "ggml format 4"),
        (header(tensor(kind=2**31), tensors=1, data=64), "ggml format"),
        (header(tensor(shape=(33,), kind=2), tensors=1, data=64), "not whole blocks of 32"),
        (header(tensor(offset=4), tensors=1, data=64), "not aligned"),
        (header(tensor(offset=64), tensors=1, data=64), "is incomplete"),
        (header(tensor(shape=(17,)), tensors=1, data=64), "is incomplete"),
        (header(tensor(offset=2**63), tensors=1, data=64), "is incomplete"),
        (header(tensor("a"), tensor("a", offset=32), tensors=2, data=64), "appears twice"),
        (header(tensor("a", (9,)), tensor("b", offset=32), tensors=2, data=64), "overlaps"),
        (header(tensor("a"), tensor("b"), tensors=2, data=64), "overlaps"),
    ],
)
def test_each_error_is_refused_with_its_reason(tmp_path: Path, data: bytes, reason: str) -> None:
    error = refused(tmp_path, data)
    assert re.search(reason, error.message), error.message


def test_a_truncated_file_is_refused_with_its_size(tmp_path: Path) -> None:
    error = refused(tmp_path, header(tensor(shape=(1000,)), tensors=1, data=2000))
    assert "it has 2,064 of at least 4,064 bytes" in error.message
    assert "Download it again" in error.hint


def test_every_truncation_of_a_header_is_refused(tmp_path: Path) -> None:
    path = write_gguf(tmp_path / "whole.gguf")
    whole = path.read_bytes()
    head = min(entry.offset for entry in read_header(path).tensors.values())
    cut = tmp_path / "cut.gguf"
    for nbytes in [*range(head + 40), len(whole) - 1]:
        cut.write_bytes(whole[:nbytes])
        with pytest.raises(BadCheckpoint):
            open_checkpoint(cut)


@pytest.mark.parametrize("count", [2**27, 2**30, 2**40])
def test_absurd_counts_in_a_large_file_cost_nothing(tmp_path: Path, count: int) -> None:
    # A sparse file, so that the count fits the size of the file.
    path = tmp_path / "model.gguf"
    for value in (struct.pack("<IQ", 8, count), struct.pack("<IQ", 4, count)):
        with path.open("wb") as file:
            file.write(header(entry("k", 9, value), entries=1))
            file.truncate(2**42 if sys.platform == "linux" else 2**31)
        with bounded(), pytest.raises(BadCheckpoint):
            read_header(path)


def test_all_arrays_of_strings_share_one_limit(tmp_path: Path) -> None:
    counts = (2**18, STRINGS_LIMIT - 2**18 + 1)  # either would be read alone
    arrays = [struct.pack("<IQ", 8, count) + bytes(8 * count) for count in counts]
    path = tmp_path / "model.gguf"
    path.write_bytes(header(*(entry(f"k{i}", 9, array) for i, array in enumerate(arrays)), entries=2))
    started = time.thread_time()  # not what other programs take
    with pytest.raises(BadCheckpoint, match="strings"):
        read_header(path)
    assert time.thread_time() - started < 1.0


def test_a_typical_vocabulary_is_read_quickly(tmp_path: Path) -> None:
    tokens = b"".join(text(f"token {i}") for i in range(150_000))
    strings = struct.pack("<IQ", 8, 150_000) + tokens
    path = tmp_path / "model.gguf"
    path.write_bytes(header(entry("tokens", 9, strings), entry("merges", 9, strings), entries=2))
    started = time.thread_time()
    found = read_header(path)
    assert time.thread_time() - started < 0.5
    assert found.metadata["merges"][-1] == "token 149999"  # type: ignore[index]


@pytest.fixture(scope="module")
def valid(tmp_path_factory: pytest.TempPathFactory) -> tuple[bytes, int]:
    """Return the bytes of a tiny file, and the size of its header."""
    path = write_gguf(tmp_path_factory.mktemp("valid") / "model.gguf", "qwen2")
    return path.read_bytes(), min(entry.offset for entry in read_header(path).tensors.values())


def open_quickly(path: Path, data: bytes) -> None:
    path.write_bytes(data)
    started = time.thread_time()
    with named_errors_only():
        open_checkpoint(path)
    assert time.thread_time() - started < 1.0


@SOME
@given(
    changes=st.lists(
        st.tuples(st.floats(0, 1, exclude_max=True), st.integers(1, 255)), min_size=1, max_size=4
    )
)
def test_flipped_bits_raise_named_errors_only(
    tmp_path: Path, valid: tuple[bytes, int], changes: list[tuple[float, int]]
) -> None:
    data = bytearray(valid[0])
    for place, bits in changes:
        data[int(place * valid[1])] ^= bits
    open_quickly(tmp_path / "flipped.gguf", bytes(data))


@SOME
@given(place=st.floats(0, 1), garbage=st.binary(min_size=1, max_size=64), insert=st.booleans())
def test_garbage_in_the_header_gives_named_errors_only(
    tmp_path: Path, valid: tuple[bytes, int], place: float, garbage: bytes, insert: bool
) -> None:
    data, head = valid
    at = int(place * head)
    open_quickly(tmp_path / "garbage.gguf", data[:at] + garbage + data[at if insert else at + len(garbage) :])


@SOME
@given(
    place=st.floats(0, 1),
    number=st.sampled_from([0, 1, 2**16, 2**31 - 1, 2**31, 2**32 - 1, 2**60, 2**63, 2**64 - 1]),
    nbytes=st.sampled_from([4, 8]),
)
def test_extreme_numbers_anywhere_raise_named_errors_only(
    tmp_path: Path, valid: tuple[bytes, int], place: float, number: int, nbytes: int
) -> None:
    data, head = valid
    at = int(place * head)
    changed = (number % 2 ** (8 * nbytes)).to_bytes(nbytes, "little")
    open_quickly(tmp_path / "extreme.gguf", data[:at] + changed + data[at + nbytes :])


@SOME
@given(tail=st.binary(max_size=400))
def test_garbage_after_the_magic_gives_named_errors_only(tmp_path: Path, tail: bytes) -> None:
    open_quickly(tmp_path / "noise.gguf", b"GGUF" + struct.pack("<I", 3) + tail)


def test_refusing_a_large_header_costs_a_small_multiple_of_its_size(tmp_path: Path) -> None:
    array = struct.pack("<IQ", 6, 2**23) + np.zeros(2**23, np.float32).tobytes()
    path = tmp_path / "model.gguf"
    path.write_bytes(header(entry("a", 9, array), entry("b", 9, struct.pack("<IQ", 6, 2**40)), entries=2))
    with bounded(mebibytes=4 * 32), pytest.raises(BadCheckpoint):
        read_header(path)
