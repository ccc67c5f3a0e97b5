"""Text fields in which an input method composes Korean, Chinese or Japanese."""

from PySide6.QtCore import QEvent, Qt
from PySide6.QtGui import QGuiApplication, QInputMethodEvent, QKeyEvent
from PySide6.QtWidgets import QApplication, QPlainTextEdit, QWidget

ENTER = (Qt.Key.Key_Return, Qt.Key.Key_Enter)
KEYS = (*ENTER, Qt.Key.Key_Escape)


class ComposedText(QPlainTextEdit):
    """A text field whose Enter and Esc belong to the input method as long as it composes: Enter takes what is
    composed, and Esc drops it. Neither sends a message or triggers a shortcut of the window.

    Most input methods use these keys themselves; some pass them on while they still compose.

    Attributes:
        is_composing: whether the field shows text that is not yet part of it.
        sends_with_ctrl: whether Enter starts a new line, and only Ctrl+Enter sends.
    """

    def __init__(self, text: str = "", parent: QWidget | None = None) -> None:
        super().__init__(text, parent)
        self.is_composing = False
        self.sends_with_ctrl = False
        self._hint = ""  # the placeholder, while it gives way to what is composed

    def inputMethodEvent(self, event: QInputMethodEvent) -> None:
        is_composing = bool(event.preeditString())
        if is_composing and not self.is_composing:  # otherwise Qt paints both
            self._hint = self.placeholderText()
            self.setPlaceholderText("")
        elif self.is_composing and not is_composing and not self.placeholderText():
            self.setPlaceholderText(self._hint)
        self.is_composing = is_composing
        super().inputMethodEvent(event)

    def event(self, event: QEvent) -> bool:
        if self.is_composing and event.type() == QEvent.Type.ShortcutOverride:
            assert isinstance(event, QKeyEvent)
            if event.key() in KEYS:
                event.accept()
                return True
        return super().event(event)

    def is_sent_by(self, event: QKeyEvent) -> bool:
        """Return whether a key sends the text. Shift+Enter never does; Ctrl+Enter always does."""
        if event.key() not in ENTER or self.is_composing:
            return False
        held, modifier = event.modifiers(), Qt.KeyboardModifier
        if self.sends_with_ctrl:
            return bool(held & modifier.ControlModifier)
        return not held & modifier.ShiftModifier

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if not self.is_composing or event.key() not in KEYS:
            super().keyPressEvent(event)
        elif event.key() in ENTER:
            QGuiApplication.inputMethod().commit()
        else:
            drop_composed(self)


def drop_composed(field: QWidget) -> None:
    """Drop what an input method composes in a field."""
    QGuiApplication.inputMethod().reset()
    QApplication.sendEvent(field, QInputMethodEvent())
