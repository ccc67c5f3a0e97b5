"""The tables of the database, created by one migration per version. A released migration is never changed; a
new one is added instead.

JSON columns (`settings`, `reports`, `calls`) may gain fields without a new version. A new version is needed
if the meaning of a column changes, or if `search.terms` changes; in the latter case the migration must index
every message again.
"""

import sqlite3
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

from app.store.errors import StoreDamaged, StoreNewer, damaged

APPLICATION_ID = 0x53454443  # "SEDC", in the file's header
WAIT_S = 5.0  # longest wait for another process that is writing

Migration = Callable[[sqlite3.Connection], None]


def _version_1(connection: sqlite3.Connection) -> None:
    connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
    for statement in (
        "CREATE TABLE folders (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE)",
        # Ids are never reused, so an old link or an undo never leads to another record.
        """CREATE TABLE chats (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            title TEXT NOT NULL,
            named INTEGER NOT NULL,  -- 1: a person chose the title
            pinned INTEGER NOT NULL,
            folder INTEGER REFERENCES folders ON DELETE SET NULL,
            created_at REAL NOT NULL,  -- Unix seconds, here and below
            updated_at REAL NOT NULL,
            deleted_at REAL,
            settings TEXT NOT NULL  -- JSON: ChatSettings
        )""",
        "CREATE INDEX chats_by_date ON chats (updated_at, id) WHERE deleted_at IS NULL",
        "CREATE INDEX chats_by_folder ON chats (folder) WHERE folder IS NOT NULL",
        # A tree: messages with the same parent are versions of each other, and exactly one of them is shown.
        """CREATE TABLE messages (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            chat INTEGER NOT NULL REFERENCES chats ON DELETE CASCADE,
            parent INTEGER CHECK (parent < id),  -- NULL: the first message
            role TEXT NOT NULL CHECK (role IN ('user', 'assistant')),
            state TEXT NOT NULL CHECK (state IN ('complete', 'streaming', 'interrupted')),
            shown INTEGER NOT NULL,
            created_at REAL NOT NULL,
            text TEXT NOT NULL,
            reports TEXT NOT NULL  -- JSON: list of Report
        )""",
        "CREATE INDEX messages_by_parent ON messages (chat, parent)",
        # Answers in progress and the process that writes each; if the process is gone, the answer was
        # interrupted.
        """CREATE TABLE under_way (
            message INTEGER PRIMARY KEY REFERENCES messages ON DELETE CASCADE,
            pid INTEGER NOT NULL,
            started REAL NOT NULL  -- when the process was started
        )""",
        "CREATE TABLE presets (name TEXT PRIMARY KEY, settings TEXT NOT NULL)",
        # The search index: `search.terms` of every message that is not in progress. The terms are folded and
        # separated by spaces.
        """CREATE VIRTUAL TABLE found USING fts5 (
            terms, content = '', columnsize = 0, tokenize = 'ascii', prefix = '1 2 3'
        )""",
    ):
        connection.execute(statement)


def _version_2(connection: sqlite3.Connection) -> None:
    connection.execute(
        """CREATE TABLE unsent (
            chat INTEGER UNIQUE REFERENCES chats ON DELETE CASCADE,  -- NULL: the new chat
            typed TEXT NOT NULL,
            pasted TEXT NOT NULL  -- JSON: list of texts
        )"""
    )


