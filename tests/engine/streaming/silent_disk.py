"""A disk that stands still while a test wishes, below everything that the engine reads through."""

import threading

import pytest

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
        self._whole = disk._read
        monkeypatch.setattr(disk, "_read", self._read)
        monkeypatch.setattr(disk_watch, "TOLD_S", 0.02)  # seconds, as the others

    def _read(self, file: int, buffer: memoryview, offset: int) -> int:
        if len(buffer) >= self.least:
            assert self.answers.wait(PATIENCE_S)
        return self._whole(file, buffer, offset)
