"""One thread asks for a stop; others obey wherever they are: at work, waiting, or in a read that gets no
byte."""

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress


class Stopped(Exception):
    """Not an error: somebody asked for it."""


class Stop:
    """Thread-safe. Serves once: there is no way back."""

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
                    # Of the plain socket: TLS's own shutdown would take the session from under a reader.
                    socket.socket.shutdown(connected, socket.SHUT_RDWR)

    def check(self) -> None:
        if self.asked:
            raise Stopped

    def wait(self, seconds: float) -> None:
        """Raises `Stopped` as soon as that is asked for."""
        if self._asked.wait(seconds):
            raise Stopped

    @contextmanager
    def hanging_up(self, connected: socket.socket) -> Iterator[None]:
        """A stop ends what is read from `connected` at once."""
        with self._lock:
            self.check()
            self._sockets.add(connected)
        try:
            yield
        finally:
            with self._lock:
                self._sockets.discard(connected)
