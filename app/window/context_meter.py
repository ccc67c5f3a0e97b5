"""Measures how full the context is, for the bar below the composer."""

from collections.abc import Sequence

from msgspec import structs
from PySide6.QtCore import QObject

from app.connection.conversation import Conversation
from app.connection.engine import Engine
from app.store import ShownMessage
from app.window.panes import Panes

NBYTES_PER_TOKEN = 4  # of UTF-8, in English and about right elsewhere; only a count by the engine is exact


class ContextMeter(QObject):
    """Connects the composer, the chat and the engine with the bar, and does what its buttons ask."""

    def __init__(self, panes: Panes, chat: Conversation, engine: Engine) -> None:
        super().__init__(panes)
        self._bar, self._composer = panes.context, panes.composer
        self._chat, self._engine = chat, engine
        changed = (panes.composer.changed, chat.opened, chat.path_changed, engine.state_changed)
        for signal in changed:
            signal.connect(self._show)
        self._bar.new_chat_asked.connect(self._move_to_new_chat)
        self._bar.larger_asked.connect(self._load_with_context)

    def _show(self) -> None:
        pair = self._engine.pair
        if pair is None:
            self._bar.hide()
            return
        parts = pair.memory.parts if pair.memory else []
        cache = sum(part.nbytes for part in parts if part.what in ("target_cache", "draft_cache"))
        self._bar.show_use(used(self._chat.shown), tokens_of(self._composer.text()), pair.context, int(cache))

    def _move_to_new_chat(self) -> None:
        message = self._composer.unsent()
        self._composer.accept()
        self._chat.open(None)
        self._composer.show_unsent(message)
        self._composer.setFocus()

    def _load_with_context(self, context: int) -> None:
        self._chat.set_settings(structs.replace(self._chat.settings, context=context))
        self._engine.load(structs.replace(self._engine.wanted, context=context))


def used(shown: Sequence[ShownMessage]) -> int:
    """Return how many tokens the messages take: as the engine counted them at the last answer, and about how
    many those after it take."""
    total = 0
    for one in reversed(shown):
        if one.message.reports:
            report = one.message.reports[-1]
            return total + report.prompt_tokens + report.tokens
        total += tokens_of(one.message.text)
    return total


def tokens_of(text: str) -> int:
    """Return about how many tokens a text has."""
    return -(-len(text.encode("utf-8", "replace")) // NBYTES_PER_TOKEN)
