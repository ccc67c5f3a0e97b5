"""Files of every released version are migrated to the newest one, completely or not at all."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from app.store import Store, StoreNewer, schema

SCHEMAS = Path(__file__).parent / "schemas"


def frozen(path: Path, version: int) -> Path:
    path.parent.mkdir(parents=True)
    with sqlite3.connect(path) as connection:
        connection.executescript((SCHEMAS / f"version_{version}.sql").read_text("utf-8"))
    connection.close()
    return path


def tables(path: Path) -> list[str]:
    connection = sqlite3.connect(path)
    found = connection.execute("SELECT sql FROM sqlite_master WHERE name NOT LIKE 'sqlite_%' ORDER BY name")
    sql = [" ".join(statement.split()) for (statement,) in found if statement]
    connection.close()
    return sql


def content(path: Path) -> list[object]:
    connection = sqlite3.connect(path)
    found = [
        connection.execute(f"SELECT * FROM {table}").fetchall() for table in ("chats", "messages", "presets")
    ]
    connection.close()
    return [found, tables(path)]


@pytest.mark.parametrize("version", range(1, len(schema.MIGRATIONS) + 1))
def test_each_version_is_what_it_was_when_it_was_released(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, version: int
) -> None:
    path.parent.mkdir(parents=True)
    monkeypatch.setattr(schema, "MIGRATIONS", schema.MIGRATIONS[:version])
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        schema.migrate(connection)
    assert tables(path) == tables(frozen(tmp_path / "frozen" / "a.sqlite", version))


def test_every_released_version_has_a_frozen_copy() -> None:
    assert len(list(SCHEMAS.glob("version_*.sql"))) == len(schema.MIGRATIONS)


@pytest.mark.parametrize("version", range(1, len(schema.MIGRATIONS) + 1))
def test_an_old_file_opens_with_all_its_content(path: Path, tmp_path: Path, version: int) -> None:
    store = Store(frozen(path, version))
    assert [line.title for line in store.chats.recent()] == ["北京", "Explain configuration"]
    assert [line.title for line in store.chats.pinned()] == ["여행"]
    assert [folder.name for folder in store.folders.all()] == ["서울"]
    assert [preset.settings.system for preset in store.presets.all()] == ["Be brief."]
    shown = store.messages.shown(1)
    assert [(one.message.text, one.version, len(one.versions)) for one in shown] == [
        ("Explain TOML files.", 2, 2),
        ("TOML is a format.", 2, 2),
    ]
    assert shown[1].message.reports[0].budgets == [64, 32]
    assert store.messages.all(3)[1].state == "interrupted", "its process was killed"
    assert [hit.message for hit in store.search("北京")] == [8, 7]
    assert [hit.message for hit in store.search("맛집")] == [6]
    assert store.search("forget") == []
    assert [call.result for call in store.messages.calls(2)] == (["Monday"] if version > 2 else [])
    assert store.unsent.of(1).typed == ("and YAML?" if version > 1 else "")
    assert store.unsent.of(None).pasted == (["a log"] if version > 1 else [])
    if version > 2:
        (file,) = shown[0].message.files
        assert (file.name, file.way, store.unsent.of(1).files[0].name) == (
            "rivers.pdf",
            "searched",
            "rivers.pdf",
        )
        assert [passage.page for passage in shown[0].message.passages] == [1]
        assert [passage.page for passage in store.files.search([file], "한강", 6)] == [2]
        assert store.files.texts(["f1"]) == {"f1": "[page 1]\nThe Nile is long.\n\n[page 2]\n한강은 넓다."}
    assert store.chats.purge() == 1
    store.close()
    Store(tmp_path / "new" / "a.sqlite").close()
    assert tables(path) == tables(tmp_path / "new" / "a.sqlite")


def with_colour(connection: sqlite3.Connection) -> None:
    connection.execute("ALTER TABLE chats ADD COLUMN colour TEXT NOT NULL DEFAULT 'blue'")
    connection.execute("UPDATE chats SET colour = 'red' WHERE pinned")


def test_a_migration_keeps_everything(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(schema, "MIGRATIONS", (*schema.MIGRATIONS, with_colour))
    store = Store(frozen(path, 1))
    assert [hit.message for hit in store.search("toml")] == [5, 4, 3]
    store.close()
    Store(path).close()  # the second time nothing is migrated
    connection = sqlite3.connect(path)
    assert connection.execute("PRAGMA user_version").fetchone() == (len(schema.MIGRATIONS),)
    assert connection.execute("SELECT colour FROM chats ORDER BY id").fetchall() == [
        ("blue",),
        ("red",),
        ("blue",),
        ("blue",),
    ]
    connection.close()


def test_a_failed_migration_leaves_the_file_unchanged(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(connection: sqlite3.Connection) -> None:
        connection.execute("DROP TABLE presets")
        connection.execute("DELETE FROM messages")
        raise ZeroDivisionError

    before = content(frozen(path, 1))
    monkeypatch.setattr(schema, "MIGRATIONS", (*schema.MIGRATIONS, with_colour, fail))
    with pytest.raises(ZeroDivisionError):
        Store(path)
    assert content(path) == before
    monkeypatch.undo()
    Store(path).close()


def test_a_file_of_a_newer_version_is_not_touched(path: Path) -> None:
    Store(path).close()
    connection = sqlite3.connect(path)
    connection.execute(f"PRAGMA user_version = {len(schema.MIGRATIONS) + 1}")
    connection.close()
    before = path.read_bytes()
    with pytest.raises(StoreNewer, match="newer version") as caught:
        Store(path)
    assert "Update" in caught.value.hint
    assert path.read_bytes() == before
    assert [file.name for file in path.parent.iterdir()] == [path.name]
