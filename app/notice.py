"""Something went wrong: what, and what to do about it."""

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QFrame, QLabel, QPushButton, QVBoxLayout, QWidget


class Notice(QFrame):
    """A message, a hint, and a button where there is something to press.

    Attributes:
        button: None where only reading helps.

    Signals:
        pressed: the button was pressed.
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
        self.button = QPushButton(action, self) if action else None
        if self.button:
            self.button.setAccessibleName(action)
            self.button.clicked.connect(self.pressed)
            layout.addWidget(self.button, alignment=Qt.AlignmentFlag.AlignLeft)

    def _label(self, text: str, role: str) -> QLabel:
        label = QLabel(self)
        label.setTextFormat(Qt.TextFormat.PlainText)
        label.setText(text)
        label.setWordWrap(True)
        label.setProperty("role", role)
        label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        return label
