"""Something went wrong: what, and what to do about it."""

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QPushButton, QVBoxLayout, QWidget


class Notice(QFrame):
    """A message, a hint, and a button where there is something to press.

    Attributes:
        button: of `action`; None where only reading helps.

    Signals:
        pressed: `button` was pressed.
    """

    pressed = Signal()

    def __init__(self, message: str, hint: str, action: str = "", parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("notice")
        self.setAccessibleName(self.tr("Problem: {}").format(message))
        self.setAccessibleDescription(hint)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(14, 10, 14, 12)
        layout.setSpacing(6)
        layout.addWidget(self._label(message, "danger"))
        if hint:
            layout.addWidget(self._label(hint, "body"))
        self._buttons = QHBoxLayout()
        self._buttons.addStretch(1)
        layout.addLayout(self._buttons)
        self.button = self.offer(action) if action else None
        if self.button:
            self.button.clicked.connect(self.pressed)

    def offer(self, action: str) -> QPushButton:
        """One more button, for the caller to connect."""
        button = QPushButton(action, self)
        button.setAccessibleName(action)
        self._buttons.insertWidget(self._buttons.count() - 1, button)
        return button

    def _label(self, text: str, role: str) -> QLabel:
        label = QLabel(self)
        label.setTextFormat(Qt.TextFormat.PlainText)
        label.setText(text)
        label.setWordWrap(True)
        label.setProperty("role", role)
        label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        return label
