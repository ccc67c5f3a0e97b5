"""The process that reads a file ends within its limits, whatever the file does to it."""

import os
import sys
import threading
from pathlib import Path

import pytest

from app.documents import child
from app.documents.child import read_file
from app.documents.records import Document, Unreadable
from engine.hub import Stop, Stopped
from tests.app.documents import specimens


def fault_of(path: Path) -> str:
    with pytest.raises(Unreadable) as caught:
        read_file(path, Stop())
    return caught.value.fault


def test_a_file_is_read_in_a_process_of_its_own(tmp_path: Path) -> None:
    path = specimens.pdf(tmp_path / "숲.pdf", ["One", "Two"])
    assert read_file(path, Stop()) == Document("pdf", ["One", "Two"])
    (tmp_path / "a.pdf").write_text("hello")
    assert fault_of(tmp_path / "a.pdf") == "wrong_kind"


def test_a_broken_pdf_is_damaged(tmp_path: Path) -> None:
    path = tmp_path / "a.pdf"
    path.write_bytes(b"%PDF-1.7\n1 0 obj\n<< /Type /Catalog /Pages 1 0 R >>\nendobj\n")
    assert fault_of(path) == "damaged"


@pytest.mark.parametrize("kind", ["folder", "gone", "device", "large", "model", "weights"])
def test_what_is_no_readable_file_starts_no_process(
    tmp_path: Path, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(child, "READER", "there.is.none")
    path = tmp_path / "thing"
    match kind:
        case "folder":
            path.mkdir()
        case "device":
            path.symlink_to("/dev/zero")
        case "large":
            path.touch()
            os.truncate(path, child.MAX_NBYTES + 1)
        case "model":
            path = path.with_suffix(".GGUF")
            path.touch()
        case "weights":
            path = path.with_suffix(".safetensors")
            path.touch()
    expected = {"gone": "no_file", "device": "no_file", "large": "too_large"}
    assert fault_of(path) == expected.get(kind, kind)


@pytest.mark.parametrize(
    ("ending", "fault"),
    [
        ("hang", "too_much"),
        ("eat", "too_much"),
        ("talk", "too_long"),
        ("crash", "damaged"),
        ("lie", "damaged"),
    ],
)
def test_a_reader_that_was_taken_over_is_ended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ending: str, fault: str
) -> None:
    monkeypatch.setattr(child, "READER", "tests.app.documents.bad_reader")
    monkeypatch.setattr(child, "MEMORY_LIMIT", 200 << 20)
    monkeypatch.setattr(child, "OUTPUT_LIMIT", 4 << 20)
    if ending == "hang":
        monkeypatch.setattr(child, "TIME_LIMIT_S", 0.2)
    path = tmp_path / f"a.{ending}"
    path.touch()
    assert fault_of(path) == fault
    assert not [thread for thread in threading.enumerate() if thread.daemon and "limit_" in thread.name]


def test_reading_can_be_stopped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(child, "READER", "tests.app.documents.bad_reader")
    path = tmp_path / "a.hang"
    path.touch()
    stop = Stop()
    stop.ask()
    with pytest.raises(Stopped):
        read_file(path, stop)


def test_keys_in_the_environment_stay_outside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(child, "READER", "tests.app.documents.bad_reader")
    monkeypatch.setenv("A_SECRET", "1")
    path = tmp_path / "a.environment"
    path.touch()
    with path.open("rb") as file:
        _, status = child.output_of([sys.executable, "-m", child.READER, ".environment"], file, Stop())
    assert status == 0
