"""Connects the chat's tools with the chip below the composer and with the cards of calls."""

from msgspec import structs
from PySide6.QtCore import QObject

from app.connection.conversation import Conversation
from app.conversation.call_card import Decision
from app.window.core import Core
from app.window.panes import Panes


class ChatTools(QObject):
    """Shows which tools the chat's answers may call, and passes on what the user decides about calls."""

    def __init__(self, panes: Panes, chat: Conversation, core: Core) -> None:
        super().__init__(panes)
        self._panes, self._chat, self._core = panes, chat, core
        panes.tools.switched.connect(self._switch)
        panes.transcript.decided.connect(self._decide)
        core.desk.running_changed.connect(self._mark_running)
        core.preferences_changed.connect(self._show)
        chat.settings_changed.connect(self._show)
        core.engine.state_changed.connect(self._show)
        self._show()
        self._mark_running()

    def _show(self) -> None:
        pair = self._core.engine.pair
        can_call = pair is None or bool(pair.chat_template)
        names = [tool.name for tool in self._core.toolbox.all()] if can_call else []
        self._panes.tools.show_tools(names, is_on=self._chat.settings.tools)

    def _switch(self, is_on: bool) -> None:
        self._chat.set_settings(structs.replace(self._chat.settings, tools=is_on))
        self._panes.composer.setFocus()

    def _mark_running(self) -> None:
        self._panes.transcript.mark_running(self._core.desk.running.keys())

    def _decide(self, message: int, call: str, decision: Decision) -> None:
        if self._chat.id is None:
            return
        if decision is Decision.REFUSE:
            self._core.desk.refuse(self._chat.id, message, call)
        else:
            self._core.desk.allow(self._chat.id, message, call, always=decision is Decision.ALWAYS)
        self._panes.composer.setFocus()
