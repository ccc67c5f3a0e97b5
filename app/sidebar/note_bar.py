"""Bar with a note about the last action, and a button to undo it."""

from collections.abc import Callable

from PySide6.QtCore import QEvent, QObject, Qt, QTimer
from PySide6.QtGui import QHideEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QPushButton, QVBoxLayout, QWidget

from app.widgets.announcement import announce
from app.widgets.plain_text import PlainLabel

SHOWN_MS = 10_000


class NoteBar(QFrame):
    """Bar that shows a sentence for ten seconds, or longer while it has the mouse or the focus.

    Attributes:
        button: performs the action that belongs to the note; hidden if there is none.
    """

    def __init__(self, parent: QWidget | None = None, *, is_wide: bool = False) -> None:
        """is_wide: whether there is room for the button beside the sentence."""
        super().__init__(parent)
        self.setObjectName("note_bar")
        self._action: Callable[[], object] | None = None
        self._is_undo = False
        self._label = PlainLabel(parent=self)
        self._label.setWordWrap(True)
        self._label.setMinimumWidth(1)
        self.button = QPushButton(self)
        self.button.setAccessibleName(self.tr("Undo"))
        self.button.clicked.connect(self.press)
        self.button.installEventFilter(self)
        layout = QHBoxLayout(self) if is_wide else QVBoxLayout(self)
        layout.setContentsMargins(12, 8, 8, 8)
        layout.addWidget(self._label, 1)
        layout.addWidget(self.button, alignment=Qt.AlignmentFlag.AlignRight)
        self._timer = QTimer(self, singleShot=True, interval=SHOWN_MS)
        self._timer.timeout.connect(self.hide)
        self.hide()

    @property
    def text(self) -> str:
        return self._label.text()

    def say(self, text: str, action: str = "", do: Callable[[], object] | None = None) -> None:
        """Show a note instead of the previous one. action: text of the button. do: called by the button."""
        self._label.setText(_breakable(text))
        self.setAccessibleName(text)
        self.button.setText(action)
        self.button.setAccessibleName(f"{action}: {text}")
        self.button.setVisible(do is not None)
        self._action, self._is_undo = do, False
        self.show()
        self._timer.start()
        announce(self, f"{text} {action}".strip())

    def offer_undo(self, text: str, undo: Callable[[], object]) -> None:
        self.say(text, self.tr("Undo"), undo)
        self._is_undo = True

    def mention(self, text: str) -> None:
        """Show a note that can be missed, unless the bar offers to undo an action."""
        if not self._offers_undo():
            self.say(text)

    def undo(self) -> None:
        """Press the button, if the bar is visible and offers to undo an action."""
        if self._offers_undo():
            self.press()

    def _offers_undo(self) -> bool:
        return self.isVisible() and self._is_undo

    def press(self) -> None:
        """Hide the bar and call the button's action, unless it has already been called."""
        action, self._action = self._action, None
        self.hide()
        if action is not None:
            action()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        self._stay(event)
        return super().eventFilter(watched, event)

    def event(self, event: QEvent) -> bool:
        self._stay(event)
        return super().event(event)

    def _stay(self, event: QEvent) -> None:
        match event.type():
            case QEvent.Type.Enter | QEvent.Type.FocusIn:
                self._timer.stop()
            case QEvent.Type.Leave | QEvent.Type.FocusOut if self.isVisible() and not self.button.hasFocus():
                self._timer.start()

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self._timer.stop()


def _breakable(text: str) -> str:
    """Insert zero-width spaces into long words: Qt breaks lines only there and between words."""
    words = (
        "\u200b".join(word[i : i + 12] for i in range(0, len(word), 12)) if len(word) > 24 else word
        for word in text.split(" ")
    )
    return " ".join(words)
