import threading

import pytest
from pytestqt.qtbot import QtBot

from app.connection import engine_link
from app.connection.engine_link import EngineLink
from engine.protocol import messages
from engine.protocol.messages import EngineLost, TextDelta
from tests.app.fake_engine import FakeConnection, FakeEngines, grown


def test_events_arrive_on_the_gui_thread_with_all_text(qtbot: QtBot, engines: FakeEngines) -> None:
    link = EngineLink(engines)
    events: list[object] = []
    threads = set()
    link.received.connect(lambda event: (events.append(event), threads.add(threading.get_ident())))
    with qtbot.waitSignal(link.received):
        link.start()
    for i in range(1000):
        engines.last.say(TextDelta(request=1, text=f"{i} ", tokens=i), grown(1, i))

    def whole() -> bool:
        text = "".join(event.text for event in events if isinstance(event, TextDelta))
        return text == "".join(f"{i} " for i in range(1000))

    qtbot.waitUntil(whole)
    assert threads == {threading.get_ident()}
    with qtbot.waitSignal(link.ended):
        link.close()
    assert not link.is_running


def test_an_engine_that_does_not_start_is_lost_with_a_hint(qtbot: QtBot) -> None:
    link = EngineLink(FakeEngines(fails=2))
    events: list[object] = []
    link.received.connect(events.append)
    with qtbot.waitSignal(link.ended):
        link.start()
    (event,) = events
    assert isinstance(event, EngineLost)
    assert event.hint == "Read the log."


def test_closing_while_the_engine_starts_ends_it(qtbot: QtBot, engines: FakeEngines) -> None:
    engines.gate.clear()
    link = EngineLink(engines)
    link.start()
    link.close()
    with qtbot.waitSignal(link.ended):
        engines.gate.set()
    assert engines.last.closed.is_set()


def test_an_engine_started_while_the_old_one_ends_follows_it(qtbot: QtBot, engines: FakeEngines) -> None:
    link = EngineLink(engines)
    with qtbot.waitSignal(link.received):
        link.start()
    engines.last.die()
    link.start()
    qtbot.waitUntil(lambda: len(engines.made) == 2)
    with qtbot.waitSignal(link.ended):
        link.close()


def test_an_engine_that_sends_garbage_is_lost_without_a_traceback(qtbot: QtBot) -> None:
    class Nonsense(FakeConnection):
        def events(self):  # type: ignore[no-untyped-def]
            yield messages.decode_event(b"\xc1 nonsense")

    link = EngineLink(Nonsense)
    events: list[object] = []
    link.received.connect(events.append)
    with qtbot.waitSignal(link.ended):
        link.start()
    assert [type(event) for event in events] == [EngineLost]


def test_what_the_system_refuses_is_told_instead_of_garbage(qtbot: QtBot) -> None:
    class Refused(FakeConnection):
        def events(self):  # type: ignore[no-untyped-def]
            raise RuntimeError("can't start new thread")
            yield

    link = EngineLink(Refused)
    events: list[EngineLost] = []
    link.received.connect(events.append)
    with qtbot.waitSignal(link.ended):
        link.start()
    assert ["no more threads" in event.message for event in events] == [True]


def test_an_engine_without_a_thread_to_read_it_is_lost(
    qtbot: QtBot, engines: FakeEngines, monkeypatch: pytest.MonkeyPatch
) -> None:
    """QThread says that the system starts no thread in a warning only."""
    monkeypatch.setattr(engine_link._Reader, "start", lambda self: None)
    link = EngineLink(engines)
    events: list[EngineLost] = []
    link.received.connect(events.append)
    with qtbot.waitSignal(link.ended):
        link.start()
    assert ["no more threads" in event.message for event in events] == [True]
    assert not link.is_running


def test_requests_without_an_engine_are_dropped(engines: FakeEngines) -> None:
    link = EngineLink(engines)
    link.post(messages.Cancel(id=1))
    link.close()
    assert not engines.made


def test_a_start_that_fails_is_made_once_more(qtbot: QtBot) -> None:
    engines = FakeEngines(fails=1)
    link = EngineLink(engines)
    with qtbot.waitSignal(link.received) as received:
        link.start()
    assert isinstance(received.args[0], messages.Ready)
    with qtbot.waitSignal(link.ended):
        link.close()
    assert len(engines.made) == 1
