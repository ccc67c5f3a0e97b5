"""A request to stop that reaches threads wherever they are: working, waiting, or blocked in a read."""

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress


class Stopped(Exception):
    """Raised in a thread to end it after a stop was requested; not an error."""


class Stop:
    """A request to stop, which cannot be withdrawn. Thread-safe."""

    def __init__(self) -> None:
        self._asked = threading.Event()
        self._lock = threading.Lock()
        self._sockets: set[socket.socket] = set()

    @property
    def asked(self) -> bool:
        return self._asked.is_set()

    def ask(self) -> None:
        with self._lock:
            self._asked.set()
            for connected in self._sockets:
                with suppress(OSError):
                    # Not the TLS socket's own shutdown, which would end the session while a thread reads.
                    socket.socket.shutdown(connected, socket.SHUT_RDWR)

    def check(self) -> None:
        if self.asked:
            raise Stopped

    def wait(self, seconds: float) -> None:
        """Wait for `seconds`. Raises `Stopped` as soon as a stop is requested."""
        if self._asked.wait(seconds):
            raise Stopped

    @contextmanager
    def hanging_up(self, connected: socket.socket) -> Iterator[None]:
        """While the block runs, let a stop shut down the socket `connected`.

        This ends a blocked read at once. Raises `Stopped` if a stop was requested already.
        """
        with self._lock:
            self.check()
            self._sockets.add(connected)
        try:
            yield
        finally:
            with self._lock:
                self._sockets.discard(connected)
