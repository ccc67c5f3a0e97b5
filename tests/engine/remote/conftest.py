import itertools
import threading
from collections.abc import Iterator
from pathlib import Path

import keyring
import pytest

from engine import protocol
from engine.remote import engines
from engine.remote.any_engine import AnyEngine
from engine.remote.connection import RemoteConnection
from engine.remote.engines import AddedEngine
from tests.engine.hub.conftest import MemoryKeyring
from tests.engine.remote.scripted_server import MODEL, ScriptedServer


@pytest.fixture(autouse=True)
def own_keyring(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[MemoryKeyring]:
    """Use neither the tester's keys nor the tester's list of engines."""
    monkeypatch.setattr(engines, "engines_path", lambda: tmp_path / "config" / "engines.toml")
    monkeypatch.setattr(engines, "_secrets", {})
    before, mine = keyring.get_keyring(), MemoryKeyring()
    keyring.set_keyring(mine)
    yield mine
    keyring.set_keyring(before)


@pytest.fixture
def server() -> Iterator[ScriptedServer]:
    scripted = ScriptedServer()
    yield scripted
    scripted.close()


@pytest.fixture
def added(server: ScriptedServer) -> AddedEngine:
    engines.add(AddedEngine("fake", server.address), "secret")
    return engines.find("fake")


class Talk:
    """Posts requests, and collects the events up to the last one of each."""

    def __init__(self, channel: RemoteConnection | AnyEngine) -> None:
        self.channel = channel
        self.ids = itertools.count(1)
        self.events = channel.events()

    def request(self, request: protocol.Request) -> list[protocol.Event]:
        self.channel.post(request)
        found: list[protocol.Event] = []
        ends = (protocol.Answer, protocol.Loaded, protocol.Counted, protocol.Failed, protocol.Unloaded)
        for event in self.events:
            found.append(event)
            if isinstance(event, ends) and event.request == request.id:
                return found
        raise AssertionError(f"the connection ended after {found}")

    def load(self, **fields: object) -> protocol.Event:
        return self.request(protocol.Load(id=next(self.ids), **{"target": MODEL, **fields}))[-1]  # type: ignore[arg-type]

    def chat(self, *messages: protocol.Message, **options: object) -> list[protocol.Event]:
        asked = list(messages) or [protocol.Message("user", "Hello?")]
        chat = protocol.Chat(id=next(self.ids), messages=asked, options=protocol.Options(**options))  # type: ignore[arg-type]
        return self.request(chat)

    def close(self) -> None:
        self.channel.close()
        assert not any(isinstance(event, protocol.EngineLost) for event in self.events)
        assert not [thread for thread in threading.enumerate() if thread.name.startswith("engine ")]


@pytest.fixture
def talk(added: AddedEngine) -> Iterator[Talk]:
    talking = Talk(RemoteConnection(added))
    assert isinstance(next(talking.events), protocol.Ready)
    yield talking
    talking.close()
