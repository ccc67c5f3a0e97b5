"""How far a set-up is."""

import os
from pathlib import Path

import pytest

from engine.runtime.progress import nbytes_in


@pytest.mark.skipif(os.name == "nt", reason="Windows tells links only of a file that is opened")
def test_a_file_with_two_names_counts_once(tmp_path: Path) -> None:
    (tmp_path / "cache" / "deep").mkdir(parents=True)
    (tmp_path / "cache" / "deep" / "one").write_bytes(b"12345")
    (tmp_path / "cache" / "two").write_bytes(b"123")
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib" / "one").hardlink_to(tmp_path / "cache" / "deep" / "one")
    assert nbytes_in([tmp_path / "cache"]) == nbytes_in([tmp_path]) == 8
    assert nbytes_in([tmp_path / "nowhere"]) == 0
