"""A chat with a real store and a scripted engine."""

from collections.abc import Iterator

import pytest
from pytestqt.qtbot import QtBot

from app.connection.answer_queue import AnswerQueue
from app.connection.conversation import Conversation
from app.connection.engine import Engine, State
from app.connection.engine_link import EngineLink
from app.preferences import PreferencesFile
from app.store import Store, StoreError
from app.tools.toolbox import Toolbox
from engine.protocol import messages
from tests.app.connection.person import SETTINGS, Person
from tests.app.fake_engine import FakeEngines


@pytest.fixture
def engine(engines: FakeEngines, qtbot: QtBot) -> Iterator[Engine]:
    link = EngineLink(engines)
    engine = Engine(link, messages.Load(id=0))
    engine.start()
    qtbot.waitUntil(lambda: engine.state is State.READY)
    yield engine
    if engine.is_running:
        with qtbot.waitSignal(engine.ended):
            engine.close()


@pytest.fixture
def chat(store: Store, engine: Engine, preferences: PreferencesFile) -> Conversation:
    return Conversation(
        store, engine, AnswerQueue(store, engine, Toolbox(store, preferences), engine), SETTINGS
    )


@pytest.fixture
def errors(chat: Conversation) -> list[StoreError]:
    found: list[StoreError] = []
    chat.store_failed.connect(found.append)
    return found


@pytest.fixture
def person(chat: Conversation, engines: FakeEngines, qtbot: QtBot) -> Person:
    return Person(chat, engines, qtbot)
