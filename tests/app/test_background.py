import threading
import time

import pytest
from PySide6.QtCore import QThread
from pytestqt.exceptions import capture_exceptions
from pytestqt.qtbot import QtBot

from app import background
from app.background import Work
from engine.errors import BadOption, SpecExecError
from engine.hub import Stop


def unexpected(error: SpecExecError) -> None:
    raise AssertionError(error)


def test_the_function_runs_on_its_own_thread_and_the_result_arrives_on_this_one(qtbot: QtBot) -> None:
    work, results = Work(), []
    work.run(
        "a",
        lambda stop: threading.current_thread().name,
        lambda name: results.append((name, QThread.currentThread())),
        unexpected,
    )
    assert work.is_running("a")
    qtbot.waitUntil(lambda: bool(results))
    assert results == [("a", work.thread())]
    assert not work.is_running("a")


@pytest.mark.parametrize("way", ["run", "add"])
def test_a_named_error_goes_to_its_callback_and_any_other_is_raised(qtbot: QtBot, way: str) -> None:
    work, errors = Work(), []

    def start(error: Exception) -> None:
        def fail(*_: object) -> None:
            raise error

        if way == "run":
            work.run("a", fail, unexpected, errors.append)
        else:
            work.add(fail, unexpected, errors.append)

    start(BadOption("No.", "Yes."))
    qtbot.waitUntil(lambda: bool(errors))
    assert errors[0].hint == "Yes."
    with capture_exceptions() as raised:
        start(ZeroDivisionError())
        qtbot.waitUntil(lambda: bool(raised))
    assert raised[0][0] is ZeroDivisionError


def test_what_the_system_refuses_goes_to_the_callback_for_errors(
    qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    work, errors = Work(), []

    def refused(*_: object) -> None:
        raise OSError(24, "Too many open files")

    work.run("a", refused, unexpected, errors.append)
    qtbot.waitUntil(lambda: bool(errors))

    def no_thread(_: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", no_thread)
    work.run("a", refused, unexpected, errors.append)
    assert [error.kind for error in errors] == ["system_limit", "system_limit"]
    assert not work.is_running("a")


def test_a_newer_job_of_a_kind_stops_the_older_one_and_discards_its_result(qtbot: QtBot) -> None:
    work, results = Work(), []
    stopped = threading.Event()

    def old(stop: Stop) -> str:
        while not stop.asked:
            time.sleep(0.001)
        stopped.set()
        return "old"

    work.run("a", old, results.append, unexpected)
    work.run("a", lambda stop: "new", results.append, unexpected)
    work.run("b", lambda stop: "other", results.append, unexpected)
    assert stopped.wait(5)
    qtbot.waitUntil(lambda: len(results) == 2)
    qtbot.wait(20)
    assert sorted(results) == ["new", "other"]


def test_independent_jobs_all_end_even_after_closing(qtbot: QtBot) -> None:
    work, results = Work(), []
    may_end = threading.Event()

    def wait() -> bool:
        may_end.wait(5)
        return QThread.currentThread() is work.thread()

    for _ in range(2):
        work.add(wait, results.append, unexpected)
    work.close()
    may_end.set()
    qtbot.waitUntil(lambda: len(results) == 2)
    assert results == [False, False]


def test_closing_ends_every_thread_and_discards_every_result(qtbot: QtBot) -> None:
    work, results = Work(), []
    work.run("a", lambda stop: stop.wait(60), results.append, results.append)
    thread = next(thread for thread in threading.enumerate() if thread.name == "a")
    work.close()
    assert not thread.is_alive()
    qtbot.wait(20)
    assert results == []


def test_nothing_is_reported_once_the_program_ends(qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> None:
    ended = threading.Event()
    monkeypatch.setattr(background, "_ended", ended)
    work, results = Work(), []
    started, going = threading.Event(), threading.Event()

    def job(stop: Stop) -> int:
        started.set()
        going.wait()
        return 1

    work.run("late", job, results.append, results.append)
    started.wait()
    thread = work._newest["late"][1]
    background._end()
    going.set()
    thread.join()
    qtbot.wait(50)
    assert ended.is_set()
    assert results == []
