"""The HTTP server around the site: its socket, its limits, and how it ends."""

import asyncio
import errno
import os
import socket
import threading
from collections.abc import Callable

import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from engine.errors import AddressTaken, BadOption
from engine.server.engine_client import EngineClient
from engine.server.faults import RequestFault
from engine.server.site import Site, SiteOptions

HEADERS_TIMEOUT_S = 10.0  # for a client to send the headers of a request
KEEP_ALIVE_S = 30  # for an idle connection
END_TIMEOUT_S = 5  # for answers in progress when the server ends
MOST_CONNECTIONS = 128
MOST_HEADER_NBYTES = 32 << 10


class TimedProtocol(H11Protocol):
    """Closes connections whose client does not send the headers of a request in time."""

    _limit: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._limit = self.loop.call_later(HEADERS_TIMEOUT_S, self._give_up)

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if not self._is_idle:
            self._stop_limit()
        elif self._limit is None:
            self._limit = self.loop.call_later(HEADERS_TIMEOUT_S, self._give_up)

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_limit()
        super().connection_lost(exc)

    @property
    def _is_idle(self) -> bool:
        """Whether no request is being answered."""
        return self.cycle is None or self.cycle.response_complete

    def _give_up(self) -> None:
        self._limit = None
        if self._is_idle:
            self.transport.abort()

    def _stop_limit(self) -> None:
        if self._limit is not None:
            self._limit.cancel()
            self._limit = None


def open_socket(host: str, port: int) -> socket.socket:
    """Return a socket that listens. port: 0: any free one. Raises AddressTaken if another program listens
    there; BadOption if nothing can."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    opened = socket.socket(family)
    try:
        if hasattr(socket, "SO_EXCLUSIVEADDRUSE"):  # Windows would let another program take the port over
            opened.setsockopt(socket.SOL_SOCKET, socket.SO_EXCLUSIVEADDRUSE, 1)
        else:
            opened.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        opened.bind((host, port))
    except (OSError, OverflowError) as error:
        opened.close()
        if isinstance(error, OSError) and error.errno == errno.EADDRINUSE:
            raise AddressTaken(
                f"Another program listens at {host}, port {port}, already.", "Choose another --port."
            ) from error
        reason = error.strerror if isinstance(error, OSError) else "there is no such port"
        raise BadOption(
            f"The server cannot listen at {host}, port {port}: {reason}.", "Choose another --port or --host."
        ) from error
    return opened


async def serve(
    opened: socket.socket,
    options: SiteOptions,
    ready: Callable[[str], None],
    lifeline: int | None = None,
) -> None:
    """Load the model, then answer requests until a signal to end arrives.

    ready: is told the name of the loaded model once requests are answered. lifeline: a file descriptor; the
    server ends when there is nothing more to read from it. Raises SpecExecError if the model cannot be
    loaded.
    """
    engine = EngineClient()
    site = Site(options, engine)
    config = uvicorn.Config(
        site.app,
        http=TimedProtocol,
        ws="none",
        lifespan="off",
        log_level="warning",
        access_log=False,
        server_header=False,
        timeout_keep_alive=KEEP_ALIVE_S,
        timeout_graceful_shutdown=END_TIMEOUT_S,
        limit_concurrency=MOST_CONNECTIONS,
        h11_max_incomplete_event_size=MOST_HEADER_NBYTES,
    )
    server = uvicorn.Server(config)
    if lifeline is not None:
        follow = threading.Thread(target=_follow, args=(lifeline, server), name="lifeline", daemon=True)
        follow.start()
    beginning = asyncio.create_task(_begin(site, server, ready))
    try:
        await server.serve(sockets=[opened])
    finally:
        beginning.cancel()
        await engine.close()
    if beginning.done() and not beginning.cancelled():
        beginning.result()


def _follow(lifeline: int, server: uvicorn.Server) -> None:
    """End the server once the lifeline ends. Runs on a thread of its own; the server's loop looks at the flag
    several times a second."""
    while os.read(lifeline, 4096):
        pass
    server.should_exit = True


async def _begin(site: Site, server: uvicorn.Server, ready: Callable[[str], None]) -> None:
    """Load the model while the server answers /health already; end it if that fails."""
    try:
        ready((await site.begin()).name)
    except RequestFault as fault:
        server.should_exit = True
        raise fault.as_error() from fault
