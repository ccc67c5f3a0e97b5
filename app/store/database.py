"""One SQLite file, used from any thread: who reads never waits, who writes waits for other writers only."""

import sqlite3
import threading
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from app.store import schema
from app.store.errors import named


class Database:
    """Safe to use from every thread. A process that is killed loses no finished `writing`; a power cut may
    lose the last ones, and never the file (`synchronous = NORMAL` over a write-ahead log).

    Attributes:
        path: the file
    """

    def __init__(self, path: Path) -> None:
        """Opens or creates the file and brings it to the newest schema. Raises a StoreError."""
        self.path = path
        self._lock = threading.Lock()  # of the writer
        self._readers: deque[sqlite3.Connection] = deque()  # those nobody is reading from
        self._closed = False
        with named(path):
            path.parent.mkdir(parents=True, exist_ok=True)
            if not path.exists():
                path.touch(mode=0o600)  # what a person says is theirs alone
            self._writer = connect(path)
            try:
                schema.check(self._writer, path)
                schema.write_ahead(self._writer)
                schema.migrate(self._writer)
            except BaseException:
                self._writer.close()
                raise

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """The file as it stands at the first query, whatever is written meanwhile. Raises a StoreError."""
        with named(self.path):
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
        """All of it is saved, or (on any error) none of it. Raises a StoreError."""
        with self._lock, named(self.path):
            self._writer.execute("BEGIN IMMEDIATE")
            try:
                yield self._writer
                self._writer.execute("COMMIT")
            except BaseException:
                self._writer.rollback()
                raise

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
    connection.execute("PRAGMA foreign_keys = ON")
    connection.execute("PRAGMA synchronous = NORMAL")
    return connection
