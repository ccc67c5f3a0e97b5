"""The client's end of the connection: send requests, receive events, leave.

Knows neither torch nor Qt. The engine's end is `engine.serving.process`.
"""

import threading
from collections import deque
from collections.abc import Callable, Iterator
from multiprocessing import Pipe
from multiprocessing.connection import Connection, wait

from filelock import Timeout
from msgspec import structs

from engine.errors import EngineGone
from engine.protocol import messages
from engine.protocol.engine_process import SHUTDOWN_TIMEOUT_S, JoinedEngine, StartedEngine, log_path
from engine.protocol.rendezvous import Rendezvous

# Until it connects, the engine process imports few libraries, which takes well under a second unless the disk
# is busy.
START_TIMEOUT_S = 60.0
RENDEZVOUS_TIMEOUT_S = 90.0  # while another client starts an engine


class EngineConnection:
    """The connection to one engine process, from the start of the process, or from joining it, to its end.

    `post`, `close` and `end` may be called from any thread and never wait. `events` is used by one thread,
    which sleeps until there is an event to receive or a request to send, or until the connection ends.
    """

    def __init__(
        self, engine: StartedEngine | JoinedEngine, connected: Callable[[], None] = lambda: None
    ) -> None:
        """connected: is called once, when the connection is made or has failed."""
        self._engine = engine
        self._connected = connected
        self._outbox: deque[messages.Request] = deque()
        self._wake_reader, self._wake_writer = Pipe(duplex=False)
        self._lock = threading.Lock()
        self._closing = False
        self._timers: list[threading.Timer] = []

    @property
    def pid(self) -> int:
        return self._engine.pid

    @staticmethod
    def start() -> "EngineConnection":
        """Start an engine process for this client alone, to which `events` then connects.

        Raises EngineGone if it cannot be started.
        """
        return EngineConnection(StartedEngine.start())

    @staticmethod
    def share() -> "EngineConnection":
        """Join the engine that another process of this program shares, or start one that others can join. May
        wait while another process starts one.

        Raises EngineGone if it cannot be started.
        """
        rendezvous = Rendezvous.of_this_program()
        try:
            lock = rendezvous.lock()
            lock.acquire(RENDEZVOUS_TIMEOUT_S)
        except (OSError, Timeout):  # a folder that cannot be written: do without others
            return EngineConnection.start()
        try:
            announced = rendezvous.announced()
            joined = JoinedEngine.join(announced) if announced else None
            return EngineConnection(joined or StartedEngine.start(rendezvous), lock.release)
        except BaseException:
            lock.release()
            raise

    @staticmethod
    def join() -> "EngineConnection | None":
        """Join the engine that another process of this program shares; return None if there is none."""
        rendezvous = Rendezvous.of_this_program()
        try:
            lock = rendezvous.lock()
            lock.acquire(RENDEZVOUS_TIMEOUT_S)
        except (OSError, Timeout):
            return None
        try:
            announced = rendezvous.announced()
            if announced and (joined := JoinedEngine.join(announced)):
                return EngineConnection(joined, lock.release)
        except BaseException:
            lock.release()
            raise
        lock.release()
        return None

    def post(self, request: messages.Request) -> None:
        """Queue a request and wake the thread in `events`, which sends it. Does nothing after `close`."""
        with self._lock:
            if self._closing:
                return
            self._outbox.append(request)
            self._wake()

    def close(self) -> None:
        """Leave the engine, which ends with its last client. The thread in `events` waits until it has ended
        or goes on for others, and then returns."""
        self._finish(messages.Leave(id=0))

    def end(self) -> None:
        """End the engine, whoever else uses it; otherwise as `close`."""
        self._finish(messages.Shutdown(id=0))

    def _finish(self, request: messages.Leave | messages.Shutdown) -> None:
        with self._lock:
            if self._closing:
                return
            self._closing = True
            self._outbox.append(request)
            # Make the engine end in bounded time, even if it is still starting or reads no requests.
            try:
                self._limit(SHUTDOWN_TIMEOUT_S)
            except RuntimeError:  # the system starts no thread for the timer
                self._engine.kill()
            self._wake()

    def events(self) -> Iterator[messages.Event]:
        """Connect, then yield events until `close` is called or the connection is lost.

        If it is lost, the last event is EngineLost. Raises EngineGone if the engine does not start.
        """
        goes_on = False  # whether the engine has other clients
        try:
            with self._connect() as connection:
                for event in self._listen(connection):
                    if isinstance(event, messages.Left):
                        goes_on = not event.ends
                        return
                    if not self._closing:
                        yield event
        except (OSError, EOFError):
            if not self._closing:
                yield self._lost()
        finally:
            self._release(goes_on)

    def _connect(self) -> Connection:
        limit = self._limit(START_TIMEOUT_S)
        try:
            return self._engine.connect()
        except EngineGone as error:
            if self._closing:
                raise EOFError from error
            raise
        finally:
            self._connected()
            limit.cancel()

    def _listen(self, connection: Connection) -> Iterator[messages.Event]:
        while True:
            limit = SHUTDOWN_TIMEOUT_S if self._closing else None
            readable = wait([connection, self._wake_reader], limit)
            if not readable:
                return
            for ready in readable:
                if ready is connection:
                    yield messages.decode_event(connection.recv_bytes())
                    continue
                self._wake_reader.recv_bytes()
                self._send_outbox(connection)

    def _limit(self, seconds: float) -> threading.Timer:
        """Return a started timer that kills the engine process after `seconds`, unless it is cancelled."""
        timer = threading.Timer(seconds, self._engine.kill)
        timer.daemon = True
        timer.start()
        self._timers.append(timer)
        return timer

    def _send_outbox(self, connection: Connection) -> None:
        while True:
            with self._lock:
                if not self._outbox:
                    return
                request = self._outbox.popleft()
            connection.send_bytes(messages.encode(request))

    def _wake(self) -> None:
        """Wake the thread in `events`.

        Call while holding the lock, and only if `_closing` was not set when the lock was taken:
        `_release` sets it before it closes the pipe.
        """
        self._wake_writer.send_bytes(b"\0")

    def _lost(self) -> messages.EngineLost:
        lost = messages.EngineLost(
            exit_code=self._engine.exit_code(),
            message="The engine process ended unexpectedly.",
            hint="Restart the engine; the chat is kept. If it happens again, read the log.",
            log_path=str(log_path()),
        )
        if lost.card_failed:
            return structs.replace(
                lost,
                message="The graphics card stopped with an error, and the engine with it.",
                hint="Restart the engine: it will take a safer way on the card. The chat is kept."
                if lost.next_is_safer
                else "Restart the engine; the chat is kept. If it happens again, restart the computer.",
            )
        if not lost.killed:
            return lost
        return structs.replace(
            lost,
            message="The system ended the engine, most likely because memory ran out.",
            hint="Restart the engine: it will use less memory. The chat is kept.",
        )

    def _release(self, goes_on: bool) -> None:
        """Leave no process and no open pipe behind, except an engine that others use."""
        with self._lock:
            self._closing = True
        self._engine.release(goes_on=goes_on)
        for timer in self._timers:
            timer.cancel()
            timer.join()
        self._wake_reader.close()
        self._wake_writer.close()
