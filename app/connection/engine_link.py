"""The adapter that turns the engine's events into Qt signals. It does not depend on what the events mean.

`EngineLink` lives on the GUI thread; `_Reader` is the one thread that reads from the engine process.
"""

import logging
import threading
from collections.abc import Callable, Iterator
from typing import Protocol

from PySide6.QtCore import QElapsedTimer, QObject, Qt, QThread, QTimer, Signal

from app.connection.mailbox import Mailbox
from engine.errors import NO_THREADS, EngineGone, SpecExecError, SystemLimit, refused_by_system
from engine.protocol.connection import EngineConnection
from engine.protocol.engine_process import log_path
from engine.protocol.messages import EngineLost, Event, Request

logger = logging.getLogger(__name__)

FRAME_MS = 34  # the window is updated at most 30 times a second


class EngineChannel(Protocol):
    """The methods of `EngineConnection` that a link uses."""

    def post(self, request: Request) -> None: ...

    def close(self) -> None: ...

    def end(self) -> None: ...

    def events(self) -> Iterator[Event]: ...


class EngineLink(QObject):
    """Runs one engine process and emits its events on the GUI thread, in batches at most 30 times a second.

    Every method is called on the GUI thread and returns at once.

    Signals:
        received: engine.protocol.messages.Event, one at a time, in order.
        ended: the engine and the reader thread have ended; `start` may be called again.
    """

    received = Signal(object)
    ended = Signal()

    def __init__(
        self, connect: Callable[[], EngineChannel] = EngineConnection.share, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._connect = connect
        self._reader: _Reader | None = None
        self._start_again = False
        self._since_delivery = QElapsedTimer()
        self._timer = QTimer(self, singleShot=True, timerType=Qt.TimerType.PreciseTimer)
        self._timer.timeout.connect(self._deliver)

    @property
    def is_running(self) -> bool:
        return self._reader is not None

    def start(self) -> None:
        """Start an engine; if one is still ending, start the new one after it."""
        if self._reader is not None:
            self._start_again = True
            return
        self._reader = _Reader(self._connect)
        self._reader.arrived.connect(self._schedule)
        self._reader.finished.connect(self._reader_finished)
        self._reader.start()
        if not (self._reader.isRunning() or self._reader.isFinished()):  # the system starts no thread
            self._reader.fail(SystemLimit(*NO_THREADS))
            self._reader_finished()

    def post(self, request: Request) -> None:
        """Send a request; it is dropped if no engine runs. `EngineLost` reports the loss of an engine."""
        if self._reader is not None:
            self._reader.post(request)

    def close(self) -> None:
        """Leave the engine, which ends if nobody else uses it. `ended` follows; if no engine runs, it is
        emitted at once."""
        self._finish(for_all=False)

    def end(self) -> None:
        """End the engine, whoever else uses it; otherwise as `close`."""
        self._finish(for_all=True)

    def _finish(self, *, for_all: bool) -> None:
        self._start_again = False
        if self._reader is None:
            self.ended.emit()
        else:
            self._reader.close(for_all=for_all)

    def _schedule(self) -> None:
        if not self._timer.isActive():
            waited = self._since_delivery.elapsed() if self._since_delivery.isValid() else FRAME_MS
            self._timer.start(max(0, FRAME_MS - waited))

    def _deliver(self) -> None:
        self._since_delivery.start()
        if self._reader is not None:
            for event in self._reader.mailbox.take():
                self.received.emit(event)

    def _reader_finished(self) -> None:
        assert self._reader is not None
        self._timer.stop()
        self._deliver()
        self._reader.wait()  # returns at once: `finished` is the last thing the thread emits
        self._reader.deleteLater()
        self._reader = None
        if self._start_again:
            self._start_again = False
            self.start()
        else:
            self.ended.emit()


class _Reader(QThread):
    """A thread that starts an engine and reads its events until the engine has ended.

    Only `run` executes on this thread; `post` and `close` are called on the GUI thread and never wait.

    Attributes:
        mailbox: events read but not yet delivered.

    Signals:
        arrived: the mailbox is no longer empty.
    """

    arrived = Signal()

    def __init__(self, connect: Callable[[], EngineChannel]) -> None:
        super().__init__()
        self.setObjectName("engine link")
        self.mailbox = Mailbox()
        self._connect = connect
        self._connection: EngineChannel | None = None
        self._closing = False
        self._has_started = False
        self._lock = threading.Lock()

    def post(self, request: Request) -> None:
        if self._connection is not None:
            self._connection.post(request)

    def close(self, *, for_all: bool) -> None:
        """for_all: whether to end the engine, even if others use it."""
        with self._lock:
            self._closing = True
            if self._connection is None:
                return
            if for_all:
                self._connection.end()
            else:
                self._connection.close()

    def fail(self, error: SpecExecError) -> None:
        """Report that there is no engine, and why."""
        self._put(_lost(error.message, error.hint))

    def run(self) -> None:
        try:
            self._read()
        except SpecExecError as error:
            self.fail(error)
        except Exception as error:  # the thread ends here, so any failure must be reported to the window
            logger.exception("reading from the engine failed")
            garbage = EngineGone(
                "The engine sent something that cannot be read.", "Restart the engine; the chat is kept."
            )
            self.fail(refused_by_system(error) or garbage)

    def _read(self) -> None:
        try:
            self._read_from(self._connect())
        except EngineGone as error:
            if self._has_started or self._closing:
                raise
            logger.warning("%s It is started once more.", error)
            self._read_from(self._connect())

    def _read_from(self, connection: EngineChannel) -> None:
        with self._lock:
            self._connection = connection
            if self._closing:
                connection.close()
        for event in connection.events():
            self._has_started = True
            self._put(event)

    def _put(self, event: Event) -> None:
        if self.mailbox.put(event):
            self.arrived.emit()


def _lost(message: str, hint: str) -> EngineLost:
    return EngineLost(exit_code=None, message=message, hint=hint, log_path=str(log_path()))
