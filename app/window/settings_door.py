"""Opens the settings of the program and of the chat shown, and applies what the user changes."""

from typing import TYPE_CHECKING

from msgspec import structs
from PySide6.QtCore import QObject, Qt

from app.preferences import Preferences
from app.settings.dialog import SettingsDialog
from app.store import ChatSettings
from app.widgets import theme
from app.window.appearance import application

if TYPE_CHECKING:
    from app.window.window import Window


class SettingsDoor(QObject):
    """Opens the settings dialog above a window."""

    def __init__(self, window: "Window") -> None:
        super().__init__(window)
        self._window = window

    def open(self, page: str = "") -> SettingsDialog:
        """Open the dialog. page: the name of one of its attributes, the page to show; "": the first one."""
        window, core = self._window, self._window.core
        drafters = core.engine.pair.drafters if core.engine.pair else ()
        loaded = core.loaded_pair
        shown = structs.replace(
            window.chat.settings,
            target=loaded.target,
            draft=loaded.draft,
            engine=loaded.engine,
            left_out=0,
        )
        dialog = SettingsDialog(
            core.preferences, core.store, shown, core.server, drafters, window, core.place
        )
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.chat_changed.connect(self._set_chat)
        dialog.preferences_changed.connect(self.apply)
        dialog.reload_asked.connect(lambda: window.load(dialog.pair))
        dialog.models_moved.connect(window.models_moved)
        dialog.models_page.load_asked.connect(dialog.close)
        dialog.models_page.load_asked.connect(window.load)
        dialog.models_page.loaded = core.engine.pair
        dialog.engines_page.changed.connect(core.engines_changed)
        language = core.preferences.now.language
        dialog.finished.connect(lambda: self._announce_language(language))
        dialog.finished.connect(window.settings_closed)
        if page:
            dialog.show_page(page)
        dialog.open()
        return dialog

    def open_engines(self, name: str | None = None) -> None:
        """Open the page of engines elsewhere. name: the engine whose fields to show; "": those of a new one;
        None: those of none."""
        dialog = self.open("engines_page")
        if name is not None:
            dialog.engines_page.open(name)

    def _set_chat(self, settings: ChatSettings) -> None:
        """Change the shown chat's settings. Its models are those that gave its answers: they change with the
        next answer. The turns left out stay left out."""
        now = self._window.chat.settings
        kept = {"target": now.target, "draft": now.draft, "engine": now.engine, "left_out": now.left_out}
        self._window.chat.set_settings(structs.replace(settings, **kept))

    def apply(self, preferences: Preferences) -> None:
        """Apply preferences that the user has just changed, in all windows."""
        theme.choose(application(), preferences.theme)
        self._window.core.preferences_changed.emit(preferences)

    def _announce_language(self, before: str) -> None:
        """Emit `language_changed` if the user chose another language than `before`.

        Called only once the settings are closed, because arrow keys pass through the languages in between.
        """
        if self._window.core.preferences.now.language != before:
            self._window.language_changed.emit()
