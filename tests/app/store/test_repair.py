"""Damage costs what it hit, and nothing else: the file opens, and everything that can be read is shown."""

import random
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from app.store import Store, StoreNewer, schema
from app.store.repair import PAGE_NBYTES
from tests.app.store.dozen import CHATS, TURNS, make_dozen, shown, texts


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("sound") / "conversations.sqlite"
    make_dozen(path)
    return path


@pytest.fixture
def copy(sound: Path, tmp_path: Path) -> Path:
    path = tmp_path / "conversations.sqlite"
    shutil.copy(sound, path)
    return path


def change(path: Path, statement: str) -> None:
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("PRAGMA foreign_keys = OFF")
        connection.execute("PRAGMA ignore_check_constraints = ON")
        connection.execute(statement)


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE chats SET title = CAST(X'41FF42' AS TEXT) WHERE id = 2",
        "UPDATE chats SET title = X'FF00' WHERE id = 2",
        "UPDATE chats SET updated_at = 'soon' WHERE id = 3",
        "UPDATE chats SET updated_at = 1e300 WHERE id = 3",
        "UPDATE chats SET created_at = -1e18",
        "UPDATE chats SET deleted_at = X'00' WHERE id = 4",
        "UPDATE chats SET folder = 99 WHERE id = 4",
        "UPDATE chats SET pinned = 'x' WHERE id = 4",
        "UPDATE chats SET settings = '{' WHERE id = 5",
        "UPDATE chats SET settings = '{\"target\": 7}' WHERE id = 5",
        "UPDATE presets SET settings = 'no'",
        "UPDATE messages SET reports = '[{]'",
        "UPDATE messages SET created_at = 1e300",
        "UPDATE messages SET role = 'user!', state = 'lost'",
        "UPDATE messages SET shown = 0",
        "UPDATE messages SET parent = 4000 WHERE id = 7",
        "INSERT INTO under_way VALUES (4000, 1, 1.0)",
        "INSERT INTO under_way VALUES (3, 'x', 'y')",
        "PRAGMA user_version = 0",
        "PRAGMA user_version = -7",
        f"PRAGMA user_version = {1 << 24}",
    ],
)
def test_an_odd_value_costs_no_message(copy: Path, statement: str) -> None:
    change(copy, statement)
    assert len(texts(copy)) == 2 * CHATS * TURNS


@pytest.mark.parametrize("seed", range(60))
def test_any_damaged_byte_leaves_a_store_that_opens(copy: Path, seed: int) -> None:
    random.seed(seed)
    content = bytearray(copy.read_bytes())
    place = random.randrange(100, len(content)) if seed % 4 else random.randrange(18, 100)
    content[place] ^= 1 << random.randrange(8)
    copy.write_bytes(content)
    try:
        kept = texts(copy)
    except StoreNewer:
        assert place < 100, "only the header tells the version"
        return
    assert len(kept) >= 2 * TURNS * (CHATS - 2), f"byte {place}"


@pytest.mark.parametrize("share", [0.3, 0.6, 0.9])
def test_what_a_cut_file_holds_is_salvaged(copy: Path, share: float) -> None:
    content = copy.read_bytes()
    copy.write_bytes(content[: int(len(content) * share)])
    store = Store(copy)
    kept = list(shown(store))
    assert store.damage is not None
    assert f"{len(kept):,} messages" in store.damage.message or kept
    assert len(kept) >= 2 * CHATS * TURNS * (share - 0.3)
    if kept:
        assert store.search("guess")
    store.close()
    assert len(texts(copy)) == len(kept)


def test_the_version_of_the_schema_is_restored(copy: Path) -> None:
    change(copy, "PRAGMA user_version = -7")
    Store(copy).close()
    with closing(sqlite3.connect(copy)) as connection:
        assert connection.execute("PRAGMA user_version").fetchone()[0] == len(schema.MIGRATIONS)


@pytest.mark.parametrize("index", ["chats_by_date", "messages_by_parent"])
def test_an_index_that_differs_from_its_table_costs_nothing(copy: Path, index: str) -> None:
    with closing(sqlite3.connect(copy)) as connection:
        find = "SELECT rootpage FROM sqlite_master WHERE name = ?"
        (page,) = connection.execute(find, (index,)).fetchone()
    content = copy.read_bytes()
    sound = texts(copy)
    entries = range(PAGE_NBYTES - 90, PAGE_NBYTES, 3)  # entries fill a page from its end
    for place in entries:
        damaged = bytearray(content)
        damaged[(page - 1) * PAGE_NBYTES + place] ^= 1 << (place % 8)
        for suffix in ("-wal", "-shm"):
            copy.with_name(copy.name + suffix).unlink(missing_ok=True)
        copy.write_bytes(damaged)
        assert texts(copy) == sound, f"byte {place}"
