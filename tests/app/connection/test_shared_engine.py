"""The window on an engine that another program uses too."""

from collections.abc import Callable

import pytest
from msgspec import structs
from pytestqt.qtbot import QtBot

from app.connection.engine import Engine, State
from app.connection.engine_link import EngineLink
from app.connection.idle_timer import IdleTimer
from app.window.window import Window
from engine.protocol import messages
from tests.app.fake_engine import FakeConnection, FakeEngines, answer, load_at_once, loaded

OTHER = structs.replace(loaded(0), target=structs.replace(loaded(0).target, name="Other-7B", path="/other"))
BY_OTHER = messages.NowLoaded(loaded=OTHER, by=messages.Load(id=9, target="other", asker="an editor"))
NOTHING = messages.NowLoaded(loaded=None, by=None)


class SharedConnection(FakeConnection):
    """An engine in which another program has loaded models."""

    def say(self, *events: messages.Event) -> None:
        super().say(
            *(
                structs.replace(event, client=2, now=BY_OTHER) if isinstance(event, messages.Ready) else event
                for event in events
            )
        )


class SharedEngines(FakeEngines):
    def __call__(self) -> FakeConnection:
        self.made.append(SharedConnection(self.script))
        return self.made[-1]


def task(client: int, asker: str) -> messages.Task:
    return messages.Task(client=client, request=1, kind="chat", asker=asker)


@pytest.fixture
def shared(make_window: Callable[..., Window], qtbot: QtBot) -> tuple[Window, FakeConnection]:
    engines = SharedEngines()
    window = make_window(engines)
    qtbot.waitUntil(lambda: window.engine.state is State.READY)
    return window, engines.last


def test_what_another_program_has_loaded_is_taken_as_it_is(shared: tuple[Window, FakeConnection]) -> None:
    window, connection = shared
    assert connection.asked(messages.Load) == []
    assert window.engine.pair == OTHER
    assert window.engine.wanted.target == "other"
    assert "Other-7B" in window.header.model.text()


def test_a_model_named_at_the_start_is_loaded_all_the_same(qtbot: QtBot) -> None:
    engines = SharedEngines()
    link = EngineLink(engines)
    engine = Engine(link, messages.Load(id=0, target="mine"), insists=True)
    engine.start()
    qtbot.waitUntil(lambda: engine.state is State.READY)
    assert [load.target for load in engines.last.asked(messages.Load)] == ["mine"]
    with qtbot.waitSignal(link.ended):
        link.close()


def test_the_window_follows_what_another_program_loads_and_unloads(
    make_window: Callable[..., Window], qtbot: QtBot
) -> None:
    engines = FakeEngines()
    window = make_window(engines)
    qtbot.waitUntil(lambda: window.engine.state is State.READY)
    with qtbot.waitSignal(window.engine.loaded):
        engines.last.say(BY_OTHER)
    assert "Other-7B" in window.header.model.text()
    engines.last.say(NOTHING)
    qtbot.waitUntil(lambda: window.engine.state is State.UNLOADED)
    assert window.engine.pair is None


def test_a_question_names_the_model_that_shall_answer(shared: tuple[Window, FakeConnection]) -> None:
    window, connection = shared
    window.chat.send("hello")
    (asked,) = connection.asked(messages.Chat)
    assert (asked.target, asked.asker) == ("/other", "SpecExec Desktop")


def test_an_answer_refused_because_nothing_is_loaded_any_more_says_so(
    shared: tuple[Window, FakeConnection], qtbot: QtBot
) -> None:
    window, connection = shared
    window.chat.send("hello")
    (asked,) = connection.asked(messages.Chat)
    gone = messages.Failed(
        request=asked.id, kind="not_loaded", message="No model is loaded.", hint="Load one."
    )
    connection.say(NOTHING, gone)
    qtbot.waitUntil(lambda: window.engine.state is State.UNLOADED)
    assert "No model is loaded." in window.transcript.notice.accessibleName()


def test_the_header_says_for_whom_the_engine_works(
    shared: tuple[Window, FakeConnection], qtbot: QtBot
) -> None:
    window, connection = shared
    status = window.header.status.state
    connection.say(messages.Tasks(tasks=[task(1, "an editor")]))
    qtbot.waitUntil(lambda: status.text() == "Answering an editor")
    window.chat.send("hello")
    connection.say(messages.Tasks(tasks=[task(1, "another editor"), task(2, "SpecExec Desktop")]))
    qtbot.waitUntil(lambda: status.text() == "Waiting for another editor")
    connection.say(messages.Tasks(tasks=[task(2, "SpecExec Desktop")]))
    qtbot.waitUntil(lambda: "Waiting" not in status.text())
    connection.say(answer(connection.asked(messages.Chat)[0].id), messages.Tasks(tasks=[task(1, "")]))
    qtbot.waitUntil(lambda: status.text() == "Answering another program")
    connection.say(messages.Tasks(tasks=[]))
    qtbot.waitUntil(lambda: "Ready" in status.text())


def test_a_failed_load_shows_what_another_program_has_loaded(qtbot: QtBot) -> None:
    def script(connection: FakeConnection, request: messages.Request) -> None:
        if isinstance(request, messages.Load) and request.target == "broken":
            failed = messages.Failed(
                request=request.id, kind="bad_checkpoint", message="Broken.", hint="Verify it.", loaded=True
            )
            connection.say(BY_OTHER, failed)
        else:
            load_at_once(connection, request)

    link = EngineLink(FakeEngines(script))
    engine = Engine(link, messages.Load(id=0))
    engine.start()
    qtbot.waitUntil(lambda: engine.state is State.READY)
    with qtbot.waitSignal(engine.load_failed):
        engine.load(messages.Load(id=0, target="broken"))
    assert engine.pair == OTHER
    with qtbot.waitSignal(link.ended):
        link.close()


def test_models_are_not_idle_while_another_program_uses_them(qtbot: QtBot) -> None:
    engines = FakeEngines()
    link = EngineLink(engines)
    engine = Engine(link, messages.Load(id=0))
    engine.start()
    qtbot.waitUntil(lambda: engine.state is State.READY)
    idle = IdleTimer(engine)
    idle.wait(5)
    assert idle.is_waiting
    with qtbot.waitSignal(engine.busy_for_changed):
        engines.last.say(messages.Tasks(tasks=[task(7, "an editor")]))
    assert not idle.is_waiting
    with qtbot.waitSignal(engine.busy_for_changed):
        engines.last.say(messages.Tasks(tasks=[]))
    assert idle.is_waiting
    with qtbot.waitSignal(link.ended):
        link.close()
