"""The engine process: one client, one connection, one request at a time; Cancel never waits behind work.

The main thread executes requests. A control thread reads them and sets cancel flags; another thread sends
events, so that decoding never waits for a slow window. Standard input is a lifeline: when it closes, the
client is gone and the process ends. The process imports what models need only when one is loaded.
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
from multiprocessing import AuthenticationError
from multiprocessing.connection import Connection, Listener
from typing import NoReturn

# Loaded before the lifeline's thread blocks in a read of standard input: on Windows, the runtime of numpy's
# Fortran library asks for the type of that handle and would wait for the read to end.
import numpy  # noqa: F401

from engine import interruption, protocol
from engine.errors import BadOption, SpecExecError, refused_by_system
from engine.serving.service import EngineService

log = logging.getLogger("engine")


class Server:
    """Receives requests from the connection and executes them, one after another."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._outbox = protocol.Outbox(self._send)
        self._engine = EngineService()
        self._requests: queue.SimpleQueue[tuple[protocol.Request, threading.Event]] = queue.SimpleQueue()
        self._cancel_flags: deque[threading.Event] = deque()  # one per current or queued request
        self._cancelling = threading.Lock()

    def serve(self) -> None:
        """Execute requests until a Shutdown arrives. Called on the main thread."""
        ready = protocol.Ready(engine_version=version("specexec-desktop"), pid=os.getpid())
        self._outbox.put(ready)
        threading.Thread(target=self._control, name="control", daemon=True).start()
        while True:
            request, flag = self._requests.get()
            if isinstance(request, protocol.Shutdown):
                self._outbox.close()
                return
            with self._cancelling:
                if not flag.is_set():
                    interruption.resume()
            self._work(request, flag.is_set)
            with self._cancelling:
                self._cancel_flags.remove(flag)

    def _send(self, event: protocol.Event) -> None:
        try:
            self._connection.send_bytes(protocol.encode(event))
        except OSError:
            raise
        except Exception:
            log.exception("an event cannot be sent")
            end_now("an event would be missing", status=1)  # the client reports that the engine is lost

    def _control(self) -> None:
        """Read requests as they arrive, independently of the main thread."""
        while True:
            try:
                data = self._connection.recv_bytes()
            except (OSError, EOFError):
                end_now("the connection closed")
            try:
                request = protocol.decode_request(data)
            except ValueError as error:  # from msgspec, or because text is not UTF-8
                self._outbox.put(
                    failed(
                        protocol.id_of(data),
                        BadOption(f"A request is not valid: {error}.", "Correct the setting it names."),
                    )
                )
                continue
            if isinstance(request, protocol.Cancel | protocol.Shutdown):
                self._cancel()
            if not isinstance(request, protocol.Cancel):
                flag = threading.Event()
                self._cancel_flags.append(flag)
                self._requests.put((request, flag))

    def _cancel(self) -> None:
        """Cancel the current request and those in the queue."""
        with self._cancelling:
            for flag in self._cancel_flags:
                flag.set()
            if self._cancel_flags:
                interruption.interrupt()  # a compiled step may take seconds, and calls nobody meanwhile

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
            emit(self._failed(request.id, error))
        except Exception as error:
            # Last resort: an internal error must not end the conversation. The log has the traceback.
            log.exception("request %s failed", type(request).__name__)
            unknown = SpecExecError(
                "Something went wrong inside the engine.", "Try again; the details are in the log."
            )
            emit(self._failed(request.id, refused_by_system(error) or unknown))

    def _failed(self, request: int, error: SpecExecError) -> protocol.Failed:
        return failed(request, error, loaded=self._engine.session is not None)


def failed(request: int, error: SpecExecError, *, loaded: bool = False) -> protocol.Failed:
    return protocol.Failed(
        request=request, kind=error.kind, message=error.message, hint=error.hint, loaded=loaded
    )


def end_now(reason: str, status: int = 0) -> NoReturn:
    log.info("exiting: %s", reason)
    os._exit(status)  # the main thread may be in the middle of a pass


def watch_lifeline() -> None:
    """End the process when standard input closes: the client is gone."""

    def wait() -> None:
        # Read the bare descriptor: a thread inside a buffered read would disturb the interpreter's shutdown.
        while os.read(sys.stdin.fileno(), 1):
            pass
        end_now("the client is gone")

    threading.Thread(target=wait, name="lifeline", daemon=True).start()


def main() -> None:
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(name)s: %(message)s")
    # The client handles Ctrl-C in the terminal and shuts the engine down.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    key = bytes.fromhex(sys.stdin.buffer.readline().strip().decode())
    if len(key) < secrets.DEFAULT_ENTROPY:
        raise SystemExit(
            "engine.serving.process is started by the program itself: a key is expected on standard input."
        )
    watch_lifeline()
    if len(sys.argv) > 1:
        connection = Connection(int(sys.argv[1]))
        print("inherited", flush=True)
    else:
        connection = accepted(key)
    Server(connection).serve()
    connection.close()


def accepted(key: bytes) -> Connection:
    """Listen at an address of a random name, print it, and return the connection to the first client that has
    the key."""
    with Listener(authkey=key) as listener:
        print(listener.address, flush=True)
        while True:
            try:
                return listener.accept()
            except (AuthenticationError, EOFError, ConnectionError):  # another program came first
                continue


if __name__ == "__main__":
    main()
