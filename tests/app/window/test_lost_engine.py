"""A lost engine: what the window offers, and how the chat goes on."""

from collections.abc import Callable

import pytest
from msgspec import structs
from PySide6.QtCore import QUrl
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QPushButton
from pytestqt.qtbot import QtBot

from app.connection.engine import State
from app.widgets.remark_words import about_plan, words_of
from app.window.window import Window
from engine.protocol import messages
from tests.app.fake_engine import FakeConnection, FakeEngines, answer, loaded
from tests.app.seen import texts
from tests.app.window.test_window import ask, delta, last_answer, notice_text, reach

SMALLER = messages.SmallerPlan(full="ram", vram=0, ram=20, ssd=10, context=512)


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


@pytest.mark.parametrize(
    ("status", "remedy"),
    [
        (messages.CARD_FAILED_STATUS, "Restart with the safer plan"),
        (messages.CARD_FAULT_STATUS, "Restart engine"),  # no kernel has caused it
    ],
)
def test_after_the_card_has_stopped_the_window_offers_the_safer_plan_if_there_is_one(
    window: Window, engines: FakeEngines, qtbot: QtBot, status: int, remedy: str
) -> None:
    request = ask(window, engines, qtbot)
    engines.last.say(delta(request, "Half"))
    engines.last.say(
        messages.Failed(request=request, kind="card_failed", message="It stopped.", hint="Restart.")
    )
    engines.last.die(status)
    reach(window, qtbot, State.LOST)
    assert last_answer(window).body.toPlainText() == "Half"
    assert window.transcript.notice.button.text() == remedy
    window.transcript.notice.button.click()
    reach(window, qtbot, State.READY)
    assert len(engines.made) == 2


def test_the_window_tells_of_the_smaller_plan_after_a_killed_engine_and_returns_to_the_full_one(
    window: Window, engines: FakeEngines, qtbot: QtBot
) -> None:
    def load(connection: FakeConnection, request: messages.Request) -> None:
        if isinstance(request, messages.Load):
            remarks = [SMALLER] if request.smaller else []
            connection.say(structs.replace(loaded(request.id), remarks=remarks))

    engines.script = load
    engines.last.die(-9)
    reach(window, qtbot, State.LOST)
    window.transcript.notice.button.click()
    reach(window, qtbot, State.READY)
    assert "runs with less memory now" in notice_text(window)
    notice = window.transcript.notice
    assert notice.button.text() == "Load in full again"
    notice.details.click()
    assert about_plan(SMALLER) in texts(notice)
    notice.button.click()
    qtbot.waitUntil(lambda: len(engines.last.asked(messages.Load)) == 2)
    reach(window, qtbot, State.READY)
    assert [load.smaller for load in engines.last.asked(messages.Load)] == [1, 0]
    assert window.transcript.notice is None
    engines.last.die(1)
    reach(window, qtbot, State.LOST)
    window.transcript.notice.button.click()
    reach(window, qtbot, State.READY)
    assert engines.last.asked(messages.Load)[0].smaller == 0, "it is still to be the full one"


def test_a_smaller_plan_can_be_kept_which_is_asked_once_for_all_windows(
    make_window: Callable[..., Window], qtbot: QtBot
) -> None:
    plans = [SMALLER, SMALLER, structs.replace(SMALLER, without="heads")]

    def load(connection: FakeConnection, request: messages.Request) -> None:
        if isinstance(request, messages.Load):
            connection.say(structs.replace(loaded(request.id), remarks=[plans.pop(0)]))

    window = make_window(FakeEngines(load))
    reach(window, qtbot, State.READY)
    buttons = {button.text(): button for button in window.transcript.notice.findChildren(QPushButton)}
    buttons["Keep it so"].click()
    assert window.transcript.notice is None
    assert window.engine.state is State.READY
    other = Window(window.core, is_first=False)
    with qtbot.waitSignal(window.engine.loaded):
        window.engine.load()
    assert window.transcript.notice is other.transcript.notice is None
    with qtbot.waitSignal(window.engine.loaded):
        window.engine.load()
    assert "runs with less memory now" in notice_text(other), "it is another plan"
    other.close()


def test_the_window_follows_a_smaller_plan_that_was_taken_during_an_answer(
    window: Window, engines: FakeEngines, qtbot: QtBot
) -> None:
    question = ask(window, engines, qtbot)
    wanted = window.engine.wanted
    by = structs.replace(engines.last.asked(messages.Load)[0], smaller=1)
    smaller = structs.replace(loaded(by.id), remarks=[SMALLER], context=512)
    said = structs.replace(answer(question, "An answer."), remarks=[SMALLER])
    with qtbot.waitSignal(window.engine.loaded):
        engines.last.say(said, messages.NowLoaded(loaded=smaller, by=by))
    assert window.engine.state is State.READY
    assert window.engine.pair == smaller
    assert window.engine.wanted == wanted, "it is the window's own request"
    assert "runs with less memory now" in notice_text(window)
    assert last_answer(window).body.toPlainText() == "An answer."


def test_what_there_is_to_remark_about_an_answer_is_said_once_and_stays_in_the_panel(
    window: Window, engines: FakeEngines, qtbot: QtBot
) -> None:
    remarks = [messages.PromptsDropped()]
    message, hint = words_of(remarks[0])
    engines.last.say(structs.replace(answer(ask(window, engines, qtbot), "One."), remarks=remarks))
    qtbot.waitUntil(lambda: window.transcript.notice is not None)
    assert {message, hint} <= set(texts(window.transcript.notice))
    assert f"{message} {hint}" in window._panes.panel.speed_page.text.text()
    window.transcript.notice.button.click()
    assert window.transcript.notice is None
    engines.last.say(structs.replace(answer(ask(window, engines, qtbot, "and?"), "Two."), remarks=remarks))
    reach(window, qtbot, State.READY)
    assert window.transcript.notice is None
    assert f"{message} {hint}" in window._panes.panel.speed_page.text.text()


@pytest.mark.parametrize("others", [[], [SMALLER]])
def test_what_was_given_up_because_memory_ran_out_while_loading_is_said(
    others: list[messages.SmallerPlan], make_window: Callable[..., Window], qtbot: QtBot
) -> None:
    remarks = [*others, messages.PromptsDropped()]

    def load(connection: FakeConnection, request: messages.Request) -> None:
        if isinstance(request, messages.Load):
            own = messages.OwnDraft(speedup=2.0, nbytes=0)
            connection.say(structs.replace(loaded(request.id), remarks=remarks, own_draft=own))

    window = make_window(FakeEngines(load))
    reach(window, qtbot, State.READY)
    notice = window.transcript.notice
    message, hint = words_of(messages.PromptsDropped())
    if others:
        notice.details.click()
        assert f"{about_plan(SMALLER)} {message}" in texts(notice)
    else:
        assert {message, hint} <= set(texts(notice)), "a draft of its own would take more memory"
        notice.button.click()
        assert window.transcript.notice is None
    for said in (message, hint, *map(about_plan, others)):
        assert said in window.header._details.toolTip()
    window.engine.load()
    qtbot.waitUntil(lambda: window.transcript.notice not in (None, notice))


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
