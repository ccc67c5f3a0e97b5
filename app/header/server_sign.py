"""The sign in the header that says that the local server runs."""

from PySide6.QtCore import QSize
from PySide6.QtWidgets import QToolButton, QWidget

from app.local_server.local_server import LocalServer, ServerState
from app.widgets.icons import icon
from app.widgets.plain_text import plain


class ServerSign(QToolButton):
    """A button, hidden unless the server runs, that leads to its settings."""

    def __init__(self, server: LocalServer, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setIcon(icon("server"))
        self.setIconSize(QSize(20, 20))
        self._server = server
        server.changed.connect(self._show)
        self._show()

    def _show(self) -> None:
        server = self._server
        self.setVisible(server.state is ServerState.RUNNING)
        text = self.tr("The local server runs at {}").format(server.address)
        self.setToolTip(plain(text))
        self.setAccessibleName(text)
