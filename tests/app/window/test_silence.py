"""A disk that does not answer: the window says so as long as the answer waits for it, and offers to stop."""

from collections.abc import Callable

from pytestqt.qtbot import QtBot

from app.connection.engine import State
from app.window.window import Window
from engine.protocol import messages
from tests.app.fake_engine import FakeConnection, FakeEngines, answer, grown, load_at_once, loaded
from tests.app.window.test_window import ask, delta, last_answer, notice_text, reach

SAID = "The disk with the model does not answer"


def silence(request: int, seconds: float) -> messages.DiskSilence:
    return messages.DiskSilence(request=request, seconds=seconds)


def test_a_silent_disk_is_told_of_until_it_answers(
    window: Window, engines: FakeEngines, qtbot: QtBot
) -> None:
    request = ask(window, engines, qtbot)
    engines.last.say(delta(request, "one "), silence(request, 10.2))
    qtbot.waitUntil(lambda: SAID in notice_text(window))
    assert window.transcript.notice.button.text() == window.composer.button.text() == "Stop"
    status = window.header.status.state
    assert status.text() == "The disk has not answered for 10 s"
    notice = window.transcript.notice
    engines.last.say(
        grown(request),
        messages.PassProgress(request=request, iteration=1, done=3, total=9),
        silence(request, 20.1),
    )
    qtbot.waitUntil(lambda: status.text() == "The disk has not answered for 20 s")
    assert window.transcript.notice is notice, "it is said once"
    engines.last.say(silence(request, 0.0))
    qtbot.waitUntil(lambda: window.transcript.notice is None)
    assert status.text() == "Answering…"
    engines.last.say(delta(request, "two"), answer(request, "one two"))
    reach(window, qtbot, State.READY)
    assert last_answer(window).text == "one two"


def begin_loading(connection: FakeConnection, request: messages.Request) -> None:
    """Answer Load with its progress only; the test goes on from there."""
    if isinstance(request, messages.Load):
        connection.say(messages.LoadProgress(request=request.id, stage="target", done=1, total=2))


def silent_while_loading(make_window: Callable[..., Window], qtbot: QtBot) -> tuple[Window, FakeEngines, int]:
    """Return a window that says that the disk is silent, its engines, and the number of the load."""
    engines = FakeEngines(begin_loading)
    window = make_window(engines)
    qtbot.waitUntil(lambda: bool(engines.made and engines.last.asked(messages.Load)))
    request = engines.last.asked(messages.Load)[0].id
    say_silent(window, engines, qtbot, request)
    return window, engines, request


def say_silent(window: Window, engines: FakeEngines, qtbot: QtBot, request: int) -> None:
    engines.last.say(silence(request, 10.2))
    qtbot.waitUntil(lambda: window.transcript.notice is not None)


def test_a_disk_that_is_silent_while_a_model_loads_is_told_of_until_it_answers(
    make_window: Callable[..., Window], qtbot: QtBot
) -> None:
    window, engines, request = silent_while_loading(make_window, qtbot)
    assert SAID in notice_text(window)
    assert "Loading goes on as soon as the disk does" in notice_text(window)
    assert window.transcript.notice.button.text() == window.composer.button.text() == "Cancel loading"
    status = window.header.status.state
    assert status.text() == "The disk has not answered for 10 s"
    engines.last.say(silence(request, 0.0))
    qtbot.waitUntil(lambda: window.transcript.notice is None)
    assert status.text() == "Loading the model…"
    say_silent(window, engines, qtbot, request)
    engines.last.say(silence(request, 0.0), loaded(request))
    reach(window, qtbot, State.READY)
    assert window.transcript.notice is None
    assert status.text() == "● Ready"


def test_loading_is_stopped_while_the_disk_is_silent(
    make_window: Callable[..., Window], qtbot: QtBot
) -> None:
    window, engines, request = silent_while_loading(make_window, qtbot)
    window.transcript.notice.button.click()
    assert engines.last.asked(messages.Cancel)
    engines.last.say(
        silence(request, 0.0),
        messages.Failed(request=request, kind="cancelled", message="Loading was cancelled.", hint=""),
    )
    reach(window, qtbot, State.LOAD_FAILED)
    assert "Loading was cancelled." in notice_text(window)
    engines.last.script = load_at_once
    window.transcript.notice.button.click()
    reach(window, qtbot, State.READY)
    assert window.transcript.notice is None


def test_stop_ends_the_wait_for_a_silent_disk(window: Window, engines: FakeEngines, qtbot: QtBot) -> None:
    request = ask(window, engines, qtbot)
    engines.last.say(delta(request, "one "), silence(request, 10.0))
    qtbot.waitUntil(lambda: window.transcript.notice is not None)
    window.transcript.notice.button.click()
    reach(window, qtbot, State.READY)
    assert engines.last.asked(messages.Cancel)
    assert window.transcript.notice is None


def test_what_the_disk_does_is_said_in_the_chat_that_waits_for_it(
    window: Window, engines: FakeEngines, qtbot: QtBot
) -> None:
    request = ask(window, engines, qtbot)
    chat = window.chat.id
    say_silent(window, engines, qtbot, request)
    window.chat.open(None)
    assert window.transcript.notice is None
    window.chat.open(chat)
    engines.last.say(silence(request, 20.0))
    qtbot.waitUntil(lambda: SAID in notice_text(window))
    window.chat.open(None)
    engines.last.say(silence(request, 0.0))
    qtbot.wait(50)
    window.chat.open(chat)
    assert window.transcript.notice is None


def test_a_disk_that_stays_silent_ends_the_answer_which_can_be_continued(
    window: Window, engines: FakeEngines, qtbot: QtBot
) -> None:
    request = ask(window, engines, qtbot)
    engines.last.say(delta(request, "one "), silence(request, 300.0), silence(request, 0.0))
    message, hint = "The disk with tiny.gguf has not answered for 300 s.", "See that it is connected."
    engines.last.say(
        messages.Failed(request=request, kind="disk_silent", message=message, hint=hint, loaded=True)
    )
    reach(window, qtbot, State.READY)
    assert message in notice_text(window)
    assert last_answer(window).text == "one "
