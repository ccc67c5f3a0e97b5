"""The icon in the system tray, and its notifications."""

from PySide6.QtCore import QObject, Signal
from PySide6.QtGui import QIcon
from PySide6.QtWidgets import QMenu, QSystemTrayIcon, QWidget

from app import formatting
from app.widgets.plain_text import unmarked

SHOWN_MS = 10_000
LONG_S = 15.0  # only longer answers are announced; users rarely switch away for less


class Tray(QObject):
    """A tray icon with a menu, which also sends notifications. Does nothing on a desktop without a tray, and
    sends no notifications to a desktop that does not support them.

    Attributes:
        icon: the tray icon.

    Signals:
        raise_asked: the user wants to see the window.
        quit_asked: the user wants to end the program.
    """

    raise_asked = Signal()
    quit_asked = Signal()

    def __init__(self, drawn: QIcon, parent: QWidget) -> None:
        super().__init__(parent)
        self.icon = QSystemTrayIcon(drawn, self)
        self.icon.setToolTip("SpecExec Desktop")
        self._menu = QMenu(parent)
        self._menu.addAction(self.tr("Show window"), self.raise_asked.emit)
        self._menu.addAction(self.tr("Quit"), self.quit_asked.emit)
        self.icon.setContextMenu(self._menu)
        self.icon.activated.connect(self._activate)
        self.icon.messageClicked.connect(self.raise_asked)
        if QSystemTrayIcon.isSystemTrayAvailable():
            self.icon.show()

    def tell_answered(self, title: str, text: str) -> None:
        """Notify the user that an answer is complete. title: heading of the notification; "" stands for a
        general one."""
        if self.icon.isVisible() and QSystemTrayIcon.supportsMessages():
            heading = title or self.tr("Answer complete")
            self.icon.showMessage(
                unmarked(heading), unmarked(formatting.excerpt(text)), self.icon.icon(), SHOWN_MS
            )

    def _activate(self, reason: QSystemTrayIcon.ActivationReason) -> None:
        if reason == QSystemTrayIcon.ActivationReason.Trigger:
            self.raise_asked.emit()


def is_worth(seconds: float, *, in_front: bool, wanted: bool) -> bool:
    """Return whether the user should be notified that an answer is complete.

    Args:
        seconds: how long the answer took.
        in_front: whether the program's window has the focus.
        wanted: whether the user wants notifications.
    """
    return wanted and not in_front and seconds >= LONG_S
