"""The tree, the figures and the colours of a chat's last answer are there again when the chat is."""

from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from app.connection.engine import State
from app.panel.history import KeptRun
from app.panel.last_runs import MOST, LastRuns
from app.panel.origins import Origins
from app.window.window import Window
from tests.app.fake_engine import FakeEngines, answer, verdict
from tests.app.window.test_window import ask, delta, reach


def run_of(iteration: int) -> KeptRun:
    return KeptRun((verdict(1, iteration),), Origins(), None)


def test_the_newest_chats_are_kept() -> None:
    runs = LastRuns()
    for chat in range(1, MOST + 3):
        runs.enter(chat)
        runs.begin(chat, 10 * chat)
        runs.leave(run_of(chat))
    assert runs.enter(1) == (None, None)
    assert runs.enter(2) == (None, None)
    assert [runs.enter(chat)[0] for chat in range(3, MOST + 3)] == [10 * chat for chat in range(3, MOST + 3)]


def test_a_new_answer_replaces_the_run() -> None:
    runs = LastRuns()
    runs.begin(1, 10)
    runs.leave(run_of(1))
    assert runs.enter(1)[0] == 10
    runs.begin(1, 12)
    runs.enter(2)
    assert runs.enter(1) == (None, None)


def test_another_chat_and_back(window: Window, engines: FakeEngines, qtbot: QtBot) -> None:
    request = ask(window, engines, qtbot)
    engines.last.say(delta(request, "Hello."), verdict(request, 1), verdict(request, 2), answer(request))
    reach(window, qtbot, State.READY)
    first = window.chat.id
    shown = window.panel.newest_in_words
    assert len(window.panel.history.iterations) == 2
    window.chat.open(None)
    assert not window.panel.history.iterations
    assert first is not None
    window._open_chat(first)
    assert len(window.panel.history.iterations) == 2
    assert window.panel.newest_in_words == shown
    assert window.panel.kept_run().answer is not None
    window._open_chat(first)
    assert len(window.panel.history.iterations) == 2, "clicking it again changes nothing"


def test_an_answer_in_progress_goes_on(window: Window, engines: FakeEngines, qtbot: QtBot) -> None:
    request = ask(window, engines, qtbot)
    engines.last.say(delta(request, "Hello"), verdict(request, 1))
    qtbot.waitUntil(lambda: len(window.panel.history.iterations) == 1)
    first = window.chat.id
    qtbot.keyClick(window, Qt.Key.Key_N, Qt.KeyboardModifier.ControlModifier)
    window.chat.open(first)
    engines.last.say(verdict(request, 2), answer(request))
    reach(window, qtbot, State.READY)
    assert [done.iteration for done in window.panel.history.iterations] == [1, 2]
