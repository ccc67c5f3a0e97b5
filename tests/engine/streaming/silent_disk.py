"""A disk that stands still while a test wishes, below everything that the engine reads through."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from io import FileIO
from pathlib import Path

import pytest

from engine import reads
from engine.machine.disk_reads import SECTOR
from engine.streaming import disk, disk_watch

ROWS = 4 * SECTOR  # bytes: more than a read of a table's row takes, less than one of weights
PATIENCE_S = 60


class SilentDisk:
    """Attributes: `answers`: set while reads are answered; `least`: shorter reads are always answered."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, least: int = ROWS) -> None:
        self.answers = threading.Event()
        self.answers.set()
        self.least = least
        self._whole, self._opens = disk._read, reads.opened
        monkeypatch.setattr(disk, "_read", self._read)
        monkeypatch.setattr(reads, "opened", self._opened)
        monkeypatch.setattr(disk_watch, "TOLD_S", 0.02)  # seconds, as the others

    def await_for(self, nbytes: int) -> None:
        """Return once the disk answers a read of so many bytes."""
        if nbytes >= self.least:
            assert self.answers.wait(PATIENCE_S)

    def _read(self, file: int, buffer: memoryview, offset: int) -> int:
        self.await_for(len(buffer))
        return self._whole(file, buffer, offset)

    @contextmanager
    def _opened(self, path: Path) -> Iterator["SilentFile"]:
        with self._opens(path) as file:
            yield SilentFile(file, self)


class SilentFile:
    """An open file on a `SilentDisk`."""

    def __init__(self, file: FileIO, on: SilentDisk) -> None:
        self._file, self._on = file, on
        self.fileno, self.seek = file.fileno, file.seek

    def readinto(self, into: memoryview) -> int | None:
        self._on.await_for(len(into))
        return self._file.readinto(into)
