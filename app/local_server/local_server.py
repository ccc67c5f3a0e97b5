"""The local server as the window sees it: a child process that ends with the window. Imports no widgets."""

import json
from enum import Enum, auto
from pathlib import Path

from PySide6.QtCore import QObject, QProcess, QProcessEnvironment, QTimer, Signal

from app.background import Work
from app.connection.engine import Engine, State
from app.local_server.server_command import needs_key, server_command
from app.local_server.server_key import ServerKey, kept_key, new_key
from app.preferences import PreferencesFile, ServerPreferences, load_request
from engine.errors import EngineGone, SpecExecError
from engine.files import make_private_folder, open_private
from engine.launch import interpreter
from engine.protocol.engine_process import log_path
from engine.protocol.messages import Load

END_MS = 8_000  # a server that has not ended by then is killed; it gives answers in progress 5 s
CLOSE_MS = 1_000  # and so long when the program ends
KEY_VARIABLE = "SPECEXEC_KEY"
KEY, NEW_KEY = "key", "new key"  # kinds of background work
LOG_NBYTES = 1 << 20  # a longer log is begun anew


class ServerState(Enum):
    OFF = auto()
    STARTING = auto()  # also while the window's model is loaded, or the keyring is asked for the key
    RUNNING = auto()
    ENDING = auto()
    FAILED = auto()  # it could not be started, or it ended unexpectedly


