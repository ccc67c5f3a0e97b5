"""One client of the engine process: a thread reads its requests, another one sends it events."""

import logging
import os
import threading
from collections.abc import Callable
from multiprocessing.connection import Connection
from typing import NoReturn

from engine import protocol
from engine.errors import BadOption, SpecExecError

log = logging.getLogger("engine")


class ConnectedClient:
    """A client at the other end of a connection.

    Attributes: `number`, by which the engine tells its clients apart; `put`, a function that sends an event
    and never waits.
    """

    def __init__(
        self,
        number: int,
        connection: Connection,
        receive: Callable[["ConnectedClient", protocol.Request], None],
        lose: Callable[["ConnectedClient"], None],
    ) -> None:
        """receive: is given each request. lose: is called when the connection has ended. Both are called on
        the thread that reads."""
        self.number = number
        self._connection = connection
        self._receive, self._lose = receive, lose
        self._outbox = protocol.Outbox(self._send)
        self.put = self._outbox.put

    def start(self, ready: protocol.Ready) -> None:
        """Send the first event, and begin to read."""
        self.put(ready)
        threading.Thread(target=self._read, name=f"client {self.number}", daemon=True).start()

    def flush(self) -> None:
        """Send the events that wait, for two seconds at most; later ones are dropped."""
        self._outbox.close()

    def _send(self, event: protocol.Event) -> None:
        try:
            self._connection.send_bytes(protocol.encode(event))
        except OSError:
            raise
        except Exception:
            log.exception("an event cannot be sent")
            end_now("an event would be missing", status=1)  # clients report that the engine is lost

    def _read(self) -> None:
        while True:
            try:
                data = self._connection.recv_bytes()
            except (OSError, EOFError):
                break
            try:
                request = protocol.decode_request(data)
            except ValueError as error:  # from msgspec, or because text is not UTF-8
                problem = BadOption(f"A request is not valid: {error}.", "Correct the setting it names.")
                self.put(failed(protocol.id_of(data), problem))
                continue
            self._receive(self, request)
        self._lose(self)
        self.flush()
        self._connection.close()


def failed(request: int, error: SpecExecError, *, loaded: bool = False) -> protocol.Failed:
    return protocol.Failed(
        request=request, kind=error.kind, message=error.message, hint=error.hint, loaded=loaded
    )


def end_now(reason: str, status: int = 0) -> NoReturn:
    """End the process, even if the main thread is in the middle of a pass."""
    log.info("exiting: %s", reason)
    os._exit(status)
