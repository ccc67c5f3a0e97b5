"""A window on a server elsewhere, which the tests script: answers that break off, probabilities of tokens."""

from collections.abc import Callable, Iterator

import pytest
from msgspec import structs
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QPushButton
from pytestqt.qtbot import QtBot

from app.connection.engine import State
from app.panel.tint import origin_text
from app.preferences import PreferencesFile, RecentPair
from app.store.records import StoredMessage
from app.widgets.plain_text import PlainLabel
from app.window.window import Window
from engine.protocol import messages
from engine.remote import engines as added_engines
from engine.remote.any_engine import AnyEngine
from engine.remote.engines import AddedEngine
from tests.app.fake_engine import FakeConnection
from tests.engine.remote.scripted_server import MODEL, ScriptedServer, delta, ending, event

HALF = [delta(content="Half an "), delta(content="answer")]


@pytest.fixture
def server() -> Iterator[ScriptedServer]:
    scripted = ScriptedServer()
    yield scripted
    scripted.close()


@pytest.fixture
def there(
    server: ScriptedServer,
    make_window: Callable[..., Window],
    preferences: PreferencesFile,
    monkeypatch: pytest.MonkeyPatch,
    qtbot: QtBot,
) -> Window:
    """A window with a model of the server."""
    monkeypatch.setattr("engine.secret.KeptSecret.get", lambda self: None)
    added_engines.add(AddedEngine("Lab", server.address))
    preferences.remember_pair(RecentPair(MODEL, engine="Lab"))
    window = make_window(lambda: AnyEngine(None, FakeConnection))
    qtbot.waitUntil(lambda: window.engine.state is State.READY, timeout=20_000)
    return window


def ask(window: Window, text: str, qtbot: QtBot) -> None:
    window.composer.write(text)
    qtbot.keyClick(window.composer.editor, Qt.Key.Key_Return)


def notice_words(window: Window) -> str:
    notice = window.transcript.notice
    return " ".join(part.text() for part in notice.findChildren(PlainLabel)) if notice else ""


def press(window: Window, text: str) -> None:
    assert window.transcript.notice is not None
    buttons = window.transcript.notice.findChildren(QPushButton)
    next(button for button in buttons if button.text() == text).click()


def last(window: Window) -> StoredMessage:
    return window.core.store.messages.shown(window.chat.id)[-1].message


@pytest.mark.parametrize(
    ("ends", "reason"),
    [
        ([], "broke off in the middle of the answer"),
        ([event({"error": {"message": "out of memory"}})], "out of memory"),
        ([b"data: {broken\n\n"], "no part of an answer"),
    ],
)
def test_the_text_is_kept_and_the_reason_is_shown(
    there: Window, server: ScriptedServer, qtbot: QtBot, ends: list[bytes], reason: str
) -> None:
    server.script.pieces = HALF + ends
    ask(there, "Hello?", qtbot)
    qtbot.waitUntil(lambda: there.transcript.notice is not None)
    assert reason in notice_words(there)
    assert (last(there).text, last(there).state) == ("Half an answer", "interrupted")
    view = there.transcript.answer_of(last(there).id)
    assert view is not None
    assert view.text == "Half an answer"
    assert there.engine.state is State.READY, "the next question may be asked"


def test_trying_again_works_once_the_engine_is_back(
    there: Window, server: ScriptedServer, qtbot: QtBot
) -> None:
    server.script.pieces = HALF
    ask(there, "Hello?", qtbot)
    qtbot.waitUntil(lambda: "broke off" in notice_words(there))
    server.close()
    press(there, "Try again")
    qtbot.waitUntil(lambda: "Nothing listens" in notice_words(there), timeout=20_000)

    back = ScriptedServer(port=server.port)
    try:
        back.script.pieces = [delta(content="A whole answer."), *ending()]
        answers: list[messages.Answer] = []
        there.chat.answered.connect(answers.append)
        press(there, "Try again")
        qtbot.waitUntil(lambda: bool(answers), timeout=20_000)
        assert (last(there).text, last(there).state) == ("A whole answer.", "complete")
        assert there.transcript.notice is None
        assert [each["content"] for each in back.asked["messages"]] == ["Hello?"]
        stored = there.core.store.messages.all(there.chat.id)
        assert "Half an answer" in [each.text for each in stored], "as another version"
    finally:
        back.close()


def test_the_answer_continues_where_it_broke_off(there: Window, server: ScriptedServer, qtbot: QtBot) -> None:
    server.script.pieces = HALF
    ask(there, "Hello?", qtbot)
    qtbot.waitUntil(lambda: "broke off" in notice_words(there))
    server.script.pieces = [delta(content=" that goes on."), *ending()]
    press(there, "Continue")
    qtbot.waitUntil(lambda: last(there).state == "complete")
    assert last(there).text == "Half an answer that goes on."
    assert server.asked["continue_final_message"] is True
    assert server.asked["messages"][-1] == {"role": "assistant", "content": "Half an answer"}


# -- probabilities -------------------------------------------------------------------------------------------


def token(text: str, probable: float, other: str = "") -> bytes:
    """Return a piece of an answer with its token, as vLLM and llama-server list it."""
    top = [{"token": text, "logprob": probable}, {"token": other, "logprob": -3.0}]
    entry = {"token": text, "logprob": probable, "top_logprobs": top}
    return event({"choices": [{"delta": {"content": text}, "logprobs": {"content": [entry]}}]})


@pytest.mark.parametrize("tells", [True, False])
def test_tool_tips_show_the_probabilities_that_an_engine_tells(
    there: Window, server: ScriptedServer, qtbot: QtBot, tells: bool
) -> None:
    settings = there.chat.settings
    options = structs.replace(settings.options, log_probs=2)
    there.chat.set_settings(structs.replace(settings, options=options))
    pieces = [token("Hello", -0.1, "Hi"), token(" you", -0.7, " all")]
    server.script.pieces = [*(pieces if tells else [delta(content="Hello you")]), *ending()]
    answers: list[messages.Answer] = []
    there.chat.answered.connect(answers.append)
    ask(there, "Hello?", qtbot)
    qtbot.waitUntil(lambda: bool(answers))
    assert server.asked["top_logprobs"] == 2
    found = there.panel.origins.at(6)
    if not tells:
        assert found is None
        return
    assert found is not None
    assert (found.start, found.end) == (5, 9)
    words = origin_text(found)
    assert words.splitlines()[0] == "49.7 %"
    assert "all" in words
    assert "iteration" not in words
    assert "target" not in words, "who proposed it is not told"
    there.panel.show_origin(6)  # a click: there is no tree to show
