"""Threads that read for those that compute."""

import threading
import time
import weakref
from contextlib import nullcontext
from functools import partial

import pytest

from engine import interruption, reads
from engine.errors import Interrupted
from engine.streaming import disk_watch
from engine.streaming.crew import SystemCrew
from engine.streaming.disk_watch import DiskWatch
from engine.streaming.readers import Readers, reading_aside, watch_of

PATIENCE_S = 10


@pytest.fixture
def stopped():
    """Stop was pressed."""
    interruption.interrupt()
    yield
    interruption.resume()


def test_work_is_done_aside_only_where_a_thread_is_helped():
    def here():
        return threading.current_thread()

    assert reads.aside(here) is here()
    with reading_aside(DiskWatch("model")):
        other = reads.aside(here)
        assert other is not here()
        assert reads.aside(lambda: reads.aside(here)) is other, "what works aside reads by itself"
    assert reads.aside(here) is here()
    assert not other.is_alive()


def test_a_file_is_read_in_pieces_that_are_noted(tmp_path, monkeypatch):
    monkeypatch.setattr(reads, "PIECE_NBYTES", 4)
    (tmp_path / "file").write_bytes(bytes(range(30)))
    noted = []

    def note():
        noted.append(None)
        return nullcontext()

    with reads.noted_with(note):
        assert reads.content(tmp_path / "file", 10) == bytes(range(10))
        assert len(noted) == 4, "it is opened, and read three times"
        assert reads.content(tmp_path / "file", 1_000) == bytes(range(30))
    del noted[:]
    reads.content(tmp_path / "file", 10)
    assert noted == []


def test_many_reads_begin_few_threads():
    begun = []

    class CountingCrew(SystemCrew):
        def start(self, work, name):
            begun.append(name)
            return super().start(work, name)

    readers = Readers(DiskWatch("model"), most=4, name="weights", crew=CountingCrew())
    ends = [readers.begin(partial(pow, 2, number)) for number in range(1000)]
    assert [end() for end in ends] == [2**number for number in range(1000)]
    assert begun == ["weights"] * 4
    readers.close()


def test_errors_reach_the_thread_that_waits():
    def fail():
        raise OSError("no such disk")

    with reading_aside(DiskWatch("model")):
        with pytest.raises(OSError, match="no such disk"):
            reads.aside(fail)
        assert reads.aside(lambda: 3) == 3


def test_only_single_reads_count_as_the_disks_silence():
    watch, begun, goes_on = DiskWatch("model"), threading.Event(), threading.Event()

    def work():
        with reads.noted():
            begun.set()
            assert goes_on.wait(PATIENCE_S)
        return watch.silent_s

    readers = Readers(watch)
    end = readers.begin(work)
    assert begun.wait(PATIENCE_S)
    assert watch.silent_s > 0
    goes_on.set()
    assert end() == 0
    readers.close()


def test_what_comes_when_nobody_waits_any_more_is_discarded(stopped, monkeypatch):
    monkeypatch.setattr(disk_watch, "LEFT_S", 0.0)
    goes_on, left = threading.Event(), []

    def work():
        with reads.noted():
            assert goes_on.wait(PATIENCE_S)
        return "an open file"

    threads = set(threading.enumerate())
    with reading_aside(DiskWatch("model")), pytest.raises(Interrupted):
        reads.aside(work, left.append)
    (reader,) = set(threading.enumerate()) - threads
    assert left == []
    goes_on.set()
    reader.join(PATIENCE_S)
    assert left == ["an open file"]


def test_cancel_does_not_wait_for_a_disk_that_is_asked_something_else_than_a_read(stopped, monkeypatch):
    """As one is by stat(), for example, which no note is made of."""
    monkeypatch.setattr(disk_watch, "LEFT_S", 0.05)
    answers = threading.Event()
    threads = set(threading.enumerate())
    began = time.monotonic()
    with reading_aside(DiskWatch("model")), pytest.raises(Interrupted):
        reads.aside(lambda: answers.wait(PATIENCE_S))
    assert time.monotonic() - began < PATIENCE_S / 2
    (reader,) = set(threading.enumerate()) - threads
    answers.set()
    reader.join(PATIENCE_S)


def test_cancel_does_not_wait_for_the_rest_of_a_large_tensor(stopped, monkeypatch):
    class SlowFile:
        pieces = 0

        def readinto(self, into):
            self.pieces += 1
            time.sleep(0.02)
            return 1

    file = SlowFile()
    threads = set(threading.enumerate())
    with reading_aside(DiskWatch("model")), pytest.raises(Interrupted):
        reads.aside(lambda: reads.fill(bytearray(1_000), file))
    assert set(threading.enumerate()) == threads, "the thread has ended"
    assert file.pieces < 100


def test_a_result_that_cannot_be_discarded_leaves_the_thread_to_its_other_orders(stopped, caplog):
    goes_on = threading.Event()

    def fail(result):
        raise OSError("it cannot be closed")

    readers = Readers(DiskWatch("model"))
    with pytest.raises(Interrupted):
        readers.aside(lambda: goes_on.wait(PATIENCE_S), fail)
    interruption.resume()
    goes_on.set()
    assert readers.aside(lambda: 3) == 3
    readers.close()
    assert "it cannot be closed" in caplog.text


def test_a_thread_keeps_nothing_of_the_orders_that_it_has_done():
    class Weights:
        pass

    readers = Readers(DiskWatch("model"))
    result = weakref.ref(readers.aside(Weights))
    readers.aside(lambda: None)
    assert result() is None
    readers.close()


def test_what_a_thread_makes_while_it_is_helped_waits_with_the_same_watch(tmp_path):
    watch = DiskWatch("a pair")
    with reading_aside(watch):
        with reading_aside(inner := DiskWatch("its draft")):
            assert watch_of(tmp_path / "model.gguf") is inner
        assert watch_of(tmp_path / "model.gguf") is watch
    assert watch_of(tmp_path / "model.gguf") is not watch
