"""A thread that executes requests one after another; each of them can be stopped."""

import threading
from collections import deque
from collections.abc import Callable

from engine import protocol
from engine.hub.stop import Stop


class Worker:
    """Executes requests in their order. Its thread lives only while there are requests."""

    def __init__(self, name: str, execute: Callable[[protocol.Request, Stop], None]) -> None:
        """execute: must not raise."""
        self._name = name
        self._execute = execute
        self._requests: deque[tuple[protocol.Request, Stop]] = deque()  # the first one is being executed
        self._lock = threading.Lock()

    def put(self, request: protocol.Request) -> None:
        """Raises RuntimeError if the system starts no thread."""
        with self._lock:
            self._requests.append((request, Stop()))
            if len(self._requests) > 1:
                return
            try:
                threading.Thread(target=self._run, name=self._name, daemon=True).start()
            except RuntimeError:
                self._requests.clear()
                raise

    def cancel(self, id: int | None) -> None:
        """Ask the request `id` to stop; None: all."""
        with self._lock:
            stops = [stop for request, stop in self._requests if id in (None, request.id)]
        for stop in stops:
            stop.ask()

    def _run(self) -> None:
        while True:
            request, stop = self._requests[0]
            self._execute(request, stop)
            with self._lock:
                self._requests.popleft()
                if not self._requests:
                    return
