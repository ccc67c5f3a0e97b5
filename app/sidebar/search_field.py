"""The text field of the search, also for what is still being composed."""

from PySide6.QtCore import Signal
from PySide6.QtGui import QInputMethodEvent
from PySide6.QtWidgets import QLineEdit, QWidget


class SearchField(QLineEdit):
    """Korean is searched for while a syllable is still being composed; the Latin letters that Chinese is
    written with are not what is meant, and wait until they are Han.

    Attributes:
        is_composing: an input method is at work, whose keys these are.

    Signals:
        query_changed: str
    """

    query_changed = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._preedit = ""
        self.setFrame(False)
        self.textChanged.connect(self._tell)

    @property
    def is_composing(self) -> bool:
        return bool(self._preedit)

    def query(self) -> str:
        written, composed = self.text(), "" if self._preedit.isascii() else self._preedit
        at = self.cursorPosition()
        return written[:at] + composed + written[at:]

    def inputMethodEvent(self, event: QInputMethodEvent) -> None:
        self._preedit = event.preeditString()
        super().inputMethodEvent(event)
        self._tell()

    def _tell(self) -> None:
        self.query_changed.emit(self.query())
