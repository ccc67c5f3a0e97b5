"""A backup of each day on which the program started; the newest are kept and offered after damage."""

import os
import sqlite3
from datetime import date, timedelta
from pathlib import Path

import pytest

from app.store import Store, backups
from tests.app.store.dozen import make_dozen, texts

DAY = date(2026, 5, 1)


def files(path: Path) -> list[str]:
    return sorted(file.name for file in path.with_name("conversations-backups").iterdir())


def test_the_newest_five_days_are_kept(tmp_path: Path) -> None:
    path = tmp_path / "conversations.sqlite"
    make_dozen(path)
    made = [backups.make(path, DAY + timedelta(days=number)) for number in range(7)]
    assert all(made)
    assert backups.make(path, DAY + timedelta(days=6)) is None, "one a day"
    assert files(path) == [f"2026-05-0{number}.sqlite" for number in range(3, 8)]
    assert backups.newest(path) == (made[-1], DAY + timedelta(days=6))


def test_a_backup_has_every_message_also_the_newest(tmp_path: Path) -> None:
    path = tmp_path / "conversations.sqlite"
    make_dozen(path)
    store = Store(path)
    try:
        store.back_up()
    finally:
        store.close()
    found = backups.newest(path)
    assert found is not None
    assert found[0].stat().st_size <= path.stat().st_size
    assert texts(found[0]) == texts(path)
    if os.name != "nt":
        assert found[0].stat().st_mode & 0o077 == 0
        assert found[0].parent.stat().st_mode & 0o077 == 0


def test_an_empty_store_has_no_backup(tmp_path: Path) -> None:
    store = Store(tmp_path / "conversations.sqlite")
    store.back_up()
    store.close()
    assert backups.newest(store.path) is None


def test_a_damaged_file_takes_no_backup_and_names_the_day_of_the_last(tmp_path: Path) -> None:
    path = tmp_path / "conversations.sqlite"
    make_dozen(path)
    backup = backups.make(path, DAY)
    content = bytearray(path.read_bytes())
    content[:4096] = bytes(4096)
    path.write_bytes(content)
    with pytest.raises(sqlite3.DatabaseError):
        backups.make(path, DAY + timedelta(days=1))
    store = Store(path)
    try:
        assert store.damage is not None
        assert "2026-05-01" in store.damage.hint
        assert str(backup) in store.damage.hint
        store.back_up()
    finally:
        store.close()
    assert files(path) == ["2026-05-01.sqlite"]


def test_a_backup_that_cannot_be_written_is_left_out(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / "conversations.sqlite"
    make_dozen(path)
    path.with_name("conversations-backups").write_text("in the way")
    store = Store(path)
    store.back_up()
    store.close()
    assert "no backup" in caplog.text
