"""A table on the disk: a draft that shares its target's embedding looks rows up while the target does."""

import threading
from pathlib import Path

import numpy as np

from engine.checkpoints import Span
from engine.streaming import DiskTable
from engine.streaming.disk import SECTOR

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
