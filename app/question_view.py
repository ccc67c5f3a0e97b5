"""What the person said, as plain text."""

from collections.abc import Collection

from PySide6.QtCore import QTimer, Signal
from PySide6.QtWidgets import QFrame, QLabel, QVBoxLayout, QWidget

from app import words
from app.rendering.message_actions import INSET, Action, MessageActions
from app.rendering.text_body import TextBody

# Longer questions are sent whole, but laying out a megabyte would hold up the window.
MAX_SHOWN = 6_000


class QuestionView(QWidget):
    """One question, on a raised ground, and what can be done with it.

    Attributes:
        text: the question.

    Signals:
        asked: Action, as `set_actions` allows
        version_asked: int, the number of another version, from 1
        found: int, the pixel where what was searched for stands, or 0
    """

    asked = Signal(Action)
    version_asked = Signal(int)
    found = Signal(int)

    def __init__(self, text: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.text = text
        self._actions = MessageActions(lambda: self.text, self)
        self._actions.asked.connect(self.asked)
        self._actions.version_asked.connect(self.version_asked)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(2)
        layout.addWidget(self._ground(text))
        layout.addWidget(self._actions)

    def set_actions(self, actions: Collection[Action]) -> None:
        """What may be done with this question beside copying it: to edit it, to branch off."""
        self._actions.set_actions(actions)

    def set_versions(self, current: int, count: int) -> None:
        """This is version `current` of `count`, from 1."""
        self._actions.set_versions(current, count)

    def seek(self, query: str) -> None:
        """Mark what a search finds in it; `found` follows."""
        QTimer.singleShot(0, self, lambda: self.found.emit(self._body.mark(query) or 0))

    def _ground(self, text: str) -> QFrame:
        ground = QFrame(self)
        ground.setObjectName("question")
        ground.setAccessibleName(self.tr("Your message"))
        layout = QVBoxLayout(ground)
        layout.setContentsMargins(INSET, 10, INSET, 10)
        self._body = TextBody(ground)
        self._body.setAccessibleName(self.tr("Your message"))
        self._body.show_plain(text[:MAX_SHOWN])
        layout.addWidget(self._body)
        if len(text) > MAX_SHOWN:
            shown = self.tr("The first {} of {} characters are shown; all were sent.")
            notice = QLabel(shown.format(words.number(MAX_SHOWN), words.number(len(text))), ground)
            notice.setProperty("role", "caption")
            notice.setWordWrap(True)
            layout.addWidget(notice)
        return ground
