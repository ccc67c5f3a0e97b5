"""The icon beside the clock and the notices that come from it."""

from PySide6.QtCore import QObject, Signal
from PySide6.QtGui import QIcon
from PySide6.QtWidgets import QMenu, QSystemTrayIcon, QWidget

from app.notification import excerpt

SHOWN_MS = 10_000


class Tray(QObject):
    """Where the desktop has no tray, or shows no notices, nothing is shown and nothing fails.

    Attributes:
        icon: in the tray.

    Signals:
        raise_asked: show the window.
        quit_asked: end the program.
    """

    raise_asked = Signal()
    quit_asked = Signal()

    def __init__(self, drawn: QIcon, parent: QWidget) -> None:
        super().__init__(parent)
        self.icon = QSystemTrayIcon(drawn, self)
        self.icon.setToolTip("SpecExec Desktop")
        self._menu = QMenu(parent)
        self._menu.addAction(self.tr("Show the window"), self.raise_asked.emit)
        self._menu.addAction(self.tr("Quit"), self.quit_asked.emit)
        self.icon.setContextMenu(self._menu)
        self.icon.activated.connect(self._activate)
        self.icon.messageClicked.connect(self.raise_asked)
        if QSystemTrayIcon.isSystemTrayAvailable():
            self.icon.show()

    def tell_answered(self, title: str, text: str) -> None:
        """An answer is complete. title: its chat's."""
        if self.icon.isVisible() and QSystemTrayIcon.supportsMessages():
            heading = title or self.tr("The answer is complete")
            self.icon.showMessage(heading, excerpt(text), self.icon.icon(), SHOWN_MS)

    def _activate(self, reason: QSystemTrayIcon.ActivationReason) -> None:
        if reason == QSystemTrayIcon.ActivationReason.Trigger:
            self.raise_asked.emit()
