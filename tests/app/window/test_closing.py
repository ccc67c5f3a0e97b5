"""Closing the window ends its engine, whatever either of them does."""

from collections.abc import Callable

import pytest
from pytestqt.qtbot import QtBot

from app.connection.engine import State
from app.window.window import Window
from tests.app.fake_engine import FakeEngines, grown
from tests.app.window.test_window import ask, delta, reach


@pytest.mark.parametrize("state", [State.STARTING, State.LOADING, State.READY, State.ANSWERING, State.LOST])
def test_closing_ends_the_engine_in_every_state(
    state: State, make_window: Callable[..., Window], qtbot: QtBot
) -> None:
    engines = FakeEngines((lambda *_: None) if state is State.LOADING else None)
    if state is State.STARTING:
        engines.gate.clear()
    window = make_window(engines)
    if state in (State.ANSWERING, State.LOST):
        reach(window, qtbot, State.READY)
        request = ask(window, engines, qtbot)
        engines.last.say(delta(request, "text"), grown(request))
    if state is State.LOST:
        engines.last.die()
        reach(window, qtbot, state)
        qtbot.waitUntil(lambda: not window.engine.is_running)
        window.close()
        assert not window.isVisible()
        return
    reach(window, qtbot, state)
    with qtbot.waitSignal(window.closed):
        window.close()
        assert not window.isVisible()
        engines.gate.set()
    assert engines.last.closed.is_set()
    assert not window.engine.is_running


def test_closing_does_not_wait_forever(
    make_window: Callable[..., Window], engines: FakeEngines, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("app.window.window.CLOSE_TIMEOUT_MS", 20)
    engines.gate.clear()
    window = make_window(engines)
    with qtbot.waitSignal(window.closed):
        window.close()
    assert window.engine.is_running
    with qtbot.waitSignal(window.engine.ended):
        engines.gate.set()
