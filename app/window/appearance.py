"""Follows the preferences for how a window looks and is used: text, motion, the key that sends."""

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QApplication

from app import formatting
from app.preferences import Preferences, PreferencesError
from app.widgets import motion, theme, typography
from app.widgets.typography import Typography
from app.window.core import Core
from app.window.panes import Panes

ZOOMS = (50, 67, 75, 80, 90, 100, 110, 125, 150, 175, 200, 250, 300)  # sizes of text in percent


class Appearance(QObject):
    """Applies the preferences to the panes of one window, now and after each change in any window."""

    def __init__(self, panes: Panes, core: Core) -> None:
        super().__init__(panes)
        self._panes, self._core = panes, core
        self._typography = Typography()
        panes.transcript.zoom_asked.connect(self.zoom)
        core.preferences_changed.connect(self._follow)
        self._follow(core.preferences.now)

    def zoom(self, step: int) -> None:
        """Make all text a step larger (1) or smaller (-1)."""
        now = self._core.preferences.now.zoom
        larger, smaller = [z for z in ZOOMS if z > now], [z for z in ZOOMS if z < now]
        self.set_zoom((larger or [now])[0] if step > 0 else (smaller or [now])[-1])

    def set_zoom(self, percent: int) -> None:
        """Show all text in this size, and say so."""
        try:
            self._core.preferences.change(zoom=percent)
        except PreferencesError as error:
            self._core.failed.emit(error)
        self._core.preferences_changed.emit(self._core.preferences.now)
        self._panes.note.mention(self.tr("Text size: {}%").format(formatting.number(percent)))

    def _follow(self, preferences: Preferences) -> None:
        self._panes.composer.send_with(preferences.send_key)
        self._panes.transcript.send_with(preferences.send_key)
        motion.reduce(preferences.reduced_motion)
        theme.enlarge(application(), preferences.zoom)
        wanted = Typography(preferences.chat_font, preferences.code_font, preferences.wrap_code)
        if wanted != self._typography:
            self._typography = wanted
            typography.choose(wanted)
            self._panes.transcript.reset_look()


def application() -> QApplication:
    app = QApplication.instance()
    assert isinstance(app, QApplication)
    return app
