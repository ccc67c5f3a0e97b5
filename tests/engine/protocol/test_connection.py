"""The engine's log, which an engine does without if it cannot be written."""

from pathlib import Path

import pytest

from engine.protocol import connection


def test_the_log_is_appended_to_until_it_is_large(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    log = tmp_path / "logs" / "engine.log"
    monkeypatch.setattr(connection, "log_path", lambda: log)
    for text in (b"one", b"two"):
        with connection.open_log() as file:
            file.write(text)
    assert log.read_bytes() == b"onetwo"
    monkeypatch.setattr(connection, "LOG_NBYTES", 3)
    connection.open_log().close()
    assert log.read_bytes() == b""


def test_a_log_that_cannot_be_written_is_discarded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("not a folder")
    monkeypatch.setattr(connection, "log_path", lambda: tmp_path / "file" / "engine.log")
    with connection.open_log() as file:
        file.write(b"lost")
