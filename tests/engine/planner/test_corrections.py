"""The history of answers outlives the process; a damaged file counts as missing."""

from dataclasses import replace
from pathlib import Path

import platformdirs
import pytest

from engine.planner import Observed, history, remember
from engine.planner.corrections import MOST

SEEN = Observed("target.gguf", "", "cpu", 1.2, 1.5, 0.8, 0.9)


@pytest.fixture(autouse=True)
def data_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "data" / "specexec-desktop"
    monkeypatch.setattr(platformdirs, "user_data_path", lambda *args, **kwargs: folder)
    return folder


def test_answers_are_read_back_in_order(data_folder: Path):
    assert history() == ()
    second = replace(SEEN, draft="draft.gguf")
    remember(SEEN)
    remember(second)
    assert history() == (SEEN, second)
    assert [file.name for file in data_folder.iterdir()] == ["planner.json"]


def test_the_oldest_answers_are_dropped():
    for number in range(MOST + 3):
        remember(replace(SEEN, drafting=float(number + 1)))
    assert len(history()) == MOST
    assert history()[0].drafting == 4.0


@pytest.mark.parametrize(
    "content", [b"", b"{", b"[]", b'{"answers": [{}]}', b'{"answers": [{"target": 1}]}', b"\xff"]
)
def test_a_damaged_file_counts_as_missing_and_is_replaced(data_folder: Path, content: bytes):
    data_folder.mkdir(parents=True)
    (data_folder / "planner.json").write_bytes(content)
    assert history() == ()
    remember(SEEN)
    assert history() == (SEEN,)


def test_an_invalid_factor_is_ignored(data_folder: Path):
    remember(SEEN)
    file = data_folder / "planner.json"
    file.write_bytes(file.read_bytes().replace(b"1.5", b"-1.5"))
    assert history() == ()


def test_without_a_writable_folder_nothing_is_kept(data_folder: Path):
    data_folder.parent.mkdir(parents=True)
    data_folder.write_text("a file is in its place")
    remember(SEEN)
    assert history() == ()
