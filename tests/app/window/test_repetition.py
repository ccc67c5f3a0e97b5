"""An answer that repeats itself: the window says so, and it is continued or left as it is."""

from PySide6.QtWidgets import QPushButton
from pytestqt.qtbot import QtBot

from app.connection.engine import State
from app.window.window import Window
from engine.protocol import messages
from tests.app.fake_engine import FakeEngines, answer
from tests.app.window.test_window import ask, delta, last_answer, notice_text, reach


def test_an_answer_that_repeats_itself_is_stopped_and_can_be_continued(
    window: Window, engines: FakeEngines, qtbot: QtBot
) -> None:
    request = ask(window, engines, qtbot)
    engines.last.say(delta(request, "ha ha"), answer(request, "ha ha", "repetition"))
    reach(window, qtbot, State.READY)
    assert "It repeats itself" in notice_text(window)
    assert "repeats itself" in last_answer(window).ending.text()
    assert window.transcript.notice is not None
    window.transcript.notice.button.click()
    assert window.transcript.notice is None
    request = engines.last.asked(messages.Chat)[-1]
    assert request.messages[-1] == messages.Message("assistant", "ha ha")
    assert not request.options.stop_loops
    engines.last.say(delta(request.id, " ho."), answer(request.id, " ho."))
    reach(window, qtbot, State.READY)
    assert last_answer(window).text == "ha ha ho."
    assert window.transcript.notice is None


def test_a_repetition_can_be_left_as_it_is(window: Window, engines: FakeEngines, qtbot: QtBot) -> None:
    engines.last.say(answer(ask(window, engines, qtbot), "ha ha", "repetition"))
    reach(window, qtbot, State.READY)
    notice = window.transcript.notice
    assert notice is not None
    (stop,) = [button for button in notice.findChildren(QPushButton) if button is not notice.button]
    stop.click()
    assert window.transcript.notice is None
    assert len(engines.last.asked(messages.Chat)) == 1
    engines.last.say(answer(ask(window, engines, qtbot), "ha ha", "repetition"))
    reach(window, qtbot, State.READY)
    window.chat.open(None)
    assert window.transcript.notice is None, "the notice belongs to the chat"
