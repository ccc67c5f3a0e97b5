"""A table on the disk: a draft that shares its target's embedding looks rows up while the target does."""

import threading
from pathlib import Path

import numpy as np
import pytest

from engine import interruption
from engine.checkpoints import Span
from engine.errors import Interrupted, StreamBroken
from engine.machine.disk_reads import SECTOR
from engine.streaming import DiskTable, disk_watch
from engine.streaming.disk_watch import DiskWatch
from engine.streaming.readers import Readers

PATIENCE_S = 10


class SlowFirstRow:
    """A file with its rows' numbers. A read of row 0 ends only once another read has ended."""

    def __init__(self):
        self.begun, self.other_has_ended = threading.Event(), threading.Event()

    def read(self, into, offset, needed):
        number = offset // SECTOR
        into[:] = bytes([number]) * len(into)
        if number:
            self.other_has_ended.set()
        else:
            self.begun.set()
            assert self.other_has_ended.wait(PATIENCE_S)


def test_threads_that_look_up_rows_at_once_get_their_own():
    file, found = SlowFirstRow(), []
    table = DiskTable(Span(Path("table"), 0, 3 * SECTOR, (3, SECTOR // 2), "F16"), file)
    one = threading.Thread(target=lambda: found.append(table.rows(np.array([0]))))
    one.start()
    assert file.begun.wait(PATIENCE_S)
    other = table.rows(np.array([2]))
    one.join()
    assert (np.unique(found[0]), np.unique(other)) == ([0], [2])


class NumberedRows:
    """A file with its rows' numbers, whose row 1 cannot be read, and which is silent until `answers` is
    set."""

    def __init__(self):
        self.begun, self.answers = threading.Event(), threading.Event()

    def read(self, into, offset, needed):
        self.begun.set()
        assert self.answers.wait(PATIENCE_S)
        number = offset // SECTOR
        if number == 1:
            raise StreamBroken("weights can no longer be read.", "Check the disk.")
        into[:] = bytes([number]) * len(into)


def test_a_thread_reads_rows_for_those_that_compute_and_stop_ends_their_wait():
    threads = threading.active_count()
    file, reader = NumberedRows(), Readers(DiskWatch("weights"))
    table = DiskTable(Span(Path("table"), 0, 3 * SECTOR, (3, SECTOR // 2), "F16"), file)
    table.reader = reader
    interruption.interrupt()
    try:
        with pytest.raises(Interrupted):
            table.rows(np.array([0]))
    finally:
        interruption.resume()
    file.answers.set()
    assert np.unique(table.rows(np.array([2, 2]))) == [2]
    with pytest.raises(StreamBroken):
        table.rows(np.array([0, 1]))
    assert np.unique(table.rows(np.array([0]))) == [0]
    reader.close()
    assert threading.active_count() == threads


def test_closing_ends_a_wait_for_rows_and_a_later_one(monkeypatch):
    monkeypatch.setattr(disk_watch, "LEFT_S", 0.0)  # the thread that reads is left behind
    file, reader, ended = NumberedRows(), Readers(DiskWatch("weights")), []
    table = DiskTable(Span(Path("table"), 0, 3 * SECTOR, (3, SECTOR // 2), "F16"), file)
    table.reader = reader

    def look_up():
        try:
            table.rows(np.array([0]))
        except Interrupted as end:
            ended.append(end)

    waiting = threading.Thread(target=look_up, daemon=True)
    waiting.start()
    assert file.begun.wait(PATIENCE_S)
    reader.close()
    waiting.join(PATIENCE_S)
    later = threading.Thread(target=look_up, daemon=True)
    later.start()
    later.join(PATIENCE_S)
    file.answers.set()
    assert len(ended) == 2
