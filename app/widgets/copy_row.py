"""A text to be copied into another program."""

from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QHBoxLayout, QLineEdit, QWidget

from app.widgets.form_parts import button
from app.widgets.plain_text import plain
from app.widgets.theme import LINE_HEIGHT


class CopyRow(QWidget):
    """A line of text that can be selected but not changed, with a button that copies it.

    Attributes:
        line: shows the text, or dots in its place.
        copy: the button.
    """

    def __init__(self, name: str, parent: QWidget | None = None, *, is_secret: bool = False) -> None:
        """name: what the text is, for screen readers."""
        super().__init__(parent)
        self._is_secret = is_secret
        self.line = QLineEdit(self)
        self.line.setReadOnly(True)
        self.line.setMinimumHeight(LINE_HEIGHT)
        self.line.setAccessibleName(name)
        if is_secret:
            self.line.setEchoMode(QLineEdit.EchoMode.Password)
        self.copy = button(self.tr("Copy"), self.tr("Copy: {}").format(name), self)
        self.copy.clicked.connect(lambda: QGuiApplication.clipboard().setText(self.line.text()))
        layout = QHBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addWidget(self.line, 1)
        layout.addWidget(self.copy)

    def show_text(self, text: str) -> None:
        self.line.setText(text)
        self.line.setCursorPosition(0)
        self.line.setToolTip("" if self._is_secret else plain(text))
