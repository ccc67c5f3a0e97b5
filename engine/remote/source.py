"""One engine among those that a program uses: a thread joins it and passes its events on."""

import logging
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Protocol

from engine import protocol
from engine.errors import NO_THREADS, EngineGone, SpecExecError, SystemLimit, refused_by_system

log = logging.getLogger(__name__)


class JoinableEngine(Protocol):
    """The methods of `EngineConnection` that are used here."""

    def post(self, request: protocol.Request) -> None: ...

    def close(self) -> None: ...

    def end(self) -> None: ...

    def events(self) -> Iterator[protocol.Event]: ...


@dataclass(frozen=True, slots=True)
class SourceEnded:
    """The last that a source delivers. problem: why it could not be joined, or nothing more can be read."""

    problem: SpecExecError | None


class JoinedSource:
    """An engine, under the name that `Load.engine` gives it. `post` and `close` never wait.

    Attributes: `is_closing`, whether it was left; `number`, this client's number there; `has_model`, whether
    it has loaded one.
    """

    def __init__(
        self,
        name: str,
        connect: Callable[[], JoinableEngine],
        deliver: Callable[["JoinedSource", protocol.Event | SourceEnded], None],
    ) -> None:
        """connect: joins the engine; may wait. deliver: is called on this source's own thread."""
        self.name = name
        self.is_closing = False
        self.number = 0
        self.has_model = False
        self._connect, self._deliver = connect, deliver
        self._channel: JoinableEngine | None = None
        self._held: list[protocol.Request] = []  # posted before the engine was joined
        self._ends_all = False
        self._lock = threading.Lock()

    def start(self) -> None:
        try:
            threading.Thread(target=self._pass_on, name=f"engine {self.name}", daemon=True).start()
        except RuntimeError:
            self._deliver(self, SourceEnded(SystemLimit(*NO_THREADS)))

    def post(self, request: protocol.Request) -> None:
        with self._lock:
            if self._channel is None:
                self._held.append(request)
            else:
                self._channel.post(request)

    def close(self, *, for_all: bool = False) -> None:
        """Leave the engine. for_all: end it, even if others use it."""
        with self._lock:
            if self.is_closing:
                return
            self.is_closing, self._ends_all = True, for_all
            if self._channel is not None:
                self._leave(self._channel)

    def _leave(self, channel: JoinableEngine) -> None:
        if self._ends_all:
            channel.end()
        else:
            channel.close()

    def _pass_on(self) -> None:
        problem: SpecExecError | None = None
        try:
            channel = self._connect()
            with self._lock:
                self._channel = channel
                for request in self._held:
                    channel.post(request)
                if self.is_closing:
                    self._leave(channel)
            for event in channel.events():
                self._deliver(self, event)
        except SpecExecError as error:
            problem = error
        except Exception as error:  # the thread ends here, so any failure must be reported
            log.exception("reading from the engine failed")
            garbage = EngineGone("The engine sent something that cannot be read.", "Restart the engine.")
            problem = refused_by_system(error) or garbage
        finally:
            self._deliver(self, SourceEnded(problem))
