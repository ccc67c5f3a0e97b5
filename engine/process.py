"""The engine process: one client, one connection, one request at a time; Stop is never stuck behind work.

The main thread works. A control thread reads requests and sets the cancel flag, another sends events, so that
decoding waits neither for a slow window nor for its wishes. Standard input is a lifeline: when it closes, the
client is gone and so are we.
Imports torch only when the first model is loaded.
"""

import logging
import os
import queue
import secrets
import signal
import sys
import threading
from collections import deque
from collections.abc import Callable
from importlib.metadata import version
from multiprocessing.connection import Connection, Listener
from typing import NoReturn

from engine import protocol
from engine.errors import BadOption, SpecExecError
from engine.service import Engine

log = logging.getLogger("engine")


class Server:
    """Takes requests off the connection and works them off, one after another."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._outbox = protocol.Outbox(self._send)
        self._engine = Engine()
        self._requests: queue.SimpleQueue[tuple[protocol.Request, threading.Event]] = queue.SimpleQueue()
        self._cancel_flags: deque[threading.Event] = deque()  # of the request under way and of those queued

    def serve(self) -> None:
        """Until a Shutdown. Called on the main thread."""
        ready = protocol.Ready(engine_version=version("specexec-desktop"), pid=os.getpid())
        self._outbox.put(ready)
        threading.Thread(target=self._control, name="control", daemon=True).start()
        while True:
            request, flag = self._requests.get()
            if isinstance(request, protocol.Shutdown):
                self._outbox.close()
                return
            self._work(request, flag.is_set)
            self._cancel_flags.remove(flag)

    def _send(self, event: protocol.Event) -> None:
        try:
            self._connection.send_bytes(protocol.encode(event))
        except OSError:
            raise
        except Exception:
            log.exception("an event cannot be sent")
            end_now("it would be missed", status=1)  # the client is told that the engine is lost

    def _control(self) -> None:
        """Reads requests as they come, whatever the main thread does."""
        while True:
            try:
                data = self._connection.recv_bytes()
            except (OSError, EOFError):
                end_now("the connection closed")
            try:
                request = protocol.decode_request(data)
            except ValueError as error:  # msgspec's errors, and text that is no UTF-8
                self._outbox.put(
                    failed(
                        protocol.id_of(data),
                        BadOption(f"A request is not valid: {error}.", "Correct the setting it names."),
                    )
                )
                continue
            if isinstance(request, protocol.Cancel | protocol.Shutdown):
                for flag in list(self._cancel_flags):
                    flag.set()
            if not isinstance(request, protocol.Cancel):
                flag = threading.Event()
                self._cancel_flags.append(flag)
                self._requests.put((request, flag))

    def _work(self, request: protocol.Request, cancelled: Callable[[], bool]) -> None:
        emit = self._outbox.put
        try:
            match request:
                case protocol.Load():
                    emit(self._engine.load(request, emit, cancelled))
                case protocol.Chat():
                    emit(self._engine.answer(request, emit, cancelled))
                case protocol.Unload():
                    self._engine.unload()
                    emit(protocol.Unloaded(request.id))
        except SpecExecError as error:
            emit(failed(request.id, error))
        except Exception:
            # The last wall: a fault of ours must not take the conversation down. The log has the traceback.
            log.exception("request %s failed", type(request).__name__)
            emit(
                failed(
                    request.id,
                    SpecExecError(
                        "Something went wrong inside the engine.", "Try again; the details are in the log."
                    ),
                )
            )


def failed(request: int, error: SpecExecError) -> protocol.Failed:
    return protocol.Failed(request=request, kind=error.kind, message=error.message, hint=error.hint)


def end_now(why: str, status: int = 0) -> NoReturn:
    log.info("ends: %s", why)
    os._exit(status)  # the main thread may be deep in a pass


def watch_lifeline() -> None:
    """Ends the process when standard input closes: whoever started it is gone."""

    def wait() -> None:
        # The bare descriptor: a thread inside a buffered read would trip up the interpreter's own end.
        while os.read(sys.stdin.fileno(), 1):
            pass
        end_now("the client is gone")

    threading.Thread(target=wait, name="lifeline", daemon=True).start()


def main() -> None:
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(name)s: %(message)s")
    # Ctrl-C in the terminal is the client's to handle; it ends us in good order.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    key = bytes.fromhex(sys.stdin.buffer.readline().strip().decode())
    if len(key) < secrets.DEFAULT_ENTROPY:
        raise SystemExit(
            "engine.process is started by the program itself: a key is expected on standard input."
        )
    watch_lifeline()
    # Linux: an abstract name, which leaves no file behind. Elsewhere the system's own kind with a random
    # name.
    address = f"\0specexec-{secrets.token_hex(8)}" if sys.platform == "linux" else None
    with Listener(address, authkey=key) as listener:
        print(address or listener.address, flush=True)
        connection = listener.accept()
    Server(connection).serve()
    connection.close()


if __name__ == "__main__":
    main()
