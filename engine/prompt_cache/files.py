"""Blocks of rows on the disk: one file each, written by a thread of its own, readable by this user only.

A file is read only if its checksum, its name and its length are right; any other is deleted. What is not
written when the process ends is lost, and so is what the disk refuses: it is only computed again.
"""

import hashlib
import logging
import os
import queue
import sys
import threading
from collections import OrderedDict
from contextlib import suppress
from pathlib import Path

import msgspec
import numpy as np
import platformdirs
from filelock import FileLock, Timeout
from numpy.typing import NDArray

from engine.files import is_own_folder, open_private

log = logging.getLogger(__name__)

MAGIC = b"SpecExec rows 1\n"
ENDING = ".rows"
LOCK = "lock"
MOST_HEADER = 1 << 20  # bytes
MOST_WAITING = 256 << 20  # bytes: while so many or more wait to be written, other blocks are left out
_CHECKSUM = 32
_START = len(MAGIC) + _CHECKSUM  # of the header's length, four bytes; then come the header and the rows


class _Header(msgspec.Struct, forbid_unknown_fields=True):
    """What is known of a block besides its rows."""

    owners: list[str]
    nbytes: int


class BlockFiles:
    """The blocks in one folder, within a budget. Methods may be called on any thread; only `close` and
    `clear` wait for writes."""

    def __init__(self, folder: Path, budget_nbytes: int) -> None:
        """Take the folder into use. Raises OSError if it cannot be made, if others can write to it, or if
        another engine uses it."""
        if os.name != "nt" and not is_own_folder(folder):
            raise PermissionError(f"{folder} is not this user's own folder")
        folder.mkdir(parents=True, exist_ok=True)
        self._lock = FileLock(folder / LOCK, thread_local=False)
        try:
            self._lock.acquire(timeout=0)
        except Timeout as error:
            raise BlockingIOError(f"another engine uses {folder}") from error
        self._folder = folder
        self._budget = budget_nbytes
        self._changing = threading.Lock()  # guards the four below
        self._sizes: OrderedDict[bytes, int] = OrderedDict()  # of files; the least recently used first
        self._nbytes = 0
        self._waiting: set[bytes] = set()
        self._waiting_nbytes = 0
        self._tasks: queue.SimpleQueue[
            tuple[bytes, bytes, NDArray[np.uint8] | None] | str | threading.Event | None
        ]
        self._tasks = queue.SimpleQueue()
        self._has_failed = False
        self._list()
        self._writer = threading.Thread(target=self._work, name="prompt cache", daemon=True)
        self._writer.start()

    @property
    def nbytes(self) -> int:
        """Bytes on the disk."""
        return self._nbytes

    @property
    def budget_nbytes(self) -> int:
        return self._budget

    def __contains__(self, key: bytes) -> bool:
        with self._changing:
            return key in self._sizes or key in self._waiting

    def read(self, key: bytes, nbytes: int) -> tuple[set[str], NDArray[np.uint8]] | None:
        """Return the owners of a block and its rows; None if there is no such block of this size."""
        with self._changing:
            if key not in self._sizes:
                return None
            self._sizes.move_to_end(key)
        path = self._path(key)
        try:
            with path.open("rb") as file:
                data = file.read(_START + 4 + MOST_HEADER + nbytes)
            os.utime(path)
            header, rows = _parsed(key, data)
            if header.nbytes != nbytes:
                raise ValueError("another size than this model's")
        except FileNotFoundError:  # another engine of this user has deleted it
            self._lost(key)
            return None
        except (OSError, ValueError) as error:
            log.warning("%s is not used: %s", path.name, error)
            self._delete(key)
            return None
        return set(header.owners), rows

    def takes(self, key: bytes, nbytes: int) -> bool:
        """Return whether a block of this size would be written now."""
        with self._changing:
            return self._takes(key, nbytes)

    def _takes(self, key: bytes, nbytes: int) -> bool:
        fits = nbytes <= self._budget and self._waiting_nbytes < MOST_WAITING
        return fits and not self._has_failed and key not in self._waiting

    def write(self, key: bytes, rows: NDArray[np.uint8], owners: set[str]) -> None:
        """Write a block as soon as there is time, if it `takes` it. The rows must not change any more."""
        with self._changing:
            if not self._takes(key, rows.nbytes):
                return
            self._waiting.add(key)
            self._waiting_nbytes += rows.nbytes
        header = msgspec.json.encode(_Header(sorted(owners), rows.nbytes))
        self._tasks.put((key, header, rows))

    def forget(self, owner: str) -> None:
        """Delete the blocks that belong to this conversation alone, also those that wait to be written."""
        self._tasks.put(owner)

    def clear(self) -> int:
        """Delete all blocks, also those that wait to be written. Return the bytes that were on the disk."""
        written = threading.Event()
        self._tasks.put(written)
        written.wait()
        with self._changing:
            keys = list(self._sizes)
            before = self._nbytes
        for key in keys:
            self._delete(key)
        return before - self._nbytes

    def close(self) -> None:
        """Write what waits, and end."""
        self._tasks.put(None)
        self._writer.join()
        self._lock.release()

    # -- on the writer's thread ------------------------------------------------------------------------------

    def _work(self) -> None:
        while (task := self._tasks.get()) is not None:
            if isinstance(task, str):
                self._forget(task)
                continue
            if isinstance(task, threading.Event):
                task.set()
                continue
            key, header, rows = task
            assert rows is not None
            try:
                self._write(key, header, rows)
            except OSError as error:
                log.warning("no more blocks are written to %s: %s", self._folder, error)
                self._has_failed = True
            with self._changing:
                self._waiting.discard(key)
                self._waiting_nbytes -= rows.nbytes

    def _write(self, key: bytes, header: bytes, rows: NDArray[np.uint8]) -> None:
        body = len(header).to_bytes(4, "little") + header + rows.tobytes()
        path, temporary = self._path(key), self._folder / f".{key.hex()}.new"
        size = _START + len(body)
        self._make_room(size)
        try:
            with open_private(temporary) as file:
                file.write(MAGIC + _digest(key, body))
                view = memoryview(body)
                while view:
                    view = view[file.write(view) :]
            temporary.replace(path)
        finally:
            temporary.unlink(missing_ok=True)
        with self._changing:
            self._nbytes += size - self._sizes.get(key, 0)
            self._sizes[key] = size
            self._sizes.move_to_end(key)

    def _make_room(self, nbytes: int) -> None:
        while True:
            with self._changing:
                if self._nbytes + nbytes <= self._budget or not self._sizes:
                    return
                oldest = next(iter(self._sizes))
            self._delete(oldest)

    def _forget(self, owner: str) -> None:
        with self._changing:
            keys = list(self._sizes)
        for key in keys:
            try:
                owners = _owners(self._path(key))
                if owner in owners:
                    _, rows = _parsed(key, self._path(key).read_bytes())
                    self._delete(key)
                    if left := sorted(owners - {owner}):
                        self._write(key, msgspec.json.encode(_Header(left, rows.nbytes)), rows)
            except (OSError, ValueError):
                self._delete(key)

    # -- files -----------------------------------------------------------------------------------------------

    def _list(self) -> None:
        """Find the files that are there, and delete what no writer has finished."""
        found = []
        for path in self._folder.iterdir():
            if path.name == LOCK:
                continue
            with suppress(OSError):
                if (key := _key_of(path)) is None:
                    path.unlink()
                    continue
                status = path.lstat()
                found.append((status.st_mtime_ns, key, status.st_size))
        for _, key, size in sorted(found):
            self._sizes[key] = size
            self._nbytes += size
        self._make_room(0)

    def _path(self, key: bytes) -> Path:
        return self._folder / f"{key.hex()}{ENDING}"

    def _delete(self, key: bytes) -> None:
        with suppress(OSError):
            self._path(key).unlink()
        self._lost(key)

    def _lost(self, key: bytes) -> None:
        with self._changing:
            self._nbytes -= self._sizes.pop(key, 0)


