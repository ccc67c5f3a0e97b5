"""A text field for searching while one types, also with an input method."""

from PySide6.QtCore import Signal
from PySide6.QtGui import QInputMethodEvent
from PySide6.QtWidgets import QLineEdit, QWidget


class SearchField(QLineEdit):
    """Text field whose query includes text that an input method is still composing.

    Korean is searched for while a syllable is being composed. Latin letters, with which Chinese is entered,
    are left out until they have been converted to Han characters.

    Attributes:
        is_composing: whether an input method is composing and needs the keys.

    Signals:
        query_changed: str, the new query
    """

    query_changed = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._preedit = ""
        self.setFrame(False)
        self.textChanged.connect(self._emit_query)

    @property
    def is_composing(self) -> bool:
        return bool(self._preedit)

    def query(self) -> str:
        text, composed = self.text(), "" if self._preedit.isascii() else self._preedit
        at = self.cursorPosition()
        return text[:at] + composed + text[at:]

    def inputMethodEvent(self, event: QInputMethodEvent) -> None:
        self._preedit = event.preeditString()
        super().inputMethodEvent(event)
        self._emit_query()

    def _emit_query(self) -> None:
        self.query_changed.emit(self.query())
