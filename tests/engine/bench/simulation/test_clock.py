"""Virtual time: threads take turns in the order of time, and a simulation gives the same result each time."""

import threading

import pytest

from engine.bench.simulation.clock import VirtualClock


def test_time_passes_only_while_all_threads_wait():
    clock, log = VirtualClock(), []

    def other():
        clock.sleep(1.5)
        log.append(("other", clock.seconds))
        clock.sleep(1.5)
        log.append(("other", clock.seconds))

    def main():
        thread = clock.start(other, "other")
        clock.at(2.5, lambda: log.append(("action", clock.seconds)))
        for _ in range(2):
            clock.sleep(1)
            log.append(("main", clock.seconds))
        thread.join()
        return clock.now()

    assert clock.run(main) == 3.0
    assert log == [("main", 1.0), ("other", 1.5), ("main", 2.0), ("action", 2.5), ("other", 3.0)]


def test_a_condition_wakes_all_that_wait_and_a_wait_ends_with_its_time():
    clock, log = VirtualClock(), []

    def main():
        changed, happened = clock.condition(), []

        def waiter(name, timeout):
            with changed:
                log.append((name, changed.wait_for(lambda: bool(happened), timeout), clock.seconds))

        threads = [
            clock.start(lambda name=name, timeout=timeout: waiter(name, timeout), name)
            for name, timeout in (("patient", None), ("hasty", 1.0), ("slow", 9.0))
        ]
        clock.sleep(2)
        with changed:
            changed.notify_all()  # nothing has happened
        clock.sleep(2)
        happened.append(True)
        with changed:
            changed.notify_all()
        for thread in threads:
            thread.join()

    clock.run(main)
    assert log == [("hasty", False, 1.0), ("patient", True, 4.0), ("slow", True, 4.0)]


def test_threads_that_wait_for_each_other_are_an_error():
    clock = VirtualClock()

    def stuck():
        clock.condition().wait()

    with pytest.raises(RuntimeError, match="wait for each other"):
        clock.run(lambda: clock.start(stuck, "stuck").join())


def test_an_error_of_a_thread_is_raised():
    clock = VirtualClock()

    def fail():
        clock.sleep(1)
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        clock.run(lambda: clock.start(fail, "fails").join())


def test_what_other_threads_do_takes_no_time():
    clock = VirtualClock()
    thread = threading.Thread(target=lambda: clock.sleep(5))
    thread.start()
    thread.join()
    assert clock.seconds == 0.0
