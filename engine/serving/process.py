"""The engine process: one or several clients, one request at a time; Cancel never waits behind work.

The main thread executes requests in the order of their arrival, whoever sent them. Each client has a thread
that reads its requests and sets cancel flags, and another one that sends it events, so that decoding never
waits for a slow window. The process ends with its last client. It imports what models need only when one is
loaded.

The first client has started the process. Standard input is its lifeline: when it closes, that client is gone.
If it is to be shared, the process also listens for clients that know where and have its key.
"""

import itertools
import logging
import os
import secrets
import signal
import sys
import threading
import time
from importlib.metadata import version
from multiprocessing import AuthenticationError
from multiprocessing.connection import Connection, Listener, answer_challenge, deliver_challenge
from pathlib import Path
from typing import NoReturn

# Loaded before the lifeline's thread blocks in a read of standard input: on Windows, the runtime of numpy's
# Fortran library asks for the type of that handle and would wait for the read to end.
import numpy  # noqa: F401

from engine import protocol
from engine.errors import CardFailed, NotLoaded, SpecExecError, refused_by_system
from engine.launch.interpreter import missing_runtime
from engine.protocol.rendezvous import Rendezvous
from engine.serving import heap
from engine.serving.client import ConnectedClient, end_now, failed
from engine.serving.service import EngineService
from engine.serving.task_queue import QueuedTask, TaskQueue

log = logging.getLogger("engine")

MOST_CLIENTS = 32


class Server:
    """Receives requests from the clients and executes them, one after another."""

    def __init__(self, rendezvous: Rendezvous | None = None) -> None:
        """rendezvous: where other clients find this engine."""
        self._rendezvous = rendezvous
        self._engine = EngineService()
        self._clients: dict[int, ConnectedClient] = {}
        self._numbers = itertools.count(1)
        self._now: protocol.NowLoaded | None = None
        self._changing = threading.RLock()  # guards the three above
        self._tasks = TaskQueue(self._show)

    def add(self, connection: Connection) -> bool:
        """Begin to read requests from a client. Return False if there are too many."""
        with self._changing:
            if len(self._clients) >= MOST_CLIENTS:
                return False
            client = ConnectedClient(next(self._numbers), connection, self._receive, self._lose)
            self._clients[client.number] = client
            ready = protocol.Ready(
                engine_version=version("specexec-desktop"),
                pid=os.getpid(),
                client=client.number,
                now=self._now,
            )
            client.start(ready)
        return True

    def lose_first(self) -> None:
        """Note that the client which started the process is gone; its connection may not show it yet."""
        with self._changing:
            first = self._clients.get(1)
        if first is not None:
            self._lose(first)
        elif not self._clients:
            self._end("the client is gone")

    def serve(self) -> None:
        """Execute requests until the last client has left. Called on the main thread."""
        while task := self._tasks.first():
            before = self._now
            self._work(task)
            self._tasks.done()
            if self._now is not before:
                self._tell_others(task.client, self._now or protocol.NowLoaded(loaded=None, by=None))
            self._prepare()
        if self._rendezvous:
            self._rendezvous.withdraw()
        self._engine.unload()
        for client in list(self._clients.values()):
            client.flush()

    def _prepare(self) -> None:
        """Let the engine prepare for longer texts while no request waits."""
        try:
            self._engine.prepare(self._tasks.has_work)
        except Exception as error:  # whatever a driver raises; the answer that needs it meets it again
            log.warning("Nothing could be prepared for longer texts: %s", error)

    def _end(self, reason: str, status: int = 0) -> NoReturn:
        if self._rendezvous:
            self._rendezvous.withdraw()
        end_now(reason, status)

    def _receive(self, client: ConnectedClient, request: protocol.Request) -> None:
        match request:
            case protocol.Cancel():
                self._tasks.cancel(client.number, request.request)
            case protocol.Count():
                self._count(client, request)
            case protocol.Leave():
                self._leave(client)
            case protocol.Shutdown():
                self._tasks.close()
            case _:
                self._tasks.put(client.number, request)

    def _count(self, client: ConnectedClient, request: protocol.Count) -> None:
        try:
            client.put(self._engine.count(request))
        except Exception as error:
            client.put(self._failed(request.id, named(error)))

    def _leave(self, client: ConnectedClient) -> None:
        with self._changing:
            is_last = len(self._clients) == 1
            client.put(protocol.Left(ends=is_last))
            if not is_last:
                del self._clients[client.number]
        self._tasks.forget(client.number)
        if is_last:
            self._tasks.close()

    def _lose(self, client: ConnectedClient) -> None:
        with self._changing:
            if self._clients.pop(client.number, None) is None:
                return
            if not self._clients:
                self._end("the last client is gone")
        self._tasks.forget(client.number)

    def _show(self, tasks: list[protocol.Task]) -> None:
        with self._changing:
            clients = list(self._clients.values())
        if len(clients) > 1:
            for client in clients:
                client.put(protocol.Tasks(tasks=tasks))

    def _tell_others(self, number: int, event: protocol.Event) -> None:
        with self._changing:
            for client in self._clients.values():
                if client.number != number:
                    client.put(event)

    def _work(self, task: QueuedTask) -> None:
        with self._changing:
            client = self._clients.get(task.client)
        if client is None:  # it has gone meanwhile
            return
        request, cancelled = task.request, task.cancelled.is_set
        try:
            match request:
                case protocol.Load():
                    loaded = self._engine.load(request, client.put, cancelled)
                    self._now = protocol.NowLoaded(loaded=loaded, by=request)
                    client.put(loaded)
                case protocol.Chat():
                    self._expect(request.target)
                    client.put(self._engine.answer(request, client.put, cancelled))
                case protocol.Unload():
                    self._engine.unload()
                    client.put(protocol.Unloaded(request.id))
                case protocol.Forget():
                    client.put(self._engine.forget(request))
        except CardFailed as error:
            client.put(failed(request.id, error))
            client.flush()
            of_kernel = error.cause == "kernel"
            status = protocol.CARD_FAILED_STATUS if of_kernel else protocol.CARD_FAULT_STATUS
            self._end("the graphics card has stopped", status)
        except Exception as error:
            client.put(self._failed(request.id, named(error)))
        self._note_changes(client)
        heap.give_back()

    def _note_changes(self, client: ConnectedClient) -> None:
        """Note what a request has left loaded. Tell its client if an answer had to load it again; `serve`
        tells the others."""
        if self._engine.session is None:
            self._now = None
        elif self._now is not None and self._engine.loaded is not self._now.loaded:
            self._now = protocol.NowLoaded(loaded=self._engine.loaded, by=self._now.by)
            client.put(self._now)

    def _expect(self, target: str) -> None:
        """Raise NotLoaded if another target than this one is loaded; "" stands for any."""
        loaded = self._now.loaded if self._now else None
        if target and loaded and loaded.target.path != target:
            raise NotLoaded(
                f"Another program has loaded another model, {loaded.target.name}.",
                "Load the model again, or ask the one that is loaded.",
            )

    def _failed(self, request: int, error: SpecExecError) -> protocol.Failed:
        return failed(request, error, loaded=self._engine.session is not None)