def _version_3(connection: sqlite3.Connection) -> None:
    for statement in (
        # id: a digest of name and content. pages: 0 if it has none. picture: PNG, JPEG, or empty.
        "CREATE TABLE files (id TEXT PRIMARY KEY, name TEXT NOT NULL, kind TEXT NOT NULL,"
        " pages INTEGER NOT NULL, tokens INTEGER NOT NULL, created_at REAL NOT NULL, picture BLOB NOT NULL)",
        # The texts of a file's passages, joined, are its text. The file's row comes last, so `file` is no
        # reference.
        "CREATE TABLE passages (id INTEGER PRIMARY KEY, file TEXT NOT NULL, page INTEGER NOT NULL,"
        " text TEXT NOT NULL)",
        "CREATE INDEX passages_by_file ON passages (file, id)",
        # The index of passages, as `found` is that of messages. It ranks by BM25, for which it keeps sizes.
        "CREATE VIRTUAL TABLE sought USING fts5 (terms, content = '', tokenize = 'porter ascii')",
        # JSON: lists of AttachedFile, Passage and StoredCall
        "ALTER TABLE messages ADD COLUMN files TEXT NOT NULL DEFAULT '[]'",
        "ALTER TABLE messages ADD COLUMN passages TEXT NOT NULL DEFAULT '[]'",
        "ALTER TABLE messages ADD COLUMN calls TEXT NOT NULL DEFAULT '[]'",
        "ALTER TABLE unsent ADD COLUMN files TEXT NOT NULL DEFAULT '[]'",
        "CREATE TABLE prompts (name TEXT PRIMARY KEY, text TEXT NOT NULL)",
    ):
        connection.execute(statement)


MIGRATIONS: tuple[Migration, ...] = (_version_1, _version_2, _version_3)
# Those with the user's own rows, parents first.
TABLES = ("folders", "chats", "messages", "presets", "unsent", "files", "passages", "prompts")
_FAR = 100  # versions ahead that no program will have written: then the number is damaged


def columns(connection: sqlite3.Connection) -> dict[str, list[str]]:
    """Return the names of the columns of each table of TABLES."""
    return {name: [row[1] for row in connection.execute(f"PRAGMA table_info({name})")] for name in TABLES}


def _newest_columns() -> dict[str, list[str]]:
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
        migrate(connection)
        return columns(connection)


def check_tables(connection: sqlite3.Connection, path: Path) -> None:
    """Raise StoreDamaged unless the tables of a migrated file are as the migrations make them."""
    if columns(connection) != _newest_columns():
        raise damaged(path)


def check(connection: sqlite3.Connection, path: Path) -> None:
    """Raise StoreDamaged if another program wrote the file, StoreNewer if a newer version of this one did."""
    tables = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
    if tables and connection.execute("PRAGMA application_id").fetchone()[0] != APPLICATION_ID:
        raise StoreDamaged(f"{path} was not written by this program.", "Move the file to another folder.")
    version = connection.execute("PRAGMA user_version").fetchone()[0]
    if tables and not 0 < version < len(MIGRATIONS) + _FAR:
        connection.execute(f"PRAGMA user_version = {len(MIGRATIONS)}")
    elif version > len(MIGRATIONS):
        raise StoreNewer(
            f"{path} was written by a newer version of SpecExec Desktop.",
            "Update SpecExec Desktop. The file was not changed.",
        )


def migrate(connection: sqlite3.Connection) -> None:
    """Migrate the file to the newest version in one transaction."""
    if connection.execute("PRAGMA user_version").fetchone()[0] == len(MIGRATIONS):
        return
    connection.execute("BEGIN IMMEDIATE")
    try:
        # Read the version again: another process may have migrated the file.
        version = connection.execute("PRAGMA user_version").fetchone()[0]
        for migration in MIGRATIONS[version:]:
            migration(connection)
        connection.execute(f"PRAGMA user_version = {len(MIGRATIONS)}")
        connection.execute("COMMIT")
    except BaseException:
        connection.execute("ROLLBACK")
        raise


def write_ahead(connection: sqlite3.Connection) -> None:
    """Switch the file to a write-ahead log, so that readers and writers do not wait for each other.

    SQLite's busy timeout does not apply to this statement, so this function itself waits and tries again. On
    a file system without shared memory, SQLite keeps its rollback journal instead.
    """
    deadline = time.monotonic() + WAIT_S
    while connection.execute("PRAGMA journal_mode").fetchone()[0] != "wal":
        try:
            connection.execute("PRAGMA journal_mode = wal")
            return
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode != sqlite3.SQLITE_BUSY or time.monotonic() > deadline:
                raise
            time.sleep(0.01)
