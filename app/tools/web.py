"""A tool server behind an address: each message is a POST, answered with JSON or with server-sent events.

https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#streamable-http
"""

import contextlib
from collections.abc import Generator, Iterator
from importlib.metadata import version
from typing import Any

import httpx2

from app.tools.bounds import MESSAGE_NBYTES
from app.tools.fault import ToolFault
from engine.errors import SpecExecError
from engine.hub import Stop, Stopped
from engine.hub.connection import OPENED, stopped_after
from engine.remote.address import is_private
from engine.remote.exchange import events_in

CONNECT_S = 10.0
LEAVE_S = 2.0
_SESSION, _VERSION = "Mcp-Session-Id", "MCP-Protocol-Version"


class WebCarrier:
    """Carries messages to a server behind an address and back. Redirects are not followed, and no cookies are
    sent. A key goes unencrypted to this machine and to private networks only.

    Attributes:
        version: the version of the protocol that was agreed on, or "".
    """

    def __init__(self, address: str, key: str = "") -> None:
        """key: sent with each request; "": none. Raises ToolFault if the address is none."""
        self._url = address_of(address)
        self._key = key
        self.version = ""
        self._session = ""
        self._client = httpx2.Client(
            timeout=httpx2.Timeout(None, connect=CONNECT_S),
            limits=httpx2.Limits(max_keepalive_connections=0),  # so that a stop can close each connection
            headers={
                "User-Agent": f"specexec-desktop/{version('specexec-desktop')}",
                "Accept": "application/json, text/event-stream",
                "Accept-Encoding": "identity",
                "Content-Type": "application/json",
            },
            trust_env=self._url.scheme == "https",  # a proxy would see what is not encrypted
        )

    @property
    def is_open(self) -> bool:
        return not self._client.is_closed

    def exchange(self, message: bytes, stop: Stop, seconds: float) -> Generator[bytes, None, None]:
        """Send a message, and yield those that come back. Raises ToolFault, Stopped."""
        late = Stop()
        try:
            with stopped_after(seconds) as late, self._sent("POST", message, (stop, late)) as response:
                self._session = response.headers.get(_SESSION, self._session)
                kind = response.headers.get("Content-Type", "").partition(";")[0].strip().lower()
                if kind == "text/event-stream":
                    yield from events_in(response.iter_raw())
                elif kind == "application/json":
                    yield _body(response)
                elif response.status_code not in (200, 202, 204):
                    raise ToolFault(
                        f"The tool server refuses with the status {response.status_code}.",
                        "Check its address, and whether it asks for a key.",
                    )
        except (Stopped, httpx2.HTTPError) as error:
            stop.check()
            if late.asked:
                sentence = f"The tool server did not answer within {seconds:.0f} s."
                raise ToolFault(sentence, "Try it again later.") from None
            raise ToolFault(
                f"The tool server at {self._url.host} cannot be reached: {type(error).__name__}.",
                "Check its address, and whether it runs.",
            ) from error
        except SpecExecError as error:
            raise error if isinstance(error, ToolFault) else ToolFault(error.message, error.hint) from error

    def send(self, message: bytes) -> None:
        """Send a message that gets no answer. Raises ToolFault."""
        for _ in self.exchange(message, Stop(), CONNECT_S):
            break

    def close(self) -> None:
        """End the session at the server, without waiting long for it."""
        if self._session:
            with (
                contextlib.suppress(httpx2.HTTPError, Stopped),
                stopped_after(LEAVE_S) as late,
                self._sent("DELETE", b"", (late,)),
            ):
                pass
        self._client.close()

    def end(self) -> None:
        """Close the connection. May be called from any thread."""
        self._client.close()

    @contextlib.contextmanager
    def _sent(self, method: str, content: bytes, stops: tuple[Stop, ...]) -> Iterator[httpx2.Response]:
        for stop in stops:
            stop.check()
        with contextlib.ExitStack() as stack:

            def opened(event: str, info: dict[str, Any]) -> None:
                if OPENED.fullmatch(event):
                    connected = info["return_value"].get_extra_info("socket")
                    self._check_peer(connected.getpeername()[0])
                    for stop in stops:
                        stack.enter_context(stop.hanging_up(connected))

            headers = {
                _SESSION: self._session,
                _VERSION: self.version,
                "Authorization": f"Bearer {self._key}" if self._key else "",
            }
            request = self._client.build_request(
                method,
                self._url,
                headers={name: value for name, value in headers.items() if value},
                content=content,
                extensions={"trace": opened},
            )
            request.headers.pop("Cookie", None)
            response = self._client.send(request, stream=True, follow_redirects=False)
            stack.callback(response.close)
            yield response

    def _check_peer(self, address: str) -> None:
        """Raise ToolFault where others could read the key on its way."""
        if self._key and self._url.scheme == "http" and not is_private(address):
            raise ToolFault(
                f"The key for {self._url.host} would be sent unencrypted over a public network.",
                "Give the address with https://.",
            )


def address_of(text: str) -> httpx2.URL:
    """Return the address of a server. Raises ToolFault if it is none."""
    try:
        url = httpx2.URL(text.strip())
    except (httpx2.InvalidURL, ValueError) as error:
        raise _no_address(text) from error
    if url.scheme not in ("http", "https") or not url.host or url.userinfo:
        raise _no_address(text)
    return url


def _body(response: httpx2.Response) -> bytes:
    body = bytearray()
    for piece in response.iter_raw():
        body += piece
        if len(body) > MESSAGE_NBYTES:
            raise ToolFault(
                f"The tool server sent a message of more than {MESSAGE_NBYTES >> 20} MiB.",
                "Ask for less, or check which server this is.",
            )
    return bytes(body)


def _no_address(text: str) -> ToolFault:
    return ToolFault(f"{text[:200]!r} is no address of a server.", "Give it as https://host/mcp.")
