"""The switch with a real window, engine and model: another program asks, and the window sees it."""

import os
import socket
from pathlib import Path

import httpx2
import psutil
import pytest
from pytestqt.qtbot import QtBot

from app.background import Work
from app.connection.engine import State
from app.local_server.local_server import LocalServer, ServerState
from app.local_server.server_figures import answered
from app.preferences import PreferencesFile, ServerPreferences
from app.store import Store
from app.window.arguments import Arguments
from app.window.core import Core
from app.window.window import Window
from engine.errors import EngineGone
from tests.engine.conftest import model_file

WAIT_MS = 120_000


def ask(address: str, key: str) -> str:
    body = {"model": "smollm2-135m-q4_1", "max_tokens": 8, "messages": [{"role": "user", "content": "Hello"}]}
    headers = {"Authorization": f"Bearer {key}"}
    with httpx2.Client(trust_env=False, timeout=120) as client:
        models = client.get(f"{address}/models", headers=headers).raise_for_status().json()
        body["model"] = models["data"][0]["id"]
        done = client.post(f"{address}/chat/completions", json=body, headers=headers).raise_for_status()
    return str(done.json()["choices"][0]["message"]["content"])


@pytest.mark.skipif(os.name == "nt", reason="the folder of the engine's address is Linux's")
def test_another_program_is_answered_by_the_windows_model(
    store: Store,
    preferences: PreferencesFile,
    tmp_path: Path,
    qtbot: QtBot,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    model_file("smollm2")
    (tmp_path / "run").mkdir(mode=0o700)
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path / "run"))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setattr("app.local_server.server_key.key_path", lambda: tmp_path / "key.txt")
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    preferences.change(server=ServerPreferences(port=port, needs_key=True))
    window = Window(Core(Arguments(), store, preferences))
    qtbot.addWidget(window)
    server = window.core.server
    server.start()  # before the model is loaded
    window.start()
    qtbot.waitUntil(lambda: server.state is ServerState.RUNNING, timeout=WAIT_MS)
    assert window.engine.state is State.READY
    assert server.address == f"http://127.0.0.1:{port}/v1"
    busy: list[str | None] = []
    window.engine.busy_for_changed.connect(lambda: busy.append(window.engine.busy_for))
    replies: list[object] = []
    work = Work(window)
    work.run("ask", lambda stop: ask(server.address, server.key), replies.append, replies.append)
    qtbot.waitUntil(lambda: bool(replies), timeout=WAIT_MS)
    assert isinstance(replies[0], str)
    assert replies[0].strip()
    qtbot.waitUntil(lambda: busy[-1:] == [None])
    assert len(busy) >= 2, "the window saw that its engine worked for another program"
    assert answered(server.address, server.key) == 1
    with pytest.raises(EngineGone):  # the key reached the server: nothing is said without it
        answered(server.address, "")
    assert server.key not in " ".join(map(str, _command_of(server)))
    assert server.key not in server.log().read_text()
    pid = _pid(server)
    with qtbot.waitSignal(window.closed, timeout=WAIT_MS):
        window.close()
    assert server.state is ServerState.OFF
    assert not psutil.pid_exists(pid)
    window.core.deleteLater()


def _pid(server: LocalServer) -> int:
    assert server._process is not None
    return int(server._process.processId())


def _command_of(server: LocalServer) -> list[str]:
    command = psutil.Process(_pid(server)).cmdline()
    assert "serve" in command
    return command
