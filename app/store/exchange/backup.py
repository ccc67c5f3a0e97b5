"""Reading the chats in a copy of the conversations file, such as one of the daily backups."""

import shutil
import tempfile
from pathlib import Path

from app.store.errors import BadImport, StoreError
from app.store.records import WholeChat
from app.store.store import Store

_BEGINNING = b"SQLite format 3\x00"


def is_backup(path: Path) -> bool:
    """Return whether the file is a database. Raises OSError if it cannot be read."""
    with path.open("rb") as file:
        return file.read(len(_BEGINNING)) == _BEGINNING


def chats_of(path: Path) -> tuple[list[WholeChat], list[str]]:
    """Return the chats in a copy of the conversations file, without deleted ones, and a sentence about what
    could not be read.

    The file itself is not changed: a copy of it is brought to the newest schema, and mended if it is damaged.
    Raises BadImport if nothing can be read of it, or it is of a newer version; OSError if it cannot be
    opened.
    """
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / path.name
        shutil.copyfile(path, copy)
        try:
            store = Store(copy)
            try:
                chats = list(store.chats.whole())
            finally:
                store.close()
        except StoreError as error:
            raise BadImport(error.message.replace(str(copy), path.name), error.hint) from error
    if store.damage is None:
        return chats, []
    if not chats:
        raise BadImport(f"{path.name} holds no chats that can be read.", "Choose the backup of another day.")
    return chats, [f"{path.name} is damaged; some of its messages may be missing."]