def default_folder() -> Path:
    """Return the folder of the blocks of this user's programs."""
    return platformdirs.user_cache_path("specexec-desktop", appauthor=False) / "prompts"


def forget_on_disk(owner: str) -> None:
    """Delete what earlier engines have written of a conversation, where none runs that would do it."""
    folder = default_folder()
    if not folder.is_dir():
        return
    try:
        files = BlockFiles(folder, sys.maxsize)
    except BlockingIOError:  # its owner finds them missing, and computes them again where they are shared
        for path in folder.glob(f"*{ENDING}"):
            with suppress(OSError):
                if owner in _owners(path):
                    path.unlink()
    except OSError as error:
        log.warning("what is kept of a deleted chat in %s cannot be deleted: %s", folder, error)
    else:
        files.forget(owner)
        files.close()


def clear_on_disk() -> int:
    """Delete all that earlier engines have written, where none runs that would do it. Return the bytes freed.

    Raises OSError if the folder cannot be used, BlockingIOError if an engine uses it.
    """
    folder = default_folder()
    if not folder.is_dir():
        return 0
    files = BlockFiles(folder, sys.maxsize)
    try:
        return files.clear()
    finally:
        files.close()


def _key_of(path: Path) -> bytes | None:
    """Return the key of the block in this file, or None if it is no file of a block."""
    try:
        return bytes.fromhex(path.stem) if path.suffix == ENDING else None
    except ValueError:
        return None


def _owners(path: Path) -> set[str]:
    """Return the owners that a file names; none if it is damaged. Raises OSError."""
    with path.open("rb") as file:
        try:
            return set(_header(file.read(_START + 4 + MOST_HEADER)).owners)
        except ValueError:
            return set()


def _parsed(key: bytes, data: bytes) -> tuple[_Header, NDArray[np.uint8]]:
    """Return header and rows of a file. Raises ValueError if it is not what was written."""
    body = memoryview(data)[_START:]
    if data[: len(MAGIC)] != MAGIC or data[len(MAGIC) : _START] != _digest(key, body):
        raise ValueError("damaged")
    header = _header(data)
    return header, np.frombuffer(body[len(body) - header.nbytes :], np.uint8)


def _header(data: bytes) -> _Header:
    """Return the header from the beginning of a file. Raises ValueError."""
    size = int.from_bytes(data[_START : _START + 4], "little")
    return msgspec.json.decode(data[_START + 4 : _START + 4 + size], type=_Header)


def _digest(key: bytes, body: bytes | memoryview) -> bytes:
    return hashlib.blake2b(body, digest_size=_CHECKSUM, key=key).digest()