def named(error: Exception) -> SpecExecError:
    """Return the error to show for what a request raised. An internal one must not end the conversation; the
    log has its traceback."""
    if isinstance(error, SpecExecError):
        return error
    if (missing := missing_runtime(error)) is not None:
        return missing
    log.error("a request failed", exc_info=error)
    unknown = SpecExecError(
        "Something went wrong inside the engine.", "Try again; the details are in the log."
    )
    return refused_by_system(error) or unknown


def watch_lifeline(server: Server) -> None:
    """Note when standard input closes: the client that started the process is gone."""

    def wait() -> None:
        # Read the bare descriptor: a thread inside a buffered read would disturb the interpreter's shutdown.
        while os.read(sys.stdin.fileno(), 1):
            pass
        server.lose_first()

    threading.Thread(target=wait, name="lifeline", daemon=True).start()


def main() -> None:
    """Arguments: the file by which other clients find the engine, or "" if none shall; the handle of the
    inherited connection, if there is one."""
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(name)s: %(message)s")
    # The client handles Ctrl-C in the terminal and leaves.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    key = bytes.fromhex(sys.stdin.buffer.readline().strip().decode())
    if len(key) < secrets.DEFAULT_ENTROPY:
        raise SystemExit(
            "engine.serving.process is started by the program itself: a key is expected on standard input."
        )
    path, *handles = sys.argv[1:] or [""]
    rendezvous = Rendezvous(Path(path)) if path else None
    server = Server(rendezvous)
    watch_lifeline(server)
    if rendezvous:
        admit_others(server, rendezvous, key)
    if handles:
        print("inherited", flush=True)
        server.add(Connection(int(handles[0])))
    else:
        server.add(accepted(key))
    server.serve()


def admit_others(server: Server, rendezvous: Rendezvous, key: bytes) -> None:
    """Let other processes of the user join the engine, unless no address can be had or announced."""
    try:
        listener = Listener(rendezvous.new_address(), backlog=MOST_CLIENTS)
        rendezvous.announce(str(listener.address), key)
    except OSError as error:
        log.warning("this engine cannot be shared: %s", error)
        return

    def admit() -> None:
        while True:
            try:
                stranger = listener.accept()
            except OSError:  # it has gone again, or the system has no handle for it
                time.sleep(0.1)
                continue
            threading.Thread(target=examine, args=(stranger,), name="stranger", daemon=True).start()

    def examine(stranger: Connection) -> None:
        try:
            deliver_challenge(stranger, key)
            answer_challenge(stranger, key)
            is_added = server.add(stranger)
        except (AuthenticationError, EOFError, OSError):
            is_added = False
        if not is_added:
            stranger.close()

    threading.Thread(target=admit, name="door", daemon=True).start()


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
