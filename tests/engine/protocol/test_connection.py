"""The start of an engine: its log, which it does without if it cannot be written; what the system refuses."""

import subprocess
import sys
import threading
from pathlib import Path

import pytest

from engine.errors import EngineGone
from engine.protocol import EngineConnection, engine_process
from engine.protocol.engine_process import StartedEngine


def test_the_log_is_appended_to_until_it_is_large(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    log = tmp_path / "logs" / "engine.log"
    monkeypatch.setattr(engine_process, "log_path", lambda: log)
    for text in (b"one", b"two"):
        with engine_process.open_log() as file:
            file.write(text)
    assert log.read_bytes() == b"onetwo"
    monkeypatch.setattr(engine_process, "LOG_NBYTES", 3)
    engine_process.open_log().close()
    assert log.read_bytes() == b""


def test_a_log_that_cannot_be_written_is_discarded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("not a folder")
    monkeypatch.setattr(engine_process, "log_path", lambda: tmp_path / "file" / "engine.log")
    with engine_process.open_log() as file:
        file.write(b"lost")


def test_an_engine_without_a_free_file_descriptor_is_a_named_error(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse() -> None:
        raise OSError(24, "Too many open files")

    monkeypatch.setattr(engine_process, "Pipe", refuse)
    with pytest.raises(EngineGone, match="Too many open files") as refused:
        EngineConnection.start()
    assert "ulimit -n" in refused.value.hint


def test_an_engine_that_no_timer_can_end_is_killed_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise RuntimeError("can't start new thread")

    engine = subprocess.Popen(
        [sys.executable, "-c", "input()"], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    opened = EngineConnection(StartedEngine(engine, ""))
    with monkeypatch.context() as changed:
        changed.setattr(threading.Timer, "start", refuse)
        opened.close()
    assert engine.wait(20) != 0
    with pytest.raises(StopIteration):
        next(opened.events())
