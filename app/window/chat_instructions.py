"""Connects the chat's settings with the line below the composer that shows its preset or system prompt."""

from collections.abc import Sequence

from msgspec import structs
from PySide6.QtCore import QObject, Signal

from app.connection.conversation import Conversation
from app.preferences import NEW_CHATS
from app.settings.options import taken_back
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
        self._line, self._chat, self._presets, self._note = panes.instructions, chat, presets, panes.note
        self._offered: Sequence[Preset] = ()
        self._opened = 0  # how often a chat was opened
        popup = self._line.popup
        self._line.asked.connect(self._offer)
        self._line.removed.connect(self._remove)
        popup.preset_chosen.connect(self._use)
        popup.prompt_changed.connect(self._set_prompt)
        popup.settings_asked.connect(panes.header.settings_asked)
        popup.closed.connect(panes.composer.setFocus)
        chat.settings_changed.connect(self.refresh)
        chat.opened.connect(self._count)
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

    def _use(self, place: int) -> None:
        """Use a preset; a system prompt that no preset keeps can be brought back."""
        before, preset = self._chat.settings, self._offered[place]
        self._set(preset.settings)
        if before.system and not self._name_of(before, self._offered):
            self._offer_undo(self.tr("{} replaces the system prompt").format(preset.name), before)

    def _remove(self) -> None:
        """Go back to the settings for new chats or, if the chat has those, to the program's."""
        before = self._chat.settings
        if name := self._name_of(before, self._read()):
            usual = self._with_models(self._chat.new_settings)
            self._set(usual if usual != before else NEW_CHATS)
            self._offer_undo(self.tr("Removed the preset {}").format(name), before)
        else:
            self._set_prompt("")
            self._offer_undo(self.tr("Removed the system prompt"), before)

    def _offer_undo(self, said: str, before: ChatSettings) -> None:
        """Say what was done, and offer to take that alone back. before: the settings that it has changed."""
        chat, opened, after = self._chat.id, self._opened, self._chat.settings

        def undo() -> None:
            if self._opened != opened:
                self._chat.open(chat)
                if self._chat.id != chat:  # it was deleted, or cannot be read
                    return
            self._set(taken_back(self._chat.settings, before, after))

        self._note.offer_undo(said, undo)

    def _count(self) -> None:
        self._opened += 1

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
