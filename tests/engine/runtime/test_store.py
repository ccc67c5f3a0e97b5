"""The folder of all runtimes."""

import json
import os
from pathlib import Path

import pytest

from engine.launch import interpreter
from engine.runtime.store import nbytes_in


@pytest.mark.skipif(os.name == "nt", reason="Windows reports links only for open files")
def test_a_file_with_two_names_counts_once(tmp_path: Path) -> None:
    (tmp_path / "cache" / "deep").mkdir(parents=True)
    (tmp_path / "cache" / "deep" / "one").write_bytes(b"12345")
    (tmp_path / "cache" / "two").write_bytes(b"123")
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib" / "one").hardlink_to(tmp_path / "cache" / "deep" / "one")
    assert nbytes_in([tmp_path / "cache"]) == nbytes_in([tmp_path]) == 8
    assert nbytes_in([tmp_path / "nowhere"]) == 0


@pytest.mark.parametrize(
    "content",
    [
        b"[" * 20_000,
        b'{"folder": "../cpu-1"}',
        b'{"folder": "/tmp"}',
        b'{"folder": 3}',
        b'{"folder": ""}',
        b"\xff",
    ],
    ids=["deep", "outside", "absolute", "number", "empty", "no text"],
)
def test_a_damaged_choice_of_the_runtime_is_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, content: bytes
) -> None:
    monkeypatch.setattr(interpreter, "runtimes_folder", lambda: tmp_path)
    described = json.dumps({"backend": "cpu", "key": "k", "python": interpreter.python_abi()})
    for folder in (tmp_path, tmp_path / "cpu-1"):
        folder.mkdir(exist_ok=True)
        (folder / "runtime.json").write_text(described)
    (tmp_path / "current.json").write_text('{"folder": "cpu-1"}')
    assert interpreter.current() is not None
    (tmp_path / "current.json").write_bytes(content)
    assert interpreter.current() is None
