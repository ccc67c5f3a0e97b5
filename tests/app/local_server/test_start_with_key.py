"""The local server starts with its key: the keyring may take its time, and the window goes on meanwhile."""

import sys
import threading
from pathlib import Path

import keyring
import pytest
from PySide6.QtCore import QTimer
from pytestqt.qtbot import QtBot

from app.local_server import local_server
from app.local_server.local_server import LocalServer, ServerState
from app.local_server.server_key import ACCOUNT, KeyringStaysLocked, kept_key, key_path
from app.preferences import PreferencesFile, ServerPreferences
from engine.secret import SERVICE
from tests.app.local_server.conftest import LockedKeyring, SlowKeyring
from tests.app.local_server.test_local_server import Make, make, own_data, reach
from tests.engine.hub.conftest import MemoryKeyring

__all__ = ["make", "own_data"]

KEY = "sk-in-the-keyring"


@pytest.fixture(autouse=True)
def needs_key(preferences: PreferencesFile, own_data: None) -> None:
    preferences.change(server=ServerPreferences(needs_key=True))


def start_slowly(server: LocalServer, slow: SlowKeyring, qtbot: QtBot) -> None:
    """Start the server, and return when it waits for the keyring."""
    slow.kept[SERVICE, ACCOUNT] = KEY
    server.start()
    qtbot.waitUntil(slow.is_asked.is_set, timeout=20_000)


def launches(server: LocalServer, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return the keys with which processes are started from now on."""
    started: list[str] = []
    launch = server._launch

    def count() -> None:
        launch()
        started.append(server.key)

    monkeypatch.setattr(server, "_launch", count)
    return started


def test_the_window_goes_on_while_the_keyring_waits_for_its_user(
    make: Make, slow_keyring: SlowKeyring, qtbot: QtBot
) -> None:
    server = make()
    start_slowly(server, slow_keyring, qtbot)
    assert threading.main_thread() not in slow_keyring.askers
    ticks: list[bool] = []
    QTimer.singleShot(0, lambda: ticks.append(True))
    qtbot.waitUntil(lambda: bool(ticks), timeout=20_000)
    assert server.state is ServerState.STARTING
    assert server.asks_keyring
    assert server._process is None
    server._engine.state_changed.emit(server._engine.state)  # another model was loaded meanwhile
    slow_keyring.is_unlocked.set()
    reach(qtbot, server, ServerState.RUNNING)
    assert (server.key, server.is_key_in_file, server.asks_keyring) == (KEY, False, False)
    assert len(slow_keyring.askers) == 1


def test_a_stop_while_the_keyring_is_asked_starts_nothing(
    make: Make, slow_keyring: SlowKeyring, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = make()
    started = launches(server, monkeypatch)
    start_slowly(server, slow_keyring, qtbot)
    server.stop()
    assert (server.state, server.asks_keyring) == (ServerState.OFF, False)
    slow_keyring.is_unlocked.set()
    slow_keyring.askers[0].join(20)
    qtbot.wait(0)  # the late key, if anybody still takes it
    assert (server.state, started) == (ServerState.OFF, [])


def test_the_program_can_end_while_the_keyring_is_asked(
    make: Make, slow_keyring: SlowKeyring, qtbot: QtBot
) -> None:
    server = make()
    start_slowly(server, slow_keyring, qtbot)
    server.close()
    assert (server.state, server._process) == (ServerState.OFF, None)
    assert slow_keyring.askers[0].daemon  # so that it cannot delay the end


def test_starting_again_while_the_keyring_is_asked_starts_one_server(
    make: Make, slow_keyring: SlowKeyring, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = make()
    started = launches(server, monkeypatch)
    start_slowly(server, slow_keyring, qtbot)
    server.start()
    server.stop()
    server.start()
    server.restart()
    slow_keyring.is_unlocked.set()
    reach(qtbot, server, ServerState.RUNNING)
    for asker in slow_keyring.askers:
        asker.join(20)
    qtbot.wait(0)
    assert (started, server.state) == ([KEY], ServerState.RUNNING)


def test_the_key_reaches_the_process_by_its_environment_only(
    make: Make, own_keyring: MemoryKeyring, qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own_keyring.kept[SERVICE, ACCOUNT] = KEY
    server = make()
    told = tmp_path / "told"
    command = [sys.executable, "-m", "tests.app.fake_server", "tells", str(told)]
    monkeypatch.setattr(local_server, "server_command", lambda *_: command)
    server.start()
    reach(qtbot, server, ServerState.RUNNING)
    assert told.read_text() == KEY
    assert server._process is not None
    assert KEY not in " ".join([server._process.program(), *server._process.arguments()])
    log = LocalServer.log().read_text()
    assert "arguments:" in log
    assert KEY not in log


def test_a_server_without_a_key_does_not_ask_the_keyring(
    make: Make, slow_keyring: SlowKeyring, preferences: PreferencesFile, qtbot: QtBot, tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    preferences.change(server=ServerPreferences())
    server = make()
    told = tmp_path / "told"
    command = [sys.executable, "-m", "tests.app.fake_server", "tells", str(told)]
    monkeypatch.setattr(local_server, "server_command", lambda *_: command)
    server.start()
    reach(qtbot, server, ServerState.RUNNING)
    assert slow_keyring.askers == []
    assert told.read_text() == ""


def test_a_keyring_that_stays_locked_is_said_and_a_new_key_is_the_way_out(
    make: Make, own_keyring: MemoryKeyring, qtbot: QtBot
) -> None:
    keyring.set_keyring(LockedKeyring())
    server = make()
    server.start()
    reach(qtbot, server, ServerState.FAILED)
    assert isinstance(server.error, KeyringStaysLocked)
    server.renew_key()
    reach(qtbot, server, ServerState.RUNNING)
    assert server.is_key_in_file
    assert server.key == key_path().read_text()


def test_a_new_key_is_made_meanwhile_and_the_server_starts_again_with_it(
    make: Make, slow_keyring: SlowKeyring, qtbot: QtBot
) -> None:
    slow_keyring.is_unlocked.set()
    server = make()
    server.start()
    reach(qtbot, server, ServerState.RUNNING)
    before = server.key
    slow_keyring.is_unlocked.clear()
    server.renew_key()
    assert server.renews_key
    assert (server.state, server.key) == (ServerState.RUNNING, before)
    slow_keyring.is_unlocked.set()
    qtbot.waitUntil(lambda: server.state is ServerState.RUNNING and server.key != before, timeout=20_000)
    assert server.key == kept_key().text
    assert not server.renews_key


def test_a_key_that_cannot_be_made_leaves_the_server_as_it_is(
    make: Make, own_keyring: MemoryKeyring, qtbot: QtBot
) -> None:
    server = make()
    server.start()
    reach(qtbot, server, ServerState.RUNNING)
    before = server.key
    keyring.set_keyring(LockedKeyring())
    key_path().parent.write_text("not a folder")
    with qtbot.waitSignal(server.not_renewed, timeout=20_000) as said:
        server.renew_key()
    assert said.args is not None
    assert said.args[0].kind == "disk"
    assert said.args[0].hint
    assert (server.state, server.key) == (ServerState.RUNNING, before)
