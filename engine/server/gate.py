"""Who may ask, and how much: the outermost layer of the server, before anything of a request is read."""

import asyncio
import contextlib
import secrets
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from starlette.datastructures import Headers
from starlette.responses import JSONResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from engine.server.faults import RequestFault
from engine.server.openai_errors import error_of

LOOPBACK = ("127.0.0.1", "localhost", "::1")
MOST_NBYTES = 16 << 20  # of a body
BODY_TIMEOUT_S = 30.0  # for a client to send the whole body
SEND_TIMEOUT_S = 60.0  # for a client to take one piece of the answer
LINGER_S = 5.0  # for a refused client to send the rest of its body
LINGER_NBYTES = 4 * MOST_NBYTES  # of that rest

Errors = Callable[[str, RequestFault], dict[str, Any]]


class Gate:
    """Passes a request on only if it names this server as its host, comes from no web page but those allowed,
    has the key if there is one, and is neither too large nor too slow."""

    def __init__(
        self,
        app: ASGIApp,
        *,
        key: str | None,
        hosts: Sequence[str],
        origins: Sequence[str] = (),
        refused: Callable[[str, int], None] = lambda path, status: None,
    ) -> None:
        """key: None: none is asked for. hosts: the names under which the server may be addressed, without
        ports; a page of another name that resolves to this machine is not among them. origins: web pages that
        may ask. refused: is told the path and status of each refused request."""
        self._app = app
        self._key = key
        self._hosts = set(hosts)
        self._origins = set(origins)
        self._refused = refused

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        try:
            self._examine(scope)
            if _is_preflight(scope):
                await _allow(scope, send)
                return
            body = await asyncio.wait_for(_body(scope, receive), BODY_TIMEOUT_S)
        except TimeoutError:
            too_slow = RequestFault(408, "too_slow", "The request did not arrive in time.")
            await self._refuse(too_slow, scope, _nothing, send)
        except RequestFault as fault:
            await self._refuse(fault, scope, receive, send)
        else:
            allowed = Headers(scope=scope).get("origin")
            await self._app(scope, _given(body, receive), _timed(send, allowed))

    def _examine(self, scope: Scope) -> None:
        """Raise RequestFault unless the headers are acceptable."""
        headers = Headers(scope=scope)
        if _host(headers.get("host", "")) not in self._hosts:
            raise RequestFault(403, "wrong_host", "This server does not answer under that name.")
        origin = headers.get("origin")
        if origin is not None and origin not in self._origins:
            raise RequestFault(403, "wrong_origin", "Web pages may not ask this server.")
        if self._key is not None and scope["path"] != "/health" and not _is_preflight(scope):
            given = headers.get("authorization", "").removeprefix("Bearer ") or headers.get("x-api-key", "")
            if not secrets.compare_digest(given.encode(), self._key.encode()):
                raise RequestFault(401, "wrong_key", "The key is missing or wrong.")
        kind = headers.get("content-type", "").partition(";")[0].strip().lower()
        if scope["method"] == "POST" and kind != "application/json":
            raise RequestFault(415, "wrong_content_type", "The content type must be application/json.")

    async def _refuse(self, fault: RequestFault, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer, and close the connection once the client has sent the rest of its body: a connection closed
        over unread data is reset, and the client may lose the answer with it."""
        self._refused(scope["path"], fault.status)
        headers = {"WWW-Authenticate": "Bearer"} if fault.status == 401 else {}
        response = JSONResponse(error_of(fault), fault.status, headers={**headers, "Connection": "close"})
        await send({"type": "http.response.start", "status": fault.status, "headers": response.raw_headers})
        await send({"type": "http.response.body", "body": response.body, "more_body": True})
        if "expect" not in Headers(scope=scope):  # such a client sends its body only when told to
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(_drain(receive), LINGER_S)
        await send({"type": "http.response.body", "body": b""})


def _is_preflight(scope: Scope) -> bool:
    """Return whether a browser asks if a page of another origin may send a request."""
    return scope["method"] == "OPTIONS" and "origin" in Headers(scope=scope)


async def _allow(scope: Scope, send: Send) -> None:
    asked = Headers(scope=scope)
    allowed = {
        "Access-Control-Allow-Origin": asked["origin"],
        "Access-Control-Allow-Methods": "GET, POST",
        "Access-Control-Allow-Headers": asked.get("access-control-request-headers", ""),
        "Vary": "Origin",
    }
    await Response(status_code=204, headers=allowed)(scope, _nothing, send)


async def _body(scope: Scope, receive: Receive) -> bytes:
    """Return the whole body. Raises RequestFault if it is too long or ends early."""
    too_long = RequestFault(413, "too_large", f"The body is longer than {MOST_NBYTES >> 20} MiB.")
    length = Headers(scope=scope).get("content-length", "0")
    if (length.isdigit() and len(length) > 12) or int(length if length.isdigit() else 0) > MOST_NBYTES:
        raise too_long
    body = bytearray()
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise RequestFault(400, "disconnected", "The connection was closed.")
        body += message.get("body", b"")
        if len(body) > MOST_NBYTES:
            raise too_long
        if not message.get("more_body", False):
            return bytes(body)


async def _drain(receive: Receive) -> None:
    """Read the rest of the body and forget it, until it is over or too long."""
    left = LINGER_NBYTES
    while left > 0:
        message = await receive()
        left -= len(message.get("body", b""))
        if not message.get("more_body", False):
            return


def _given(body: bytes, receive: Receive) -> Receive:
    """Return a `receive` that gives the body at once, and then what `receive` gives."""
    rest = [{"type": "http.request", "body": body, "more_body": False}]

    async def given() -> Message:
        return rest.pop() if rest else await receive()

    return given


def _timed(send: Send, origin: str | None) -> Send:
    """Return a `send` that fails if the client does not take the data, and lets `origin` read it."""

    async def timed(message: Message) -> None:
        if origin is not None and message["type"] == "http.response.start":
            allowed = [(b"access-control-allow-origin", origin.encode()), (b"vary", b"Origin")]
            message = {**message, "headers": [*message.get("headers", ()), *allowed]}
        sending: Awaitable[None] = send(message)
        await asyncio.wait_for(sending, SEND_TIMEOUT_S)

    return timed


def _host(header: str) -> str:
    """Return the name in a Host header, without the port."""
    if header.startswith("["):
        return header[1:].partition("]")[0].lower()
    return header.rpartition(":")[0].lower() if header.count(":") == 1 else header.lower()


async def _nothing() -> Message:
    return {"type": "http.disconnect"}
