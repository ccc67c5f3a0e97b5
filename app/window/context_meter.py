"""Measures how full the context is, for the bar below the composer."""

from msgspec import structs
from PySide6.QtCore import QObject

from app.connection.conversation import Conversation
from app.connection.engine import Engine, State
from app.connection.file_choice import with_ways
from app.connection.memory import turns, used
from app.store.quoted import is_quoted
from app.store.records import about_tokens
from app.window.panes import Panes
from app.window.unsent_messages import in_front
from engine.protocol.messages import Loaded


class ContextMeter(QObject):
    """Connects the composer, the chat and the engine with the bar, and does what its buttons ask."""

    def __init__(self, panes: Panes, chat: Conversation, engine: Engine) -> None:
        super().__init__(panes)
        self._bar, self._composer = panes.context, panes.composer
        self._chat, self._engine = chat, engine
        changed = (
            panes.composer.changed,
            chat.opened,
            chat.path_changed,
            chat.settings_changed,
            engine.state_changed,
        )
        for signal in changed:
            signal.connect(self._show)
        self._bar.new_chat_asked.connect(self._move_to_new_chat)
        self._bar.larger_asked.connect(self._load_with_context)
        self._bar.leave_out_asked.connect(self._leave_out)

    def _show(self) -> None:
        pair = self._engine.pair
        if pair is None and self._engine.state in (State.STARTING, State.LOADING):
            return  # the composer stays where it is until the model is loaded
        if pair is None or not pair.context:  # an engine elsewhere need not tell
            self._bar.hide()
            return
        path, left_out = [shown.message for shown in self._chat.shown], self._chat.settings.left_out
        taken = used(path, left_out)
        text = about_tokens(self._composer.text())
        files = with_ways(self._composer.attached, taken + text, pair.context)
        self._composer.show_ways(files)
        adds = text + sum(file.tokens for file in files if is_quoted(file))
        longest = longest_context(pair)
        self._bar.show_use(taken, adds, pair.context, pair.token_nbytes, longest=longest)
        self._bar.allow_leaving_out(len(turns(path)) > left_out and not self._chat.is_answering_here)

    def _leave_out(self) -> None:
        self._chat.leave_out_oldest(about_tokens(self._composer.text()))
        self._composer.setFocus()

    def _move_to_new_chat(self) -> None:
        message = self._composer.unsent()
        self._composer.accept()
        self._chat.open(None)
        there = self._composer.unsent()
        self._composer.show_unsent(in_front([there.typed, *there.pasted], there.files, message))
        self._composer.setFocus()

    def _load_with_context(self, context: int) -> None:
        load_with_context(context, self._chat, self._engine)


def longest_context(pair: Loaded) -> int:
    """Return the largest context that a pair can be loaded with, in tokens; 0 if it is not known."""
    return pair.context if pair.place else pair.longest_context  # an engine elsewhere decides that itself


def load_with_context(context: int, chat: Conversation, engine: Engine) -> None:
    """Load the models again with another context, in tokens, which the chat keeps."""
    chat.set_settings(structs.replace(chat.settings, context=context))
    engine.load(structs.replace(engine.wanted, context=context))
