"""Where a person writes: Enter sends, Shift+Enter breaks the line."""

from PySide6.QtCore import QEvent, QMimeData, Qt, Signal
from PySide6.QtGui import QFocusEvent, QKeyEvent, QResizeEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QPlainTextEdit, QPushButton, QVBoxLayout, QWidget

from app.pasted_text import MAX_TYPED, PastedText

MAX_LINES = 8


class Composer(QFrame):
    """A text field that grows with its text, and the button that sends it or stops the answer.

    Attributes:
        editor: the text field.
        pasted: a long text that goes with it.
        button: "Send", or "Stop" while there is something to stop.

    Signals:
        sent: str, what was written; the field is emptied by `accept`, once somebody took it
        stopped: the answer is to end
    """

    sent = Signal(str)
    stopped = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("composer")
        self._can_send = False
        self._can_stop = False
        self.editor = _Editor(self)
        self.editor.setAccessibleName(self.tr("Message"))
        self.send_with("enter")
        self.editor.submitted.connect(self._submit)
        self.editor.focus_changed.connect(self._show_focus)
        self.editor.textChanged.connect(self._refresh)
        self.button = QPushButton(self)
        self.button.setProperty("role", "main")
        self.button.clicked.connect(self._press)
        self.pasted = PastedText(self)
        self.pasted.remove.clicked.connect(lambda: self._hold(""))
        self.editor.pasted.connect(self._hold)
        layout = QHBoxLayout(self)
        layout.setContentsMargins(10, 8, 8, 8)
        texts = QVBoxLayout()
        texts.addWidget(self.pasted)
        texts.addWidget(self.editor)
        layout.addLayout(texts, 1)
        buttons = QVBoxLayout()
        buttons.addStretch(1)
        buttons.addWidget(self.button)
        layout.addLayout(buttons)
        self.setFocusProxy(self.editor)
        self._refresh()

    def allow(self, *, send: bool, stop: bool) -> None:
        """Say what the button may do now; what is written stays in any case."""
        self._can_send, self._can_stop = send, stop
        self._refresh()

    def send_with(self, key: str) -> None:
        """key: "enter", or "ctrl_enter"; then Enter breaks the line."""
        self.editor.sends_with_ctrl = key == "ctrl_enter"
        text = (
            self.tr("Message — Ctrl+Enter sends, Enter breaks the line")
            if self.editor.sends_with_ctrl
            else self.tr("Message — Enter sends, Shift+Enter breaks the line")
        )
        self.editor.setPlaceholderText(text)

    def accept(self) -> None:
        """The text was taken: empty the field."""
        self.editor.clear()
        self._hold("")

    def text(self) -> str:
        """All that would be sent: what was typed, then what was pasted."""
        parts = (self.editor.toPlainText(), self.pasted.text)
        return "\n\n".join(part for part in parts if part.strip())

    def write(self, text: str) -> None:
        """Put `text` in the field, for the person to send or change."""
        self.editor.setPlainText(text)
        self.editor.moveCursor(self.editor.textCursor().MoveOperation.End)
        self.editor.setFocus()

    def _submit(self) -> None:
        if self._can_send:
            text = self.text()
            if text:
                self.sent.emit(text)

    def _hold(self, text: str) -> None:
        self.pasted.hold(text)
        self._refresh()

    def _press(self) -> None:
        if self._can_stop:
            self.stopped.emit()
        else:
            self._submit()

    def _refresh(self) -> None:
        text = self.tr("Stop") if self._can_stop else self.tr("Send")
        self.button.setText(text)
        self.button.setAccessibleName(text)
        self.button.setToolTip(self.tr("Esc") if self._can_stop else self.tr("Enter"))
        is_empty = self.editor.document().isEmpty() and not self.pasted.text
        self.button.setEnabled(self._can_stop or (self._can_send and not is_empty))

    def _show_focus(self, active: bool) -> None:
        self.setProperty("active", active)
        self.style().unpolish(self)
        self.style().polish(self)


class _Editor(QPlainTextEdit):
    """Signals:
    submitted: Enter was pressed
    focus_changed: bool
    pasted: str, a text too long for the field
    """

    submitted = Signal()
    focus_changed = Signal(bool)
    pasted = Signal(str)

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.sends_with_ctrl = False
        self.setTabChangesFocus(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.document().documentLayout().documentSizeChanged.connect(self._fit)
        self._fit()

    def event(self, event: QEvent) -> bool:
        """A key that sends is no shortcut of the window's."""
        if event.type() == QEvent.Type.ShortcutOverride and self.sends_with_ctrl:
            assert isinstance(event, QKeyEvent)
            if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
                event.accept()
                return True
        return super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        is_enter = event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter)
        held = event.modifiers()
        sends = (
            bool(held & Qt.KeyboardModifier.ControlModifier)
            if self.sends_with_ctrl
            else not held & Qt.KeyboardModifier.ShiftModifier
        )
        if is_enter and sends:
            self.submitted.emit()
        else:
            super().keyPressEvent(event)

    def insertFromMimeData(self, source: QMimeData) -> None:
        if len(source.text()) > MAX_TYPED:
            self.pasted.emit(source.text())
        else:
            super().insertFromMimeData(source)

    def focusInEvent(self, event: QFocusEvent) -> None:
        super().focusInEvent(event)
        self.focus_changed.emit(True)

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        self.focus_changed.emit(False)

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.FontChange:
            self._fit()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    def _fit(self) -> None:
        lines = min(MAX_LINES, max(1, int(self.document().size().height())))  # this layout counts in lines
        margins = 2 * int(self.document().documentMargin())
        self.setFixedHeight(max(30, lines * self.fontMetrics().lineSpacing() + margins + 4))
