"""Says in the header where the text of the chats goes, and leads to the engines elsewhere."""

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject

if TYPE_CHECKING:
    from app.window.window import Window


class Whereabouts(QObject):
    """Keeps the sign in the header of a window up to date, and what depends on it."""

    def __init__(self, window: "Window") -> None:
        super().__init__(window)
        self._core, self._header = window.core, window.header
        self._empty = window.transcript.empty_state
        engine = self._core.engine
        for changed in (engine.state_changed, engine.loaded, self._core.engines_changed):
            changed.connect(self._show)
        self._header.engines_asked.connect(lambda: window.settings.open_engines(self._first()))
        self._show()

    def _show(self) -> None:
        place = self._core.place
        self._header.show_place(self._core.loaded_pair, place)
        self._empty.show_place(place)

    def _first(self) -> str | None:
        """Return "" while no engine was added, so that the fields of a new one are shown at once."""
        return "" if not self._core.has_engines else None
