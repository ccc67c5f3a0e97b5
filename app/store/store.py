"""The store: all of the user's conversations and presets, in one file."""

import contextlib
import logging
import sqlite3
from datetime import datetime
from pathlib import Path

import platformdirs

from app.store import backups, repair, search, under_way
from app.store.chats import Chats, Folders
from app.store.database import Database
from app.store.errors import StoreDamaged, StoreError, damaged, store_errors
from app.store.files import Files
from app.store.messages import Messages
from app.store.presets import Presets
from app.store.prompts import Prompts
from app.store.records import Hit
from app.store.unsent import Unsent

logger = logging.getLogger(__name__)


def default_path() -> Path:
    """Return the path of the user's conversations file."""
    return platformdirs.user_data_path("specexec-desktop", appauthor=False) / "conversations.sqlite"


class Store:
    """All conversations and presets. Every method may be called from any thread and by several processes at
    once. When the store is opened, a damaged file is renamed and replaced by one with what could be read of
    it; single odd values are mended.

    Attributes:
        path: path of the conversations file
        chats, folders, files, messages, presets, unsent, prompts: the parts of the store
        damage: the error to show if the file was damaged, else None
    """

    def __init__(self, path: Path | None = None) -> None:
        """Open the file, or create it. Mark as interrupted the answers that a crash cut off.

        Raises a StoreError if the file cannot be opened.
        """
        self.path = path = path or default_path()
        self.damage: StoreDamaged | None = None
        try:
            self._database = _open(path)
        except StoreDamaged as damage:
            kept = _set_aside(path)
            self._database = _open(path)
            count = repair.salvage(kept, self._database)
            self.damage = StoreDamaged(
                f"{damage.message} It was renamed to {kept.name}. What could be read of it was kept: "
                f"{count:,} messages.",
                _restoring(path),
            )
        self.chats = Chats(self._database)
        self.folders = Folders(self._database)
        self.files = Files(self._database)
        self.messages = Messages(self._database)
        self.presets = Presets(self._database)
        self.unsent = Unsent(self._database)
        self.prompts = Prompts(self._database)

    def search(self, query: str, limit: int = 50, before: int | None = None) -> list[Hit]:
        """Search all messages; see `search.search`."""
        return search.search(self._database, query, limit, before)

    def can_write(self) -> bool:
        """See `Database.can_write`."""
        return self._database.can_write()

    def back_up(self) -> None:
        """Keep a copy of today, unless there is one; see `backups`. A copy that fails is logged."""
        if self.damage is not None:
            return
        try:
            backups.make(self.path)
        except (OSError, sqlite3.Error) as error:
            logger.warning("no backup of %s: %s", self.path, error)

    def close(self) -> None:
        """Save the answers in progress, interrupted unless they have ended, and close the file.

        Raises a StoreError if an answer could not be saved; the file is closed in that case too.
        """
        with contextlib.ExitStack() as last:
            last.callback(self._database.close)
            for answer in self.messages.under_way():
                last.callback(answer.close)


def _restoring(path: Path) -> str:
    """Return what to do to go back to a backup."""
    backup = backups.newest(path)
    if backup is None:
        return f"If you have a backup, close the program and copy it to {path}."
    copy, day = backup
    return (
        f"There is a backup of {day:%Y-%m-%d}. To bring back what is missing, choose “Bring back chats from a"
        f" backup…” in the menu “⋯” above the chats, and then {copy}."
    )


def _open(path: Path) -> Database:
    try:
        return _opened(path)
    except sqlite3.OperationalError as error:  # a table is missing, or of a format that SQLite does not know
        raise damaged(path) from error


def _opened(path: Path) -> Database:
    database = Database(path)
    try:
        with database.writing() as connection:
            repair.mend_indexes(connection)
            repair.mend(connection)
            under_way.settle_lost(connection)
        _read_lists(database)
    except (StoreError, sqlite3.OperationalError):
        database.close()
        raise
    return database


def _read_lists(database: Database) -> None:
    """Read what a window shows first. Raises StoreDamaged if it cannot be read."""
    chats = Chats(database)
    chats.pinned(), chats.recent(), Presets(database).all()
    for folder in Folders(database).all():
        chats.in_folder(folder.id)


def _set_aside(path: Path) -> Path:
    """Rename a damaged file and its log, so that the user can still try to repair it. Return the new path."""
    kept = path.with_name(f"{path.stem}.damaged-{datetime.now():%Y%m%d-%H%M%S-%f}{path.suffix}")
    with store_errors(path):
        for suffix in ("", "-wal", "-shm"):
            part = path.with_name(path.name + suffix)
            if part.exists():
                part.rename(kept.with_name(kept.name + suffix))
    return kept
