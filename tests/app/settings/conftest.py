"""A local server that is never started by itself, for the settings dialog."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from app.connection.engine import Engine
from app.connection.engine_link import EngineLink
from app.local_server.local_server import LocalServer
from app.preferences import PreferencesFile
from engine.protocol.messages import Load
from tests.app.fake_engine import FakeEngines


@pytest.fixture
def server(tmp_path: Path) -> Iterator[LocalServer]:
    engine = Engine(EngineLink(FakeEngines()), Load(id=0))
    made = LocalServer(engine, PreferencesFile(tmp_path / "config" / "settings.toml"), engine)
    yield made
    engine.deleteLater()
