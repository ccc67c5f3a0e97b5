"""JSON and TOML from outside: every fault is a ValueError."""

from pathlib import Path

import pytest

from engine import documents
from engine.documents import json_of, read_json, read_toml


@pytest.mark.parametrize(
    "content",
    [b"", b"{", b"\xff", b'"\xff"', b"[" * 100_000, b'{"a":' * 100_000, b"9" * 5000, b"NaN", b"[1, 2]"],
    ids=["empty", "cut off", "no JSON", "no text", "deep", "deep object", "huge number", "NaN", "list"],
)
def test_what_is_no_document_of_the_kind_is_a_value_error(content: bytes) -> None:
    with pytest.raises(ValueError, match=r".+"):
        json_of(content, dict[str, int])


def test_a_document_is_read_as_its_kind(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b'{"a": 1}')
    assert read_json(tmp_path / "a", dict[str, int]) == {"a": 1}
    (tmp_path / "b").write_bytes(b"a = [[[1]]]\nb.c.d = 2")
    assert read_toml(tmp_path / "b") == {"a": [[[1]]], "b": {"c": {"d": 2}}}


def test_a_file_may_be_as_long_as_its_bound_and_no_longer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(documents, "JSON_NBYTES", 1 << 20)
    file = tmp_path / "a"
    file.write_bytes(b" " * ((1 << 20) - 2) + b"{}")
    assert read_json(file, dict[str, int]) == {}
    file.write_bytes(b" " * ((1 << 20) - 1) + b"{}")
    with pytest.raises(ValueError, match="more than 1 MiB"):
        read_json(file, dict[str, int])


@pytest.mark.parametrize(
    "text", ["a = " + "[" * 64 + "]" * 64, "a" + ".a" * 64 + " = 1", "a = " + "[" * 5000]
)
def test_tables_nested_too_deeply_are_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "a").write_text(text)
    with pytest.raises(ValueError, match="deeply"):
        read_toml(tmp_path / "a")
