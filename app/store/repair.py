"""Repair of a damaged file: odd values are mended in place, and readable rows are copied to a new file."""

import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory

from app.store import file_rows, rows, schema
from app.store.database import Database, connect
from app.store.records import LATEST

PAGE_NBYTES = 4096
INTERIOR = 5  # the kind of a page
MOST_COMPARED = 256 << 20  # bytes
_SKIPS = 40  # unreadable places of a table that are passed over, each twice as far as the one before


def _odd_time(column: str) -> str:
    kind = f"typeof({column}) NOT IN ('real', 'integer')"
    return f"{column} IS NOT NULL AND ({kind} OR NOT {column} BETWEEN 0 AND {LATEST})"


_MENDING = (
    "DELETE FROM under_way WHERE message NOT IN (SELECT id FROM messages)",
    "UPDATE under_way SET pid = 0, started = 0.0"
    " WHERE typeof(pid) <> 'integer' OR NOT pid BETWEEN 0 AND 4194304 OR typeof(started) <> 'real'",
    "DELETE FROM unsent WHERE chat IS NOT NULL AND chat NOT IN (SELECT id FROM chats)",
    "UPDATE folders SET name = coalesce(CAST(name AS TEXT), '') WHERE typeof(name) <> 'text'",
    "UPDATE chats SET title = coalesce(CAST(title AS TEXT), '') WHERE typeof(title) <> 'text'",
    "UPDATE chats SET named = 0 WHERE typeof(named) <> 'integer'",
    "UPDATE chats SET pinned = 0 WHERE typeof(pinned) <> 'integer'",
    "UPDATE chats SET folder = NULL WHERE folder NOT IN (SELECT id FROM folders)",
    f"UPDATE chats SET updated_at = 0.0 WHERE {_odd_time('updated_at')}",
    f"UPDATE chats SET created_at = 0.0 WHERE {_odd_time('created_at')}",
    f"UPDATE chats SET deleted_at = NULL WHERE {_odd_time('deleted_at')}",
    "UPDATE chats SET settings = '{}' WHERE settings IS NULL OR NOT json_valid(settings)",
    "UPDATE presets SET settings = '{}' WHERE settings IS NULL OR NOT json_valid(settings)",
    "UPDATE prompts SET text = coalesce(CAST(text AS TEXT), '') WHERE typeof(text) <> 'text'",
)


def mend(connection: sqlite3.Connection) -> int:
    """Replace values that damage has made impossible, outside of messages. Return how many rows changed."""
    before = connection.total_changes
    for statement in _MENDING:
        connection.execute(statement)
    return connection.total_changes - before


def mend_indexes(connection: sqlite3.Connection) -> None:
    """Make the indexes anew if they differ from the tables: messages would be missing, or found elsewhere.

    The comparison takes 14 ms for 10 MB; larger files than MOST_COMPARED are not compared.
    """
    size = "SELECT page_count * page_size FROM pragma_page_count, pragma_page_size"
    if connection.execute(size).fetchone()[0] > MOST_COMPARED:
        return
    faults = [connection.execute(f"PRAGMA integrity_check({table})").fetchone() for table in schema.TABLES]
    if any(fault != ("ok",) for fault in faults):
        connection.execute("REINDEX")


def salvage(damaged: Path, database: Database) -> int:
    """Copy all readable rows of the file `damaged` into an empty database. Return the number of messages."""
    with (
        suppress(sqlite3.Error, UnicodeDecodeError),
        _source(damaged) as source,
        database.writing() as connection,
    ):
        connection.execute("PRAGMA defer_foreign_keys = ON")
        for table, columns in schema.columns(connection).items():
            for row in _readable(source, table):
                # A file of an earlier version lacks the columns that were added at the end.
                names, places = ", ".join(columns[: len(row)]), ", ".join("?" * len(row))
                with suppress(sqlite3.IntegrityError):
                    connection.execute(f"INSERT OR IGNORE INTO {table} ({names}) VALUES ({places})", row)
        # Messages whose chat could not be read get a chat of their own.
        connection.execute(
            "INSERT INTO chats (id, title, named, pinned, created_at, updated_at, settings)"
            " SELECT chat, '', 0, 0, min(created_at), max(created_at), '{}' FROM messages"
            " WHERE chat NOT IN (SELECT id FROM chats) GROUP BY chat"
        )
        connection.execute("UPDATE messages SET state = 'interrupted' WHERE state = 'streaming'")
        mend(connection)
        kept = connection.execute("SELECT id, text FROM messages").fetchall()
        for message, text in kept:
            rows.index(connection, message, text)
        for passage, text in connection.execute("SELECT id, text FROM passages").fetchall():
            file_rows.index(connection, passage, text)
        return len(kept)
    return 0


@contextmanager
def _source(damaged: Path) -> Iterator[sqlite3.Connection]:
    """Open a damaged file to read it, if need be with the first page of a new file: the header and where each
    table begins, which is the same in every file."""
    with TemporaryDirectory(dir=damaged.parent) as folder:
        copy = Path(folder, damaged.name)
        for suffix in ("", "-wal"):
            if (part := damaged.with_name(damaged.name + suffix)).exists():
                shutil.copy(part, copy.with_name(copy.name + suffix))
        if not _has_schema(copy):
            new = Path(folder, "new.sqlite")
            Database(new).close()
            _give_schema(copy, new.read_bytes())
        with closing(connect(copy)) as source:
            source.execute("PRAGMA writable_schema = ON")  # reads a file that is shorter than its header says
            yield source


def _give_schema(copy: Path, new: bytes) -> None:
    """Replace the first page of a damaged file by that of a new one. If the schema has more pages, they are
    appended (SQLite's file format, 1.6: the first page is then an interior page of a table)."""
    pages = count = copy.stat().st_size // PAGE_NBYTES
    first, leaves = bytearray(new[:PAGE_NBYTES]), b""
    if first[100] == INTERIOR:
        cells = range(112, 112 + 2 * int.from_bytes(first[103:105], "big"), 2)
        for place in [108, *(int.from_bytes(first[cell : cell + 2], "big") for cell in cells)]:
            number = int.from_bytes(first[place : place + 4], "big")
            leaves += new[(number - 1) * PAGE_NBYTES : number * PAGE_NBYTES]
            count += 1
            first[place : place + 4] = count.to_bytes(4, "big")
    first[28:32] = count.to_bytes(4, "big")
    first[32:40] = bytes(8)  # no list of free pages
    with copy.open("r+b") as file:
        file.write(first)
        file.seek(pages * PAGE_NBYTES)
        file.write(leaves)


def _has_schema(path: Path) -> bool:
    with suppress(sqlite3.Error, UnicodeDecodeError), closing(connect(path)) as source:
        source.execute("PRAGMA writable_schema = ON")
        return bool(source.execute("SELECT count(*) FROM chats").fetchone())
    return False


def _readable(source: sqlite3.Connection, table: str) -> Iterator[tuple[object, ...]]:
    """Yield the rows of a table that can be read, in the order of their ids."""
    last, step = -1, 1
    for _ in range(_SKIPS):
        try:
            for row in source.execute(
                f"SELECT rowid, * FROM {table} WHERE rowid > ? ORDER BY rowid", (last,)
            ):
                last, step = row[0], 1
                yield row[1:]
            return
        except (sqlite3.DatabaseError, UnicodeDecodeError):
            last, step = last + step, 2 * step
