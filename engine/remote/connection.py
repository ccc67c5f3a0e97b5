"""A client's connection to one engine elsewhere, with the methods of `EngineConnection`."""

import logging
import os
import queue
import threading
from collections.abc import Iterator
from importlib.metadata import version

from engine import protocol
from engine.errors import NO_THREADS, Interrupted, SpecExecError, SystemLimit, refused_by_system
from engine.hub.stop import Stop, Stopped
from engine.remote.engines import AddedEngine
from engine.remote.session import RemoteSession
from engine.remote.worker import Worker

log = logging.getLogger(__name__)


class RemoteConnection:
    """The connection to one engine elsewhere. Nothing is sent there before the first request.

    `post`, `close` and `end` may be called from any thread and never wait. `events` is used by one thread,
    which sleeps until there is an event, or until the connection ends. One thread of its own executes
    requests in their order, and one counts tokens; a cancelled request closes its HTTP connection at once.
    """

    def __init__(self, engine: AddedEngine) -> None:
        self._session = RemoteSession(engine)
        self._events: queue.SimpleQueue[protocol.Event | None] = queue.SimpleQueue()
        self._work = Worker("remote engine", self._execute)
        self._counting = Worker("remote count", self._execute)
        self._closing = threading.Event()
        self._events.put(
            protocol.Ready(engine_version=version("specexec-desktop"), pid=os.getpid(), client=0)
        )

    @property
    def pid(self) -> int:
        return os.getpid()

    def post(self, request: protocol.Request) -> None:
        """Execute a request after those before it. Does nothing after `close`."""
        match request:
            case _ if self._closing.is_set():
                pass
            case protocol.Cancel():
                self._work.cancel(request.request)
            case protocol.Leave() | protocol.Shutdown():
                self.close()
            case _:
                worker = self._counting if isinstance(request, protocol.Count) else self._work
                try:
                    worker.put(request)
                except RuntimeError:
                    self._fail(request, SystemLimit(*NO_THREADS))

    def close(self) -> None:
        """Close all HTTP connections to the engine, which goes on for others. `events` then returns."""
        if not self._closing.is_set():
            self._closing.set()
            self._work.cancel(None)
            self._counting.cancel(None)
            self._events.put(None)

    def end(self) -> None:
        """The same as `close`: an engine elsewhere is not this program's to end."""
        self.close()

    def events(self) -> Iterator[protocol.Event]:
        """Yield events until `close` is called."""
        try:
            while (event := self._events.get()) is not None:
                if not self._closing.is_set():
                    yield event
        finally:
            self.close()

    def _execute(self, request: protocol.Request, stop: Stop) -> None:
        """Execute a request, whose last event is put whatever happens."""
        try:
            self._events.put(self._done(request, stop))
        except Exception as error:
            self._fail(request, _named(error))

    def _fail(self, request: protocol.Request, error: SpecExecError) -> None:
        self._events.put(
            protocol.Failed(
                request=request.id,
                kind=error.kind,
                message=error.message,
                hint=error.hint,
                loaded=self._session.loaded is not None,
            )
        )

    def _done(self, request: protocol.Request, stop: Stop) -> protocol.Event:
        match request:
            case protocol.Load():
                return self._session.load(request, stop)
            case protocol.Chat():
                return self._session.answer(request, self._events.put, stop)
            case protocol.Count():
                return self._session.count(request, stop)
            case _:
                self._session.unload()
                return protocol.Unloaded(request.id)


def _named(error: Exception) -> SpecExecError:
    """Return the error to show for what a request raised. An internal one must not end the conversation; the
    log has its traceback."""
    if isinstance(error, SpecExecError):
        return error
    if isinstance(error, Stopped):
        return Interrupted("The request was cancelled.", "Ask again to restart it.")
    log.error("a request to an engine elsewhere failed", exc_info=error)
    unknown = SpecExecError("Something went wrong with the engine elsewhere.", "Try again.")
    return refused_by_system(error) or unknown