class LocalServer(QObject):
    """Runs `specexec serve`, which joins the window's engine and so serves the model that is loaded there.

    The server ends when its standard input does, and so with this process, however that ends. Everything
    here runs on the GUI thread, and returns at once. The keyring is asked for the key on another thread,
    since it may wait for the user to unlock it; the process is started once the key has arrived.

    Attributes:
        state: what the process is doing.
        address: the URL that clients use, such as "http://127.0.0.1:8484/v1"; "" unless it runs.
        key: the key that clients must give; "": none.
        is_key_in_file: whether the key is kept in a file, because no keyring takes it.
        error: why it failed, or None.
        running_with: the preferences with which it was started.

    Signals:
        changed: one of the attributes changed
        not_renewed: SpecExecError, why there is no new key; the present one stays
    """

    changed = Signal()
    not_renewed = Signal(object)

    def __init__(self, engine: Engine, preferences: PreferencesFile, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.state = ServerState.OFF
        self.address = self.key = ""
        self.is_key_in_file = False
        self.error: SpecExecError | None = None
        self.running_with = ServerPreferences()
        self._engine, self._preferences = engine, preferences
        self._process: QProcess | None = None
        self._starts_again = False
        self._work = Work(self)
        self._arrived: ServerKey | None = None  # the key, between its arrival and the start of the process
        self._patience = QTimer(self, singleShot=True, interval=END_MS)
        self._patience.timeout.connect(self._kill)
        engine.state_changed.connect(self._follow_engine)

    @property
    def is_on(self) -> bool:
        """Whether the server runs, or is about to."""
        return self.state in (ServerState.STARTING, ServerState.RUNNING) or self._starts_again

    @property
    def asks_keyring(self) -> bool:
        """Whether the start waits for the key."""
        return self._work.is_running(KEY)

    @property
    def renews_key(self) -> bool:
        return self._work.is_running(NEW_KEY)

    def start(self) -> None:
        """Start the server; once the window's model is loaded, if it is being loaded."""
        if self.state is ServerState.ENDING:
            self._starts_again = True
        elif not self.is_on:
            self.error = None
            self._enter(ServerState.STARTING)
            self._follow_engine(self._engine.state)

    def stop(self) -> None:
        """End the server; answers in progress have 5 s."""
        self._starts_again = False
        self._work.forget(KEY)
        self._arrived = None
        if self._process is None:
            self.error = None
            self._enter(ServerState.OFF)
        elif self.state is not ServerState.ENDING:
            self._process.closeWriteChannel()
            self._patience.start()
            self._enter(ServerState.ENDING)

    def restart(self) -> None:
        """End the server, and start it with the present preferences."""
        self.stop()
        self.start()

    def renew_key(self) -> None:
        """Make another key. A server that runs is started again with it, and so is one that failed."""
        self._work.run(NEW_KEY, lambda stop: new_key(), self._use_new_key, self._keep_old_key)
        self.changed.emit()

    def close(self) -> None:
        """End the server at once. Called when the program ends; waits for a second at most."""
        self.stop()
        process = self._process
        if process is not None and not process.waitForFinished(CLOSE_MS):
            process.kill()
            process.waitForFinished()

    @property
    def model(self) -> str:
        """The name of the model that it serves; "" while none is loaded."""
        return self._engine.pair.target.name if self._engine.pair else ""

    @staticmethod
    def log() -> Path:
        return log_path().with_name("server.log")

    # -- the process -----------------------------------------------------------------------------------------

    def _follow_engine(self, state: State) -> None:
        """Start the process if one is wanted: not before the window has loaded its own model, since the
        server would load one if there is none."""
        is_loading = state in (State.STARTING, State.LOADING)
        if self.state is not ServerState.STARTING or self._process is not None or is_loading:
            return
        if self._arrived is None and needs_key(self._preferences.now.server):
            self._ask_for_key()
            return
        try:
            self._launch()
        except SpecExecError as error:
            self._fail(error)

    def _ask_for_key(self) -> None:
        if not self.asks_keyring:
            self._work.run(KEY, lambda stop: kept_key(), self._take_key, self._fail)
            self.changed.emit()

    def _take_key(self, key: ServerKey) -> None:
        self._arrived = key
        self._follow_engine(self._engine.state)

    def _use_new_key(self, key: ServerKey) -> None:
        if self.is_on or self.state is ServerState.FAILED:
            self.restart()
        self.changed.emit()

    def _keep_old_key(self, error: SpecExecError) -> None:
        self.changed.emit()
        self.not_renewed.emit(error)

    def _launch(self) -> None:
        """Start the process, with the key that has arrived if one is needed."""
        wanted = self.running_with = self._preferences.now.server
        key, self._arrived = self._arrived if needs_key(wanted) else None, None
        self.key, self.is_key_in_file = (key.text, key.is_in_file) if key else ("", False)
        program, *arguments = server_command(wanted, self._models())
        process = self._process = QProcess(self)
        environment = QProcessEnvironment.systemEnvironment()
        environment.remove(KEY_VARIABLE)
        if self.key:
            environment.insert(KEY_VARIABLE, self.key)
        process.setProcessEnvironment(environment)
        process.setWorkingDirectory(str(interpreter.ROOT))
        process.setStandardErrorFile(self._open_log(), QProcess.OpenModeFlag.Append)
        process.readyReadStandardOutput.connect(self._read)
        process.finished.connect(self._finish)
        process.errorOccurred.connect(self._take_error)
        process.start(program, arguments)

    def _models(self) -> Load:
        """Return the request for the models to serve: those in use here, or used last if the window uses an
        engine elsewhere."""
        now = self._preferences.now
        if self._engine.wanted.engine:
            return load_request(now.last_local, now.new_chats.context, now.loading)
        return self._engine.wanted

    def _open_log(self) -> str:
        """Return the path of the log, which only this user can read; that of no file if it cannot be
        written."""
        path = self.log()
        try:
            make_private_folder(path.parent)
            open_private(path, is_appended=not path.exists() or path.stat().st_size <= LOG_NBYTES).close()
        except OSError:
            return QProcess.nullDevice()
        return str(path)

    def _read(self) -> None:
        assert self._process is not None
        while self._process.canReadLine():
            match json.loads(bytes(self._process.readLine().data())):
                case {"address": str(address)} if self.state is ServerState.STARTING:
                    self.address = f"{address}/v1"
                    self._enter(ServerState.RUNNING)
                case {"error": {"kind": str(kind), "message": str(message), "hint": str(hint)}}:
                    self.error = self._as_error(kind, message, hint)

    def _as_error(self, kind: str, message: str, hint: str) -> SpecExecError:
        if kind == "address_taken":
            taken = self.tr("Another program uses port {} already.").format(self.running_with.port)
            return EngineGone(taken, self.tr("Choose another port below, then start the server again."))
        return EngineGone(message, hint)

    def _take_error(self, error: QProcess.ProcessError) -> None:
        if error is QProcess.ProcessError.FailedToStart and self._process is not None:
            self.error = EngineGone(
                self.tr("The local server cannot be started: {}").format(self._process.errorString()),
                self.tr("Free some memory and try again."),
            )
            self._finish()

    def _finish(self) -> None:
        """The process has ended."""
        assert self._process is not None
        self._read()
        self._patience.stop()
        self._process.deleteLater()
        self._process, self.address = None, ""
        if self.state is ServerState.ENDING:
            self.error = None
            self._enter(ServerState.OFF)
        else:
            ended = self.tr("The local server ended unexpectedly.")
            hint = self.tr("Start it again. If it happens again, read its log.")
            self._fail(self.error or EngineGone(ended, hint))
        if self._starts_again:
            self._starts_again = False
            self.start()

    def _kill(self) -> None:
        if self._process is not None:
            self._process.kill()

    def _fail(self, error: SpecExecError) -> None:
        self.error = error
        self._enter(ServerState.FAILED)

    def _enter(self, state: ServerState) -> None:
        self.state = state
        self.changed.emit()
