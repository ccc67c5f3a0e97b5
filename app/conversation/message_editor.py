"""The editor that takes a message's place while the user changes it."""

from PySide6.QtCore import QEvent, QObject, Qt, Signal
from PySide6.QtGui import QKeyEvent, QTextCursor
from PySide6.QtWidgets import (
    QFrame,
    QHBoxLayout,
    QPushButton,
    QSizePolicy,
    QVBoxLayout,
    QWidget,
)

from app.widgets.composed_text import ComposedText

MOST_LINES = 16


class MessageEditor(QFrame):
    """A text field with one button that saves the change and one that cancels it.

    Attributes:
        editor: the text field.
        save, leave: the buttons that save and cancel.

    Signals:
        saved: str, the changed text; the user pressed the button or the key that sends
        left: the user cancelled with the button or Esc
    """

    saved = Signal(str)
    left = Signal()

    def __init__(self, text: str, is_question: bool, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("composer")
        self._is_allowed = True
        self.editor = ComposedText(text, self)
        self.editor.setFrameShape(QFrame.Shape.NoFrame)
        self.editor.setAccessibleName(self.tr("Edit message"))
        self.editor.setTabChangesFocus(True)
        self.editor.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.save = QPushButton(self.tr("Send") if is_question else self.tr("Keep"), self)
        self.save.setProperty("role", "main")
        self.leave = QPushButton(self.tr("Cancel"), self)
        self.leave.setToolTip(self.tr("Esc"))
        for button in (self.save, self.leave):
            button.setAccessibleName(button.text())
        self.save.clicked.connect(self._save)
        self.leave.clicked.connect(self.left)
        self.editor.installEventFilter(self)
        self.editor.textChanged.connect(self._refresh)
        buttons = QHBoxLayout()
        buttons.addStretch(1)
        buttons.addWidget(self.leave)
        buttons.addWidget(self.save)
        layout = QVBoxLayout(self)
        layout.addWidget(self.editor)
        layout.addLayout(buttons)
        self.setFocusProxy(self.editor)
        self.editor.moveCursor(QTextCursor.MoveOperation.End)
        self.send_with("enter")
        self._refresh()

    def send_with(self, key: str) -> None:
        """Set which key saves the change, as `Composer.send_with`."""
        self.editor.sends_with_ctrl = key == "ctrl_enter"
        self.save.setToolTip(
            self.tr("Ctrl+Enter. The previous version is kept.")
            if self.editor.sends_with_ctrl
            else self.tr("Enter. The previous version is kept.")
        )

    def allow(self, is_allowed: bool) -> None:
        """Set whether the change can be saved now; it can be written at any time."""
        self._is_allowed = is_allowed
        self._refresh()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Save with the key that sends. Prevent Esc, Enter and Ctrl+Enter from triggering shortcuts of the
        window."""
        if event.type() == QEvent.Type.KeyPress:
            assert isinstance(event, QKeyEvent)
            if self.editor.is_sent_by(event):
                self._save()
                return True
        if event.type() == QEvent.Type.ShortcutOverride:
            assert isinstance(event, QKeyEvent)
            if event.key() in (Qt.Key.Key_Escape, Qt.Key.Key_Return, Qt.Key.Key_Enter):
                event.accept()
                return True
        return super().eventFilter(watched, event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Handle Esc, which the text field passes on to this widget."""
        if event.key() == Qt.Key.Key_Escape:
            self.left.emit()
        else:
            super().keyPressEvent(event)

    def _save(self) -> None:
        if self.save.isEnabled():
            self.saved.emit(self.editor.toPlainText())

    def _refresh(self) -> None:
        self.save.setEnabled(self._is_allowed and bool(self.editor.toPlainText().strip()))
        lines = min(MOST_LINES, max(2, self.editor.document().lineCount()))
        self.editor.setFixedHeight(lines * self.editor.fontMetrics().lineSpacing() + 12)
