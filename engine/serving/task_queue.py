"""The requests of all clients in the order of their arrival, and how they are cancelled."""

import threading
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field

from engine import interruption, protocol

Executable = protocol.Load | protocol.Chat | protocol.Unload | protocol.Forget

KINDS: dict[type[Executable], str] = {
    protocol.Load: "load",
    protocol.Chat: "chat",
    protocol.Unload: "unload",
    protocol.Forget: "forget",
}


@dataclass(eq=False, slots=True)
class QueuedTask:
    """A request of the client with the number `client`. The flag `cancelled` is set at most once."""

    client: int
    request: Executable
    cancelled: threading.Event = field(default_factory=threading.Event)

    @property
    def described(self) -> protocol.Task:
        asker = getattr(self.request, "asker", "")
        kind = KINDS[type(self.request)]
        return protocol.Task(client=self.client, request=self.request.id, kind=kind, asker=asker)  # type: ignore[arg-type]


class TaskQueue:
    """A queue of requests, of which the first one is executed. Every method may be called on any thread."""

    def __init__(self, changed: Callable[[list[protocol.Task]], None]) -> None:
        """changed: is told the requests, the first one first, after each change; must not wait."""
        self._changed = changed
        self._tasks: deque[QueuedTask] = deque()
        self._arrived = threading.Condition()
        self._is_closed = False

    def put(self, client: int, request: Executable) -> None:
        with self._arrived:
            self._tasks.append(QueuedTask(client, request))
            self._arrived.notify()
            self._tell()

    def cancel(self, client: int, request: int | None = None) -> None:
        """Cancel requests of a client: the one with the id `request`, or all."""
        with self._arrived:
            for task in self._tasks:
                if task.client == client and request in (None, task.request.id):
                    task.cancelled.set()
            if self._tasks and self._tasks[0].cancelled.is_set():
                interruption.interrupt()  # a compiled step may take seconds, and calls nobody meanwhile

    def forget(self, client: int) -> None:
        """Cancel a client's request in progress, and remove those that wait."""
        with self._arrived:
            self.cancel(client)
            first = list(self._tasks)[:1]
            self._tasks = deque(first + [task for task in list(self._tasks)[1:] if task.client != client])
            self._tell()

    def first(self) -> QueuedTask | None:
        """Wait for a request, and return it to be executed; it stays in the queue until `done`. Return None
        once the queue is closed."""
        with self._arrived:
            self._arrived.wait_for(lambda: self._tasks or self._is_closed)
            if self._is_closed:
                return None
            if not self._tasks[0].cancelled.is_set():
                interruption.resume()
            return self._tasks[0]

    def done(self) -> None:
        """Remove the first request."""
        with self._arrived:
            self._tasks.popleft()
            self._tell()

    def has_work(self) -> bool:
        """Return whether there is a request, or the queue is closed."""
        with self._arrived:
            return bool(self._tasks) or self._is_closed

    def close(self) -> None:
        """Cancel all requests, and let `first` return None."""
        with self._arrived:
            self._is_closed = True
            for task in self._tasks:
                task.cancelled.set()
            interruption.interrupt()
            self._arrived.notify()

    def _tell(self) -> None:
        self._changed([task.described for task in self._tasks])
