"""Errors of the store, each with a message and a hint for the user."""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec

from engine.errors import SpecExecError


class StoreError(SpecExecError):
    """The conversations cannot be read or written."""

    kind = "store"


class StoreDamaged(StoreError):
    """The file is not a store, or it is corrupt."""

    kind = "store_damaged"


class StoreNewer(StoreError):
    """The file was written by a newer version of this program."""

    kind = "store_newer"


class StoreLocked(StoreError):
    """Another program has locked the file."""

    kind = "store_locked"


class StoreNotWritable(StoreError):
    """The file or its folder cannot be written."""

    kind = "store_not_writable"


class StoreFull(StoreError):
    """The disk is full. Data saved earlier is intact."""

    kind = "store_full"


class NotInStore(StoreError):
    """A chat, folder, message or preset does not exist; another window may have deleted it."""

    kind = "not_in_store"


class BadImport(StoreError):
    """A file does not contain conversations or presets that this program can read."""

    kind = "bad_import"


@contextmanager
def store_errors(path: Path) -> Iterator[None]:
    """Turn errors from SQLite, from the operating system and from decoding stored JSON into StoreErrors.

    SQLite errors that only a bug in this program can cause are raised unchanged.
    """
    try:
        yield
    except sqlite3.Error as error:
        found = _store_error(error, path)
        if found is None:
            raise
        raise found from error
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:  # SQLite's own messages quote the file
        raise damaged(path) from error
    except OSError as error:
        raise StoreNotWritable(
            f"Conversations cannot be saved in {path.parent}: {error.strerror}.",
            "Check the disk and the folder's permissions.",
        ) from error


def _store_error(error: sqlite3.Error, path: Path) -> StoreError | None:
    match getattr(error, "sqlite_errorcode", 0) & 0xFF:  # the higher bits only add details
        case sqlite3.SQLITE_CORRUPT | sqlite3.SQLITE_NOTADB:
            return damaged(path)
        case sqlite3.SQLITE_BUSY | sqlite3.SQLITE_LOCKED:
            return StoreLocked(
                f"Another program is using {path}.", "Close it (or wait for its backup to end) and try again."
            )
        case sqlite3.SQLITE_READONLY | sqlite3.SQLITE_CANTOPEN | sqlite3.SQLITE_PERM:
            return StoreNotWritable(
                f"{path} cannot be opened for writing.", "Check the permissions of the file and its folder."
            )
        case sqlite3.SQLITE_FULL:
            return StoreFull(
                f"The disk of {path.parent} is full.", "Free some space; the last messages are saved then."
            )
        case sqlite3.SQLITE_IOERR:
            return StoreError(f"{path} cannot be read or written: {error}.", "Check the disk.")
    return None


def damaged(path: Path) -> StoreDamaged:
    return StoreDamaged(
        f"The conversations file {path} is damaged.",
        "Export the chats that can still be read, then rename the file and restart the program.",
    )
