"""The folder of all runtimes."""

import os
from pathlib import Path

import pytest

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
