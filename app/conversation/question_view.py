"""A question, shown as plain text."""

from collections.abc import Collection

from PySide6.QtCore import QTimer, Signal
from PySide6.QtWidgets import QFrame, QVBoxLayout, QWidget

from app import formatting
from app.rendering.message_actions import INSET, Action, MessageActions
from app.rendering.text_body import TextBody
from app.widgets.plain_text import PlainLabel

# Largest number of characters shown. Longer questions are sent whole, but laying out a megabyte would block
# the window.
MAX_SHOWN = 6_000


class QuestionView(QWidget):
    """Shows one question on a raised background, with its actions.

    Attributes:
        text: the question.
        body, action_row: the widgets with the text and the actions.

    Signals:
        asked: Action, one of those allowed by `set_actions`
        version_asked: int, number of another version, counted from 1
        found: int, y of the first search match in pixels; 0 if there is none
    """

    asked = Signal(Action)
    version_asked = Signal(int)
    found = Signal(int)

    def __init__(self, text: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.text = text
        self.action_row = MessageActions(lambda: self.text, self)
        self.action_row.asked.connect(self.asked)
        self.action_row.version_asked.connect(self.version_asked)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(2)
        layout.addWidget(self._ground(text))
        layout.addWidget(self.action_row)

    def set_actions(self, actions: Collection[Action]) -> None:
        """Set which actions are offered besides copying."""
        self.action_row.set_actions(actions)

    def set_versions(self, current: int, count: int) -> None:
        """Show that this is version `current`, counted from 1, of `count`."""
        self.action_row.set_versions(current, count)

    def seek(self, query: str) -> None:
        """Mark the matches of a search, then emit `found`."""
        QTimer.singleShot(0, self, lambda: self.found.emit(self.body.mark(query) or 0))

    def _ground(self, text: str) -> QFrame:
        ground = QFrame(self)
        ground.setObjectName("question")
        ground.setAccessibleName(self.tr("Your message"))
        layout = QVBoxLayout(ground)
        layout.setContentsMargins(INSET, 10, INSET, 10)
        self.body = TextBody(ground)
        self.body.setAccessibleName(self.tr("Your message"))
        self.body.show_plain(text[:MAX_SHOWN])
        layout.addWidget(self.body)
        if len(text) > MAX_SHOWN:
            shown = self.tr("The first {} of {} characters are shown; all were sent.")
            notice = PlainLabel(
                shown.format(formatting.number(MAX_SHOWN), formatting.number(len(text))), ground
            )
            notice.setProperty("role", "caption")
            notice.setWordWrap(True)
            layout.addWidget(notice)
        return ground
