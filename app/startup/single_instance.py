"""One window per user: a second start raises the first window and passes it the file to open."""

import getpass
import hashlib
import json
import os
import sys
from pathlib import Path

import platformdirs
from PySide6.QtCore import QLockFile, QObject, Signal
from PySide6.QtNetwork import QLocalServer, QLocalSocket

from engine.documents import json_of
from engine.files import is_own_folder

WAIT_MS = 2_000
MOST_PATH = 100  # characters of a socket's path


class SingleInstance(QObject):
    """Finds out whether this process is the user's first instance, and connects later instances to the first.

    The first instance holds a lock file as long as it runs. The file names its process, so that a lock left
    behind by a crash is recognised as stale. A later instance sends the first one a line over a local socket:
    the path of the file to open as JSON, or null. The first instance then closes the connection.

    Attributes:
        is_first: whether no other instance runs for this user.

    Signals:
        raise_asked: another instance was started; it asks for this window to be shown.
        file_asked: Path, the file that the other instance was asked to open
    """

    raise_asked = Signal()
    file_asked = Signal(object)

    def __init__(self, folder: Path | None = None, parent: QObject | None = None) -> None:
        """folder: the folder that holds the lock file, by default the user's data folder."""
        super().__init__(parent)
        lock = lock_path(folder)
        lock.parent.mkdir(parents=True, exist_ok=True)
        self.address = server_name(lock.parent)
        self._lock = QLockFile(str(lock))
        self._lock.setStaleLockTime(0)  # a lock is stale only if its process is gone, however old it is
        self.is_first = self._lock.tryLock(0) or self._lock.error() != QLockFile.LockError.LockFailedError
        self._server = QLocalServer(self)
        if self.is_first:
            self._listen()

    @staticmethod
    def is_there(folder: Path | None = None) -> bool:
        """Return whether this user has an instance now. Needs no application."""
        lock = QLockFile(str(lock_path(folder)))
        lock.setStaleLockTime(0)
        if lock.tryLock(0):
            lock.unlock()
            return False
        return lock.error() == QLockFile.LockError.LockFailedError

    def _listen(self) -> None:
        self._server.setSocketOptions(QLocalServer.SocketOption.UserAccessOption)
        self._server.newConnection.connect(self._greet)
        self._server.listen(self.address)

    def _greet(self) -> None:
        while socket := self._server.nextPendingConnection():
            socket.disconnected.connect(socket.deleteLater)
            socket.readyRead.connect(self._read_sender)
            self._read(socket)

    def _read_sender(self) -> None:
        socket = self.sender()
        assert isinstance(socket, QLocalSocket)
        self._read(socket)

    def _read(self, socket: QLocalSocket) -> None:
        if not socket.canReadLine():
            return
        line = bytes(socket.readLine().data())
        socket.disconnectFromServer()
        self.raise_asked.emit()
        if file := _decoded(line):
            self.file_asked.emit(file)

    def raise_first(self, file: Path | None = None) -> bool:
        """Ask the first instance to show its window and open `file`. Return False if it does not answer."""
        socket = QLocalSocket()
        socket.connectToServer(self.address)
        if not socket.waitForConnected(WAIT_MS):
            return False
        socket.write(json.dumps(file and str(file)).encode() + b"\n")
        socket.flush()
        return socket.state() == QLocalSocket.LocalSocketState.UnconnectedState or socket.waitForDisconnected(
            WAIT_MS
        )

    def close(self) -> None:
        """Release the lock, so that another instance can be the first."""
        self._server.close()
        self._lock.unlock()


def lock_path(folder: Path | None) -> Path:
    """Return the path of the lock file, by default in the user's data folder."""
    return (folder or platformdirs.user_data_path("specexec-desktop", appauthor=False)) / "window.lock"


def _decoded(line: bytes) -> Path | None:
    try:
        file = json_of(line, str)
    except ValueError:
        return None
    return Path(file) if file else None


def server_name(folder: Path) -> str:
    """Return the address of the local socket, which differs between users and folders.

    On Windows it is a name; elsewhere it is a path in a folder where only the user can write, so that nobody
    else can be there first. Paths of sockets are limited to about 100 bytes; if none fits, it is a name in
    the folder for temporary files.
    """
    user = getpass.getuser() if sys.platform == "win32" else os.getuid()  # which may have no name
    whose = f"{user}\0{folder.resolve()}"
    name = f"specexec-desktop-{hashlib.sha256(whose.encode()).hexdigest()[:16]}"
    if sys.platform != "win32":
        runtime = os.environ.get("XDG_RUNTIME_DIR", "")
        for place in [Path(runtime, "specexec-desktop"), folder][not runtime :]:
            if len(str(place / name)) < MOST_PATH and is_own_folder(place):
                return str(place / name)
    return name
