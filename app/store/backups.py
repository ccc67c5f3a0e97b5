"""Daily backups of the conversations, beside their file. The newest few are kept."""

import re
import sqlite3
from contextlib import closing
from datetime import date
from pathlib import Path

from app.store.database import connect
from engine.files import make_private_folder, replacing

KEPT = 5  # days that had a start
_NAME = re.compile(r"\d{4}-\d\d-\d\d")


def make(path: Path, today: date | None = None) -> Path | None:
    """Copy the conversations in the file at `path`, unless there is a copy of today, or nothing to keep.

    Removes the copies that are too old. Returns the new copy, or None. Raises OSError or sqlite3.Error.
    """
    copy = folder(path) / f"{(today or date.today()).isoformat()}{path.suffix}"
    if copy.exists():
        return None
    with closing(connect(path)) as source:
        if source.execute("SELECT id FROM messages LIMIT 1").fetchone() is None:
            return None
        make_private_folder(copy.parent)
        with replacing(copy, single_writer=True) as temporary:
            temporary.unlink(missing_ok=True)
            temporary.touch(mode=0o600)
            source.execute("VACUUM INTO ?", (str(temporary),))
            _check(temporary)
    for old in _all(path)[:-KEPT]:
        old.unlink(missing_ok=True)
    return copy


def newest(path: Path) -> tuple[Path, date] | None:
    """Return the newest backup of the file at `path` and its day, or None."""
    found = _all(path)
    return (found[-1], date.fromisoformat(found[-1].stem)) if found else None


def folder(path: Path) -> Path:
    """Return the folder with the backups of the file at `path`; it may not exist."""
    return path.with_name(f"{path.stem}-backups")


def _all(path: Path) -> list[Path]:
    """The backups, oldest first."""
    return sorted(file for file in folder(path).glob(f"*{path.suffix}") if _NAME.fullmatch(file.stem))


def _check(copy: Path) -> None:
    """Raise sqlite3.DatabaseError if the copy is damaged, as the file then is."""
    with closing(connect(copy)) as made:
        found = made.execute("PRAGMA quick_check(1)").fetchone()[0]
    if found != "ok":
        raise sqlite3.DatabaseError(found)
