"""Connects the chat's settings with the chip below the composer that says how long the model thinks."""

from msgspec import structs
from PySide6.QtCore import QObject

from app.connection.conversation import Conversation
from app.connection.engine import Engine
from app.window.panes import Panes
from engine.protocol.thought_control import ThoughtChoice, control_of, may_think


class ChatThought(QObject):
    """Shows what is set for the thoughts of the loaded model, and changes it as the user asks."""

    def __init__(self, panes: Panes, chat: Conversation, engine: Engine) -> None:
        super().__init__(panes)
        self._chip, self._chat, self._engine = panes.thought, chat, engine
        self._chip.popup.changed.connect(self._set)
        self._chip.popup.closed.connect(panes.composer.setFocus)
        chat.settings_changed.connect(self._show)
        engine.state_changed.connect(self._show)
        self._show()

    def _show(self) -> None:
        control, settings = control_of(self._template), self._chat.settings
        self._chip.show_set(
            control.fitted(settings.thinks), settings.options.thinking_budget, control.choices
        )
        self._chip.setVisible(may_think(self._template))

    @property
    def _template(self) -> str:
        return self._engine.pair.chat_template if self._engine.pair else ""

    def _set(self, thinks: ThoughtChoice, budget: int | None) -> None:
        """Store what the user has set. A choice made for another model stays as it is while the popup shows
        the nearest one that this model knows."""
        now = self._chat.settings
        if thinks == control_of(self._template).fitted(now.thinks):
            thinks = now.thinks
        options = structs.replace(now.options, thinking_budget=budget)
        self._chat.set_settings(structs.replace(now, thinks=thinks, options=options))
