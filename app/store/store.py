"""The conversations of one person: one file, from any thread."""

import contextlib
from datetime import datetime
from pathlib import Path

import platformdirs

from app.store import search, under_way
from app.store.chats import Chats
from app.store.database import Database
from app.store.errors import StoreDamaged, StoreError, named
from app.store.folders import Folders
from app.store.messages import Messages
from app.store.presets import Presets
from app.store.records import Hit


def default_path() -> Path:
    return platformdirs.user_data_path("specexec-desktop", appauthor=False) / "conversations.sqlite"


class Store:
    """Everything may be called from any thread, and by several processes at once. A damaged file is kept
    beside, and an empty one begun.

    Attributes:
        path: of the file
        chats, folders, messages, presets: the rooms
        damage: what to tell the person where the file was damaged, else None
    """

    def __init__(self, path: Path | None = None) -> None:
        """Opens or creates the file; marks answers that a crash cut off as interrupted. Raises a
        StoreError."""
        self.path = path = path or default_path()
        self.damage: StoreDamaged | None = None
        try:
            self._database = _open(path)
        except StoreDamaged as damage:
            kept = _set_aside(path)
            self._database = _open(path)
            self.damage = StoreDamaged(
                f"{damage.message} It was kept as {kept.name}, and an empty one begun.",
                f"If you have a copy, close the program and put it in place of {path}.",
            )
        self.chats = Chats(self._database)
        self.folders = Folders(self._database)
        self.messages = Messages(self._database)
        self.presets = Presets(self._database)

    def search(self, query: str, limit: int = 50, before: int | None = None) -> list[Hit]:
        """See `search.search`."""
        return search.search(self._database, query, limit, before)

    def close(self) -> None:
        """Answers still under way are interrupted, with the text they have. Raises a StoreError where one
        could not be saved; everything is closed then too."""
        with contextlib.ExitStack() as last:
            last.callback(self._database.close)
            for answer in self.messages.under_way():
                last.callback(answer.interrupt)


def _open(path: Path) -> Database:
    database = Database(path)
    try:
        with database.writing() as connection:
            under_way.settle_lost(connection)
    except StoreError:
        database.close()
        raise
    return database


def _set_aside(path: Path) -> Path:
    """With its log, so that it can still be repaired."""
    kept = path.with_name(f"{path.stem}.damaged-{datetime.now():%Y%m%d-%H%M%S-%f}{path.suffix}")
    with named(path):
        for suffix in ("", "-wal", "-shm"):
            part = path.with_name(path.name + suffix)
            if part.exists():
                part.rename(kept.with_name(kept.name + suffix))
    return kept
