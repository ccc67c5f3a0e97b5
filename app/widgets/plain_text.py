"""Texts that Qt shows as they are written.

In tool tips, labels and message boxes, Qt takes text that looks like HTML for rich text, and rich text opens
files. So text that is not the program's own (answers, names of models and files, messages of servers) passes
through `plain`, or is shown by the classes here.
"""

from html import escape

from PySide6.QtGui import Qt
from PySide6.QtWidgets import QLabel, QMessageBox, QWidget


def plain(text: str) -> str:
    """Return `text` in a form that Qt shows as it is, also where it looks like HTML."""
    return wrapped(text) if Qt.mightBeRichText(text) else text


def wrapped(text: str) -> str:
    """Return `text` in a form that Qt shows as it is, with its long lines broken: for tool tips with
    sentences."""
    return f'<p style="white-space: pre-wrap">{escape(text)}</p>'


def unmarked(text: str) -> str:
    """Return `text` without the signs of HTML, for notifications: some desktops read markup in them."""
    return text.replace("<", "‹").replace(">", "›").replace("&", "＆")


NO_BUTTON = QMessageBox.StandardButton.NoButton


class PlainLabel(QLabel):
    """A label of plain text."""

    def __init__(self, text: str = "", parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setTextFormat(Qt.TextFormat.PlainText)
        if text:
            self.setText(text)


class PlainMessageBox(QMessageBox):
    """A message box of plain text."""

    def __init__(
        self,
        icon: QMessageBox.Icon,
        title: str,
        text: str,
        parent: QWidget | None = None,
        buttons: QMessageBox.StandardButton = QMessageBox.StandardButton.Ok,
    ) -> None:
        super().__init__(parent)
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.setIcon(icon)
        self.setWindowTitle(title)
        self.setText(text)
        self.setStandardButtons(buttons)

    def setInformativeText(self, text: str) -> None:
        super().setInformativeText(plain(text))
