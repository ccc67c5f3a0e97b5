"""A lost engine: what the window offers, and how the chat goes on."""

from collections.abc import Callable

import pytest
from PySide6.QtCore import QUrl
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QPushButton
from pytestqt.qtbot import QtBot

from app.connection.engine import State
from app.window.window import Window
from engine.protocol import messages
from tests.app.fake_engine import FakeEngines, answer
from tests.app.window.test_window import ask, delta, last_answer, notice_text, reach


def test_a_lost_engine_is_restarted_and_the_chat_continues(
    window: Window, engines: FakeEngines, qtbot: QtBot
) -> None:
    request = ask(window, engines, qtbot)
    engines.last.say(delta(request, "Half"))
    engines.last.die()
    reach(window, qtbot, State.LOST)
    assert last_answer(window).body.toPlainText() == "Half"
    assert "Restart engine" in window.transcript.notice.button.text()
    window.transcript.notice.button.click()
    reach(window, qtbot, State.READY)
    assert len(engines.made) == 2
    engines.last.say(answer(ask(window, engines, qtbot, "again"), "Whole."))
    reach(window, qtbot, State.READY)
    assert last_answer(window).body.toPlainText() == "Whole."
    assert window.transcript.notice is None


def test_an_engine_that_does_not_start_offers_a_restart(
    make_window: Callable[..., Window], qtbot: QtBot
) -> None:
    window = make_window(FakeEngines(fails=2))
    reach(window, qtbot, State.LOST)
    assert "did not start" in notice_text(window)
    qtbot.waitUntil(lambda: not window.engine.is_running)


def test_after_the_card_has_stopped_the_window_offers_the_safer_plan(
    window: Window, engines: FakeEngines, qtbot: QtBot
) -> None:
    request = ask(window, engines, qtbot)
    engines.last.say(delta(request, "Half"))
    engines.last.say(
        messages.Failed(request=request, kind="card_failed", message="It stopped.", hint="Restart.")
    )
    engines.last.die(messages.CARD_FAILED_STATUS)
    reach(window, qtbot, State.LOST)
    assert last_answer(window).body.toPlainText() == "Half"
    assert window.transcript.notice.button.text() == "Restart with the safer plan"
    window.transcript.notice.button.click()
    reach(window, qtbot, State.READY)
    assert len(engines.made) == 2


def test_the_log_of_a_lost_engine_is_one_click_away(
    window: Window, engines: FakeEngines, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[QUrl] = []
    monkeypatch.setattr(QDesktopServices, "openUrl", opened.append)
    engines.last.die()
    reach(window, qtbot, State.LOST)
    buttons = window.transcript.notice.findChildren(QPushButton)
    assert [button.text() for button in buttons] == ["Restart engine", "Open log"]
    buttons[1].click()
    assert opened == [QUrl.fromLocalFile("/tmp/engine.log")]
    assert window.engine.state is State.LOST
