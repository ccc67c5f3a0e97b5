"""Search matches, highlighted in a text for a few seconds."""

from collections.abc import Callable

from PySide6.QtCore import QObject, QVariantAnimation
from PySide6.QtGui import QColor, QTextCharFormat, QTextCursor
from PySide6.QtWidgets import QTextEdit

from app.rendering.source_map import units
from app.store.search import ranges
from app.widgets import motion, theme

SHOWN_MS, FADE_MS = 5_000, 1_500
MOST = 300  # maximum number of matches highlighted; each is painted again in every step of the fading


class Marks(QObject):
    """Highlights the matches of a search in one text."""

    def __init__(self, text: QTextEdit, highlight: Callable[[list[QTextEdit.ExtraSelection]], None]) -> None:
        """highlight: shows these selections in the text."""
        super().__init__(text)
        self._text, self._highlight = text, highlight
        self._places: list[QTextCursor] = []
        self._fading = QVariantAnimation(self)
        self._fading.setDuration(SHOWN_MS + FADE_MS)
        self._fading.setKeyValues([(0.0, 1.0), (SHOWN_MS / (SHOWN_MS + FADE_MS), 1.0), (1.0, 0.0)])
        self._fading.valueChanged.connect(self._paint)

    def show(self, query: str) -> QTextCursor | None:
        """Highlight the matches of the query. Return the first one, or None."""
        text = self._text.toPlainText()
        self._places = [self._place(text, *found) for found in ranges(text, query)[:MOST]]
        self._paint(1.0)  # the animation reports changes only
        self._fading.stop()
        self._fading.start()
        return self._places[0] if self._places else None

    def _place(self, text: str, start: int, end: int) -> QTextCursor:
        """Return a cursor for a range in code points; Qt counts UTF-16 units."""
        place = QTextCursor(self._text.document())
        place.setPosition(units(text[:start]))
        place.setPosition(units(text[:end]), QTextCursor.MoveMode.KeepAnchor)
        return place

    def _paint(self, strength: float) -> None:
        if motion.is_reduced():
            strength = float(strength > 0)
        ground = QColor(theme.current().found)
        ground.setAlphaF(strength)
        marked = QTextCharFormat()
        marked.setBackground(ground)
        selections = []
        for place in self._places if strength else ():
            selection = QTextEdit.ExtraSelection()
            selection.cursor, selection.format = place, marked
            selections.append(selection)
        self._highlight(selections)
