"""HTTP requests. Every answer that reaches this program passes through here and is bounded: in its redirects,
in silence, in the time until its head, and, if it is read whole, in its time and size. The access token goes
to one origin only."""

import re
import threading
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from importlib.metadata import version
from typing import Any

import httpx2

from engine.errors import BadOption
from engine.hub.errors import BadDownload
from engine.hub.stop import Stop, Stopped

_MOST_REDIRECTS = 10
_CONNECT_S = 10.0
OPENED = re.compile(r".*\.(connect_tcp|start_tls)\.complete")


@dataclass(frozen=True, slots=True)
class Bounds:
    """Bounds on an answer that is read whole.

    Attributes: `silence_s`, the seconds without a byte after which a connection counts as broken; `whole_s`,
    the seconds from the request to the last byte; `nbytes`, the length of the body, as sent and decompressed.
    """

    silence_s: float = 30.0
    whole_s: float = 60.0
    nbytes: int = 32 << 20


METADATA = Bounds()


class BadAnswer(ValueError):
    """An answer that is longer than its bound or damaged; the message says which."""


@dataclass(frozen=True, slots=True)
class WholeAnswer:
    """An answer that was read whole; `body` is decompressed."""

    status: int
    headers: httpx2.Headers
    body: bytes


class HttpConnection:
    """An HTTP client. Thread-safe.

    home: a URL of the server that gets the access token; no other origin does. token: returns the token or
    None; called for each request to that server. silence_s: a connection that receives nothing for this many
    seconds counts as broken; the head of an answer must be complete within this time, too. Uses the system's
    proxies (HTTPS_PROXY, NO_PROXY, Windows' settings). Raises `BadOption` if a proxy's address is invalid.
    """

    def __init__(self, home: str, token: Callable[[], str | None], silence_s: float) -> None:
        self._origin = _origin(httpx2.URL(home))
        self._token = token
        self._silence_s = silence_s
        try:
            self._client = httpx2.Client(
                timeout=httpx2.Timeout(silence_s, connect=min(_CONNECT_S, silence_s)),
                # Each request has its own connection, so that a stop can close all of them. This costs
                # nothing, because one request fetches gigabytes.
                limits=httpx2.Limits(max_keepalive_connections=0),
                headers={"User-Agent": f"specexec-desktop/{version('specexec-desktop')}"},
            )
        except (ValueError, ImportError, httpx2.InvalidURL) as error:
            raise BadOption("The proxy setting is not a valid address.", "Check HTTPS_PROXY.") from error

    def close(self) -> None:
        self._client.close()

    @contextmanager
    def get(self, url: str, headers: Mapping[str, str], stop: Stop) -> Iterator[httpx2.Response]:
        """Send a GET request, follow redirects and yield the response, whose body is not read yet.

        Raises httpx2's `TransportError` for network faults; `BadDownload` for a bad redirect; `Stopped`.
        """
        place = httpx2.URL(url)
        for _ in range(_MOST_REDIRECTS):
            with ExitStack() as stack:
                response = self._head(place, headers, stop, stack)
                if not response.has_redirect_location:
                    yield response
                    return
                place = _next(place, response.headers["Location"])
        raise BadDownload("The server redirects too many times.", "Try again later.")

    def sends_token(self, url: httpx2.URL) -> bool:
        """Whether requests to `url` carry the token."""
        return _origin(url) == self._origin and self._token() is not None

    def is_home(self, url: httpx2.URL) -> bool:
        return _origin(url) == self._origin

    def _head(
        self, place: httpx2.URL, headers: Mapping[str, str], stop: Stop, stack: ExitStack
    ) -> httpx2.Response:
        """Send one request and return the response once its head is complete. `stack` closes it."""
        with stopped_after(min(_CONNECT_S, self._silence_s) + self._silence_s) as late:

            def opened(event: str, info: dict[str, Any]) -> None:
                if OPENED.fullmatch(event):
                    connected = info["return_value"].get_extra_info("socket")
                    stack.enter_context(stop.hanging_up(connected))
                    stack.enter_context(late.hanging_up(connected))

            request = self._client.build_request(
                "GET", place, headers=self._with_token(place, headers), extensions={"trace": opened}
            )
            response = self._client.send(request, stream=True)
            stack.callback(response.close)
        return response

    def _with_token(self, url: httpx2.URL, headers: Mapping[str, str]) -> dict[str, str]:
        token = self._token() if self.is_home(url) else None
        return {**headers, **({"Authorization": f"Bearer {token}"} if token else {})}


def fetch(url: str, token: str | None = None, bounds: Bounds = METADATA) -> WholeAnswer:
    """Send a GET request, follow redirects and return the whole answer, whatever its status.

    Raises httpx2's `TransportError` for network faults and for a server that is too slow; `BadAnswer` if the
    body exceeds its bound or is damaged; `BadDownload` for a bad redirect; `BadOption`.
    """
    connection = HttpConnection(url, lambda: token, bounds.silence_s)
    try:
        with (
            stopped_after(bounds.whole_s) as stop,
            connection.get(url, {"Accept-Encoding": "gzip"}, stop) as response,
        ):
            body = _body(response, bounds.nbytes)
            return WholeAnswer(response.status_code, response.headers, body)
    finally:
        connection.close()


def _body(response: httpx2.Response, most_nbytes: int) -> bytes:
    body = bytearray()
    for piece in response.iter_raw():
        body += piece
        if len(body) > most_nbytes:
            raise BadAnswer(f"the answer has more than {most_nbytes:,} bytes")
    match response.headers.get("Content-Encoding", "").strip().lower():
        case "" | "identity":
            return bytes(body)
        case "gzip":
            return _unpacked(body, most_nbytes)
        case _:
            raise BadAnswer("the answer is compressed in a way that was not asked for")


def _unpacked(packed: bytearray, most_nbytes: int) -> bytes:
    reader = zlib.decompressobj(zlib.MAX_WBITS | 16)
    try:
        body = reader.decompress(packed, most_nbytes + 1)
    except zlib.error as error:
        raise BadAnswer("the answer is damaged") from error
    if len(body) > most_nbytes:
        raise BadAnswer(f"the answer has more than {most_nbytes:,} bytes when decompressed")
    if not reader.eof:
        raise BadAnswer("the answer is cut off")
    return body


@contextmanager
def stopped_after(seconds: float) -> Iterator[Stop]:
    """Yield a stop that is requested after `seconds`, unless the block has ended before.

    Raises httpx2's `ReadTimeout` in place of what this stop makes the block raise.
    """
    late = Stop()
    timer = threading.Timer(seconds, late.ask)
    timer.daemon = True
    timer.start()
    try:
        yield late
    except (httpx2.TransportError, Stopped) as error:
        if late.asked:
            raise httpx2.ReadTimeout(f"no complete answer within {seconds:.0f} s") from error
        raise
    finally:
        timer.cancel()


def _origin(url: httpx2.URL) -> tuple[str, str, int | None]:
    return url.scheme, url.host, url.port  # the port is None if it is the scheme's default


def _next(place: httpx2.URL, location: str) -> httpx2.URL:
    try:
        target = place.join(location)
    except httpx2.InvalidURL as error:
        raise BadDownload("The server redirects to an invalid address.", "Try again later.") from error
    if target.scheme != "https" and (target.scheme != "http" or place.scheme == "https"):
        raise BadDownload("The server redirects to an unencrypted address.", "Try again later.")
    return target.copy_with(username=None, password=None) if target.userinfo else target
