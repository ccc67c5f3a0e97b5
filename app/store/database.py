"""One SQLite file for all threads: readers never wait, and writers wait only for other writers."""

import sqlite3
import threading
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from app.store import schema
from app.store.errors import store_errors
from engine.files import make_private


class Database:
    """Connections to one SQLite file; safe to use from every thread.

    A killed process loses nothing that a finished `writing` wrote. A power cut may lose the last transactions
    but never damages the file (`synchronous = NORMAL` over a write-ahead log).

    Attributes:
        path: path of the SQLite file
    """

    def __init__(self, path: Path) -> None:
        """Open or create the file and migrate it to the newest schema. Raises a StoreError if that fails."""
        self.path = path
        self._lock = threading.Lock()  # held while writing
        self._readers: deque[sqlite3.Connection] = deque()  # idle connections
        self._closed = False
        with store_errors(path):
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            if not path.exists():
                path.touch(mode=0o600)
            for suffix in ("", "-wal", "-shm"):  # SQLite gives new ones the permissions of the file
                make_private(path.with_name(path.name + suffix))
            self._writer = connect(path)
            try:
                schema.check(self._writer, path)
                schema.write_ahead(self._writer)
                schema.migrate(self._writer)
                schema.check_tables(self._writer, path)
            except BaseException:
                self._writer.close()
                raise

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """Give a connection to read one snapshot of the file, which is taken at the first query.

        Raises a StoreError if reading fails.
        """
        with store_errors(self.path):
            try:
                connection = self._readers.pop()
            except IndexError:
                connection = connect(self.path)
            try:
                connection.execute("BEGIN")
                yield connection
            finally:
                connection.rollback()
                if self._closed:
                    connection.close()
                else:
                    self._readers.append(connection)

    @contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """Give a connection to write in one transaction, which is rolled back on any error.

        Raises a StoreError if writing fails.
        """
        with self._lock, store_errors(self.path):
            self._writer.execute("BEGIN IMMEDIATE")
            try:
                yield self._writer
                self._writer.execute("COMMIT")
            except BaseException:
                self._writer.rollback()
                raise

    def can_write(self) -> bool:
        """Return at once whether nothing is known that would keep a write waiting, or let it fail."""
        if not self._lock.acquire(blocking=False):
            return False
        try:
            self._writer.execute("PRAGMA busy_timeout = 0")
            try:
                self._writer.execute("BEGIN IMMEDIATE")
                self._writer.rollback()
            finally:
                self._writer.execute(f"PRAGMA busy_timeout = {round(1000 * schema.WAIT_S)}")
        except sqlite3.Error:
            return False
        finally:
            self._lock.release()
        return True

    def close(self) -> None:
        with self._lock:
            self._closed = True
            while self._readers:
                self._readers.pop().close()
            self._writer.close()


def connect(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(
        path, timeout=schema.WAIT_S, isolation_level=None, check_same_thread=False, cached_statements=256
    )
    connection.text_factory = _decoded
    connection.execute("PRAGMA foreign_keys = ON")
    connection.execute("PRAGMA synchronous = NORMAL")
    return connection


def _decoded(text: bytes) -> str:
    """Return stored text. A damaged byte costs a character, not the text."""
    return text.decode("utf-8", "replace")
