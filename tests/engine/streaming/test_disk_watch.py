"""How long a disk has been silent, on a clock that the tests move."""

import pytest

from engine import interruption
from engine.bench.simulation.clock import VirtualClock
from engine.errors import DiskSilent, Interrupted
from engine.streaming import disk_watch
from engine.streaming.disk_watch import DiskWatch


class Reader:
    """A thread that reads pieces which take so many seconds each, while another one waits for all of them.
    Attributes: `told`: (second, seconds of silence) as it was told; `clock`; `watch`."""

    def __init__(self, clock=None):
        self.clock = clock or VirtualClock()
        self.watch = DiskWatch("a-model.gguf", self.clock)
        self.told = []
        self.watch.on_silence = lambda seconds: self.told.append((round(self.clock.now()), round(seconds)))

    def run(self, *pieces, until=None):
        changed, left = self.clock.condition(), list(pieces)

        def read():
            while left:
                with self.watch.reading():
                    self.clock.sleep(left[0])
                left.pop(0)
                with changed:
                    changed.notify_all()

        def work():
            self.clock.start(read, "reader")
            with changed:
                self.watch.wait(changed, until or (lambda: not left))

        self.clock.run(work)


def test_a_disk_that_answers_is_not_told_of():
    reader = Reader()
    reader.run(*[9.0] * 20)
    assert reader.told == []
    assert reader.watch.silent_s == 0


def test_silence_is_told_again_and_again_and_then_that_it_is_over():
    reader = Reader()
    reader.run(5.0, 34.0, 5.0)
    assert reader.told == [(15, 10), (25, 20), (35, 30), (39, 0)]


def test_a_disk_that_answers_for_a_moment_is_told_of_anew():
    reader = Reader()
    reader.run(12.0, 12.0)
    assert [seconds for _, seconds in reader.told] == [10, 0, 10, 0]


def test_a_wait_ends_by_name_when_the_disk_was_silent_during_all_of_it():
    reader = Reader()
    with pytest.raises(DiskSilent, match=r"a-model\.gguf has not answered for 300 s"):
        reader.run(10_000.0)
    assert reader.told[-1][1] == 0
    assert reader.clock.now() == pytest.approx(disk_watch.GIVEN_UP_S, abs=1)


class SleepyClock(VirtualClock):
    """A clock that goes on while the machine sleeps, as Windows' does. Attributes: `falls_asleep`: when, in
    seconds; `slept_s`: for how long, then."""

    falls_asleep, slept_s = 4.0, 3600.0

    def now(self):
        return self.seconds + (self.slept_s if self.seconds >= self.falls_asleep else 0.0)


def test_the_time_for_which_the_machine_slept_is_no_silence_of_its_disk():
    reader = Reader(SleepyClock())
    reader.run(13.0, 3.0)
    assert reader.told == []
    reader = Reader(SleepyClock())
    with pytest.raises(DiskSilent, match="has not answered for 300 s"):
        reader.run(10_000.0)
    assert reader.told[0][1] == 10
    assert reader.clock.seconds == pytest.approx(4 + disk_watch.GIVEN_UP_S, abs=1)


def test_stop_ends_a_wait():
    reader = Reader()

    def press(seconds):
        reader.told.append(seconds)
        interruption.interrupt()

    reader.watch.on_silence = press
    try:
        with pytest.raises(Interrupted):
            reader.run(10_000.0)
    finally:
        interruption.resume()
    assert len(reader.told) == 2
    assert reader.clock.now() < 11


def test_a_user_who_cannot_be_told_changes_nothing():
    reader = Reader()

    def fail(seconds):
        reader.told.append(seconds)
        raise BrokenPipeError

    reader.watch.on_silence = fail
    reader.run(15.0)
    assert len(reader.told) == 2
    with pytest.raises(DiskSilent):
        reader.run(10_000.0)


def test_a_disk_stands_still_while_no_read_is_under_way():
    clock = VirtualClock()
    clock.seconds = 100.0
    watch, seen = DiskWatch("a-model.gguf", clock), []

    def read(begins, seconds):
        clock.sleep(begins)
        with watch.reading():
            clock.sleep(seconds)

    def work():
        for begins, seconds in ((1.0, 4.0), (2.0, 5.0), (9.0, 1.0)):  # two at once, and one later
            clock.start(lambda begins=begins, seconds=seconds: read(begins, seconds), "reader")
        for second in (101.5, 106.5, 108.5, 109.5, 112.5):
            clock.sleep_until(second)
            seen.append(watch.idle_s)

    clock.run(work)
    assert seen == pytest.approx([1.0, 1.0, 2.5, 3.0, 5.5])


def test_a_thread_whose_read_is_not_answered_is_not_waited_for():
    clock = VirtualClock()
    watch = DiskWatch("a-model.gguf", clock)

    def read(seconds):
        with watch.reading():
            clock.sleep(seconds)

    def work():
        slow = clock.start(lambda: read(1.0), "slow")
        watch.join([slow])
        assert not slow.is_alive()
        silent = clock.start(lambda: read(100.0), "silent")
        watch.join([silent])
        assert silent.is_alive()

    clock.run(work)
    assert clock.now() < 1 + disk_watch.LEFT_S + 0.2


def test_a_thread_that_does_not_read_is_waited_for_as_long_as_one_may():
    clock = VirtualClock()
    watch = DiskWatch("a-model.gguf", clock)

    def read_and_work():
        for _ in range(4):
            with watch.reading():
                clock.sleep(1.5)
        clock.sleep(100.0)

    def work():
        busy = clock.start(read_and_work, "busy")
        watch.join([busy], is_patient=False)
        assert busy.is_alive()
        assert clock.now() == pytest.approx(4 * 1.5 + disk_watch.LEFT_S, abs=0.2)
        watch.join([busy])
        assert not busy.is_alive()

    clock.run(work)
