"""The local server's switch: its process starts, ends, fails, and ends with the window."""

import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import platformdirs
import pytest
from pytestqt.qtbot import QtBot

from app.connection.engine import Engine, State
from app.connection.engine_link import EngineLink
from app.local_server import local_server
from app.local_server.local_server import LocalServer, ServerState
from app.local_server.server_command import needs_key, server_command
from app.local_server.server_key import kept_key
from app.preferences import PreferencesFile, ServerPreferences
from engine.protocol import messages
from engine.protocol.messages import Load
from tests.app.fake_engine import FakeConnection, FakeEngines, loaded

Make = Callable[..., LocalServer]


@pytest.fixture(autouse=True)
def own_data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(platformdirs, "user_data_path", lambda *_, **__: tmp_path / "data")
    monkeypatch.setattr(local_server, "log_path", lambda: tmp_path / "logs" / "engine.log")
    monkeypatch.setenv("SPECEXEC_KEY", "sk-of-the-window")  # not the server's


@pytest.fixture
def make(preferences: PreferencesFile, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> Iterator[Make]:
    """Make servers whose process behaves as asked."""
    made: list[LocalServer] = []

    def server(behaviour: str = "serves", engines: FakeEngines | None = None) -> LocalServer:
        command = [sys.executable, "-m", "tests.app.fake_server", behaviour]
        monkeypatch.setattr(local_server, "server_command", lambda *_: command)
        engine = Engine(EngineLink(engines or FakeEngines()), Load(id=0))
        made.append(LocalServer(engine, preferences))
        engine.setParent(made[-1])
        engine.start()
        return made[-1]

    yield server
    for each in made:
        engine = each._engine
        each.close()
        with qtbot.waitSignal(engine.ended):
            engine.close()
        each.deleteLater()


def reach(qtbot: QtBot, server: LocalServer, state: ServerState) -> None:
    qtbot.waitUntil(lambda: server.state is state, timeout=20_000)


def test_the_server_starts_and_ends_with_the_switch(make: Make, qtbot: QtBot) -> None:
    server = make()
    server.start()
    reach(qtbot, server, ServerState.RUNNING)
    assert server.address == "http://127.0.0.1:8484/v1"
    assert server.key == ""
    server.stop()
    assert server.state is ServerState.ENDING
    reach(qtbot, server, ServerState.OFF)
    assert (server.address, server.error) == ("", None)


def test_the_server_waits_until_the_window_has_loaded_its_model(make: Make, qtbot: QtBot) -> None:
    def load_later(connection: FakeConnection, request: messages.Request) -> None:
        pass

    engines = FakeEngines(load_later)
    server = make(engines=engines)
    server.start()
    qtbot.waitUntil(lambda: server._engine.state is State.LOADING)
    assert server.state is ServerState.STARTING
    assert server._process is None
    request = engines.last.asked(Load)[-1]
    engines.last.say(loaded(request.id))
    reach(qtbot, server, ServerState.RUNNING)


def test_a_taken_port_is_said_with_the_next_step(make: Make, qtbot: QtBot) -> None:
    server = make("taken")
    server.start()
    reach(qtbot, server, ServerState.FAILED)
    assert server.error is not None
    assert "port 8484" in server.error.message
    assert "another port" in server.error.hint
    assert not server.is_on


def test_an_unexpected_end_is_said(make: Make, qtbot: QtBot) -> None:
    server = make("dies")
    server.start()
    reach(qtbot, server, ServerState.FAILED)
    assert server.error is not None
    assert "unexpectedly" in server.error.message


def test_a_program_that_does_not_exist_is_an_error(
    make: Make, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = make()
    monkeypatch.setattr(local_server, "server_command", lambda *_: ["/nowhere/python"])
    server.start()
    reach(qtbot, server, ServerState.FAILED)
    assert server.error is not None
    assert "cannot be started" in server.error.message


def test_a_restart_takes_the_new_preferences(make: Make, preferences: PreferencesFile, qtbot: QtBot) -> None:
    server = make()
    server.start()
    reach(qtbot, server, ServerState.RUNNING)
    preferences.change(server=ServerPreferences(needs_key=True))
    server.restart()
    assert server.is_on
    qtbot.waitUntil(lambda: server.state is ServerState.RUNNING and bool(server.key), timeout=20_000)
    assert server.key == kept_key().text
    assert server.running_with.needs_key


def test_a_server_that_does_not_end_is_killed_when_the_program_ends(
    make: Make, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(local_server, "CLOSE_MS", 200)
    server = make("deaf")
    server.start()
    reach(qtbot, server, ServerState.RUNNING)
    server.close()
    assert server._process is None
    assert server.state is ServerState.OFF


def test_the_command_names_the_models_and_no_key() -> None:
    load = Load(id=3, target="coder", draft="none", context=2048, ram_limit=1.5)
    preferences = ServerPreferences(port=9000, needs_key=True, origins=["http://localhost:3000"])
    command = server_command(preferences, load)
    assert not any("key" in option for option in command if option.startswith("--"))
    for option in ("--port=9000", "--target=coder", "--draft=none", "--context=2048", "--ram-limit=1.5"):
        assert option in command
    assert "--allow-origin=http://localhost:3000" in command
    assert "--end-with-input" in command


@pytest.mark.parametrize(
    ("address", "wanted", "needed"),
    [("127.0.0.1", False, False), ("127.0.0.1", True, True), ("192.168.1.5", False, True)],
)
def test_an_address_that_others_reach_always_needs_a_key(address: str, wanted: bool, needed: bool) -> None:
    assert needs_key(ServerPreferences(address=address, needs_key=wanted)) is needed
