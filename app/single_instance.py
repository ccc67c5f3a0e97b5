"""One window for each user: a second start raises the first one's, and hands it the file it was to open."""

import getpass
import hashlib
import json
from pathlib import Path

import platformdirs
from PySide6.QtCore import QLockFile, QObject, Signal
from PySide6.QtNetwork import QLocalServer, QLocalSocket

WAIT_MS = 2_000


class SingleInstance(QObject):
    """Holds a lock while it lives. The lock names its process, so that one left by a crash does not count.

    A second one sends one line over a local socket: the file's path as JSON, or null; the first one hangs up.

    Attributes:
        is_first: no other one runs for this user.

    Signals:
        raise_asked: another one was started, and went.
        file_asked: Path that the other one was to open
    """

    raise_asked = Signal()
    file_asked = Signal(object)

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
            socket.readyRead.connect(self._hear)
            self._read(socket)

    def _hear(self) -> None:
        socket = self.sender()
        assert isinstance(socket, QLocalSocket)
        self._read(socket)

    def _read(self, socket: QLocalSocket) -> None:
        if not socket.canReadLine():
            return
        said = bytes(socket.readLine().data())
        socket.disconnectFromServer()
        self.raise_asked.emit()
        if file := _decoded(said):
            self.file_asked.emit(file)

    def raise_first(self, file: Path | None = None) -> bool:
        """Ask the first one to show itself, and the file; False where it does not answer."""
        socket = QLocalSocket()
        socket.connectToServer(self._name)
        if not socket.waitForConnected(WAIT_MS):
            return False
        socket.write(json.dumps(file and str(file)).encode() + b"\n")
        socket.flush()
        return socket.state() == QLocalSocket.LocalSocketState.UnconnectedState or socket.waitForDisconnected(
            WAIT_MS
        )

    def close(self) -> None:
        """From now on another one may be the first."""
        self._server.close()
        self._lock.unlock()


def _decoded(said: bytes) -> Path | None:
    try:
        file = json.loads(said)
    except ValueError:
        return None
    return Path(file) if isinstance(file, str) and file else None


def server_name(folder: Path) -> str:
    """The user's own, and short: socket paths may have about 100 bytes."""
    whose = f"{getpass.getuser()}\0{folder.resolve()}"
    return f"specexec-desktop-{hashlib.sha256(whose.encode()).hexdigest()[:16]}"
