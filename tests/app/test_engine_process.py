"""The window with a real engine process that misbehaves."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest
from pytestqt.qtbot import QtBot

from app.connection.engine import State
from app.connection.engine_link import EngineLink
from app.window.window import Window
from engine.protocol.connection import EngineConnection
from engine.protocol.engine_process import StartedEngine

KEY = "11" * 32


class StandIns:
    """Starts a stand-in engine at each call. pids: process ids of the engines started."""

    def __init__(self, *behaviours: str) -> None:
        self.pids: list[int] = []
        self._behaviours = list(behaviours)

    def __call__(self) -> EngineConnection:
        process = subprocess.Popen(
            [sys.executable, "-m", "tests.app.stand_in_engine", self._behaviours.pop(0)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            cwd=Path(__file__).parents[2],
        )
        self.pids.append(process.pid)
        return EngineConnection(StartedEngine(process, KEY))

    def left(self) -> list[int]:
        return [pid for pid in self.pids if psutil.pid_exists(pid)]


@pytest.mark.parametrize("behaviour", ["dies", "garbage"])
def test_an_engine_that_breaks_is_replaced_and_the_text_is_kept(
    behaviour: str, make_window: Callable[..., Window], qtbot: QtBot
) -> None:
    engines = StandIns(behaviour, "obeys")
    window = make_window(engines)
    qtbot.waitUntil(lambda: window.engine.state is State.READY, timeout=20_000)
    with qtbot.waitSignal(window.engine.lost, timeout=20_000):
        window.chat.send("hello")
    assert window.chat.shown[-1].message.text == "so far"
    assert window.chat.shown[-1].message.state == "interrupted"
    window.transcript.notice.button.click()
    qtbot.waitUntil(lambda: window.engine.state is State.READY, timeout=20_000)
    with qtbot.waitSignal(window.closed, timeout=20_000):
        window.close()
    assert len(engines.pids) == 2
    assert not engines.left()


def test_a_killed_engine_is_noticed_while_idle(make_window: Callable[..., Window], qtbot: QtBot) -> None:
    engines = StandIns("obeys")
    window = make_window(engines)
    qtbot.waitUntil(lambda: window.engine.state is State.READY, timeout=20_000)
    with qtbot.waitSignal(window.engine.lost, timeout=20_000):
        psutil.Process(engines.pids[0]).kill()
    assert "Restart" in window.transcript.notice.button.text()


def test_two_windows_have_an_engine_each(make_window: Callable[..., Window], qtbot: QtBot) -> None:
    engines = StandIns("obeys", "obeys")
    one, other = make_window(engines), make_window(engines)
    qtbot.waitUntil(lambda: one.engine.state is other.engine.state is State.READY, timeout=20_000)
    with qtbot.waitSignal(one.closed, timeout=20_000):
        one.close()
    assert len(engines.left()) == 1
    assert other.engine.state is State.READY


def test_a_link_closed_at_once_leaves_no_process(qtbot: QtBot) -> None:
    engines = StandIns("obeys")
    link = EngineLink(engines)
    link.start()
    with qtbot.waitSignal(link.ended, timeout=20_000):
        link.close()
    assert not engines.left()
