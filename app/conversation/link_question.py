"""The message box that shows the address of a link and asks whether to open it."""

from PySide6.QtCore import QCoreApplication, Qt, QUrl
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QMessageBox, QWidget

from app.widgets.plain_text import PlainMessageBox

# Links with other schemes (a file, a script) are not opened: they could start a program on this machine.
OPENABLE = ("http", "https", "mailto")


def ask_to_open(parent: QWidget, url: QUrl) -> QMessageBox:
    """Ask whether to open a link, or say that it cannot be opened. Return the message box at once, without
    waiting for the user; it deletes itself when closed."""
    box = PlainMessageBox(QMessageBox.Icon.NoIcon, "", "", parent)
    box.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    box.setInformativeText(url.toDisplayString())
    if url.scheme().lower() in OPENABLE:
        box.setText(QCoreApplication.translate("link_question", "Open this link in your browser?"))
        box.setStandardButtons(QMessageBox.StandardButton.Open | QMessageBox.StandardButton.Cancel)
        box.setDefaultButton(QMessageBox.StandardButton.Cancel)
        box.button(QMessageBox.StandardButton.Open).clicked.connect(lambda: QDesktopServices.openUrl(url))
    else:
        box.setText(QCoreApplication.translate("link_question", "Links of this kind are not opened."))
    box.open()
    return box
