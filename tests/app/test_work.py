import threading
import time

from PySide6.QtCore import QThread
from pytestqt.exceptions import capture_exceptions
from pytestqt.qtbot import QtBot

from app.work import Work
from engine.errors import BadOption, SpecExecError
from engine.hub import Stop


def unexpected(error: SpecExecError) -> None:
    raise AssertionError(error)


def test_the_function_runs_elsewhere_and_its_result_comes_here(qtbot: QtBot) -> None:
    work, heard = Work(), []
    work.run(
        "a",
        lambda stop: threading.current_thread().name,
        lambda name: heard.append((name, QThread.currentThread())),
        unexpected,
    )
    assert work.is_running("a")
    qtbot.waitUntil(lambda: bool(heard))
    assert heard == [("a", work.thread())]
    assert not work.is_running("a")


def test_a_named_error_goes_to_whoever_can_say_it_and_any_other_is_raised(qtbot: QtBot) -> None:
    work, errors = Work(), []

    def fail(error: Exception) -> None:
        raise error

    work.run("a", lambda stop: fail(BadOption("No.", "Yes.")), unexpected, errors.append)
    qtbot.waitUntil(lambda: bool(errors))
    assert errors[0].hint == "Yes."
    with capture_exceptions() as raised:
        work.run("a", lambda stop: fail(ZeroDivisionError()), unexpected, errors.append)
        qtbot.waitUntil(lambda: bool(raised))
    assert raised[0][0] is ZeroDivisionError


def test_of_two_only_the_newer_is_heard_and_the_older_is_stopped(qtbot: QtBot) -> None:
    work, heard = Work(), []
    stopped = threading.Event()

    def old(stop: Stop) -> str:
        while not stop.asked:
            time.sleep(0.001)
        stopped.set()
        return "old"

    work.run("a", old, heard.append, unexpected)
    work.run("a", lambda stop: "new", heard.append, unexpected)
    work.run("b", lambda stop: "other", heard.append, unexpected)
    assert stopped.wait(5)
    qtbot.waitUntil(lambda: len(heard) == 2)
    qtbot.wait(20)
    assert sorted(heard) == ["new", "other"]


def test_closing_leaves_no_thread_and_nothing_is_heard_any_more(qtbot: QtBot) -> None:
    work, heard = Work(), []
    work.run("a", lambda stop: stop.wait(60), heard.append, heard.append)
    thread = next(thread for thread in threading.enumerate() if thread.name == "a")
    work.close()
    assert not thread.is_alive()
    qtbot.wait(20)
    assert heard == []
