"""A user of one chat, and the engine that answers as a test says."""

from msgspec import structs
from pytestqt.qtbot import QtBot

from app.connection.conversation import Conversation
from app.store import ChatSettings, SavedOptions
from engine.protocol import messages
from tests.app.fake_engine import FakeEngines, answer

SETTINGS = ChatSettings(system="Be brief.", options=SavedOptions(temperature=0.6))


class Person:
    """A user who asks questions, and the events with which the engine answers."""

    def __init__(self, chat: Conversation, engines: FakeEngines, qtbot: QtBot) -> None:
        self.chat, self.engines, self.qtbot = chat, engines, qtbot

    def say(self, *events: messages.Event) -> None:
        self.engines.last.say(*events)

    def finish(self, text: str, stop_reason: messages.StopReason = "end_of_sequence") -> None:
        with self.qtbot.waitSignal(self.chat.reported, check_params_cb=is_answer):
            self.say(structs.replace(answer(self.request, text, stop_reason)))

    def ask(self, text: str, answered: str) -> None:
        assert self.chat.send(text)
        self.finish(answered)

    @property
    def request(self) -> int:
        return self.asked[-1].id

    @property
    def asked(self) -> list[messages.Chat]:
        return self.engines.last.asked(messages.Chat)

    @property
    def sent(self) -> list[tuple[str, str]]:
        """The messages of the last request, as (role, text)."""
        return [(each.role, each.content) for each in self.asked[-1].messages]

    @property
    def shown(self) -> list[str]:
        return [each.message.text for each in self.chat.shown]


def is_answer(event: object) -> bool:
    return isinstance(event, messages.Answer)
