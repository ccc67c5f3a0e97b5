"""A slower disk takes its time, shared by all files, and reads the same bytes."""

import threading
import time

import numpy as np
import pytest

from engine.bench.slower_disk import ReadingPace, SlowerFile
from engine.streaming.disk import MemoryFile

NBYTES = 50_000


@pytest.fixture
def content():
    return np.arange(NBYTES, dtype=np.uint64).view(np.uint8)[:NBYTES].copy()


@pytest.mark.parametrize("readers", [1, 2])
def test_reads_of_all_files_take_as_long_as_the_disk_would(content, readers):
    pace = ReadingPace(1e6)
    read = [np.zeros(NBYTES, np.uint8) for _ in range(4)]

    def work(number):
        for into in read[number::readers]:
            SlowerFile(MemoryFile(content), pace).read(into.data, 0, NBYTES)

    started = time.perf_counter()
    threads = [threading.Thread(target=work, args=(number,)) for number in range(readers)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert time.perf_counter() - started >= 4 * NBYTES / 1e6
    assert all((into == content).all() for into in read)


def test_time_in_which_nothing_was_asked_of_the_disk_is_not_made_up_for(content):
    pace = ReadingPace(1e6)
    pace.read(NBYTES)
    time.sleep(2 * NBYTES / 1e6)
    before = time.perf_counter()
    assert pace.read(NBYTES) >= before + NBYTES / 1e6
