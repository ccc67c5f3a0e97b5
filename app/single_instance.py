"""One window for each user: a second start raises the first one's."""

import getpass
import hashlib
from pathlib import Path

import platformdirs
from PySide6.QtCore import QLockFile, QObject, Signal
from PySide6.QtNetwork import QLocalServer, QLocalSocket

WAIT_MS = 2_000


class SingleInstance(QObject):
    """Holds a lock while it lives. The lock names its process, so that one left by a crash does not count.

    Attributes:
        is_first: no other one runs for this user.

    Signals:
        raise_asked: another one was started, and went.
    """

    raise_asked = Signal()

    def __init__(self, folder: Path | None = None, parent: QObject | None = None) -> None:
        """folder: of the lock; one of the user's own."""
        super().__init__(parent)
        folder = folder or platformdirs.user_data_path("specexec-desktop", appauthor=False)
        folder.mkdir(parents=True, exist_ok=True)
        self._name = server_name(folder)
        self._lock = QLockFile(str(folder / "window.lock"))
        self._lock.setStaleLockTime(0)  # it is stale when its process is gone, however old it is
        self.is_first = self._lock.tryLock(0) or self._lock.error() != QLockFile.LockError.LockFailedError
        self._server = QLocalServer(self)
        if self.is_first:
            self._listen()

    def _listen(self) -> None:
        self._server.setSocketOptions(QLocalServer.SocketOption.UserAccessOption)
        self._server.newConnection.connect(self._greet)
        self._server.listen(self._name)

    def _greet(self) -> None:
        while socket := self._server.nextPendingConnection():
            socket.disconnected.connect(socket.deleteLater)
            socket.disconnectFromServer()
            self.raise_asked.emit()

    def raise_first(self) -> bool:
        """Ask the first one to show itself; False where it does not answer."""
        socket = QLocalSocket()
        socket.connectToServer(self._name)
        if not socket.waitForConnected(WAIT_MS):
            return False
        return socket.state() == QLocalSocket.LocalSocketState.UnconnectedState or socket.waitForDisconnected(
            WAIT_MS
        )

    def close(self) -> None:
        """From now on another one may be the first."""
        self._server.close()
        self._lock.unlock()


def server_name(folder: Path) -> str:
    """The user's own, and short: socket paths may have about 100 bytes."""
    whose = f"{getpass.getuser()}\0{folder.resolve()}"
    return f"specexec-desktop-{hashlib.sha256(whose.encode()).hexdigest()[:16]}"
