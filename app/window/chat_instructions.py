"""Connects the chat's settings with the line below the composer that shows its preset or system prompt."""

from collections.abc import Sequence

from msgspec import structs
from PySide6.QtCore import QObject, Signal

from app.connection.conversation import Conversation
from app.preferences import NEW_CHATS
from app.store import ChatSettings, Preset, StoreError
from app.store.presets import Presets
from app.window.panes import Panes


class ChatInstructions(QObject):
    """Shows which preset or system prompt the chat has, and changes them as the user asks.

    Signals:
        failed: StoreError; the presets cannot be read
    """

    failed = Signal(object)

    def __init__(self, panes: Panes, chat: Conversation, presets: Presets) -> None:
        super().__init__(panes)
        self._line, self._chat, self._presets = panes.instructions, chat, presets
        self._offered: Sequence[Preset] = ()
        popup = self._line.popup
        self._line.asked.connect(self._offer)
        self._line.removed.connect(self._remove)
        popup.preset_chosen.connect(lambda place: self._set(self._offered[place].settings))
        popup.prompt_changed.connect(self._set_prompt)
        popup.settings_asked.connect(panes.header.settings_asked)
        popup.closed.connect(panes.composer.setFocus)
        chat.settings_changed.connect(self.refresh)
        self.refresh()

    def refresh(self) -> None:
        """Show what is set now; called again after presets have changed."""
        settings = self._chat.settings
        self._line.show_set(self._name_of(settings, self._read()), settings.system)

    def _offer(self) -> None:
        settings = self._chat.settings
        self._offered = self._read()
        names = [preset.name for preset in self._offered]
        self._line.popup.offer(names, self._name_of(settings, self._offered), settings.system)

    def _remove(self) -> None:
        """Go back to the settings for new chats or, if the chat has those, to the program's."""
        if not self._name_of(self._chat.settings, self._read()):
            self._set_prompt("")
            return
        usual = self._with_models(self._chat.new_settings)
        self._set(usual if usual != self._chat.settings else NEW_CHATS)

    def _set_prompt(self, system: str) -> None:
        self._set(structs.replace(self._chat.settings, system=system))

    def _set(self, settings: ChatSettings) -> None:
        self._chat.set_settings(self._with_models(settings))

    def _with_models(self, settings: ChatSettings) -> ChatSettings:
        """Return the settings with the chat's models, which are those that gave its answers."""
        kept = self._chat.settings
        return structs.replace(settings, target=kept.target, draft=kept.draft, engine=kept.engine)

    def _name_of(self, settings: ChatSettings, presets: Sequence[Preset]) -> str:
        """Return the name of the preset that the chat has, or ""."""
        equal = (each.name for each in presets if self._with_models(each.settings) == settings)
        return next(equal, "")

    def _read(self) -> Sequence[Preset]:
        try:
            return self._presets.all()
        except StoreError as error:
            self.failed.emit(error)
            return ()
