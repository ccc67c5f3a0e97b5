"""HTTP with one engine elsewhere. Every answer passes through here and is bounded: in silence, and in size.

The key goes to the engine's own origin only: redirects are not followed.
"""

import ssl
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from importlib.metadata import version
from typing import Any

import httpx2
import msgspec

from engine.errors import BadOption
from engine.hub.connection import OPENED, stopped_after
from engine.hub.stop import Stop, Stopped
from engine.remote.address import is_private
from engine.remote.engines import AddedEngine
from engine.remote.errors import AnswerBroken, CertificateRefused, KeyInClear
from engine.remote.faults import refusal, unreachable

CONNECT_S = 10.0
WHOLE_S = 20.0  # for an answer that is read whole
SILENCE_S = 600.0  # of a stream; a long prompt may take minutes before the first token
WHOLE_NBYTES = 16 << 20
LINE_NBYTES = 4 << 20
PROBLEM_NBYTES = 64 << 10  # of an error's description


class Exchange:
    """Sends requests to one engine. Raises the errors in `engine.remote.errors`, and `Stopped`."""

    def __init__(self, engine: AddedEngine, key: str | None) -> None:
        """Raises CertificateRefused if the engine's certificate file cannot be read; BadOption if the
        system's proxy setting is invalid."""
        self._engine = engine
        self._key = key
        self.base = httpx2.URL(engine.address)
        path = self.base.path.rstrip("/").removesuffix("/v1")
        self.root = self.base.copy_with(path=f"{path}/")  # of paths beside OpenAI's interface
        is_secure = self.base.scheme == "https"
        try:
            self._client = httpx2.Client(
                timeout=httpx2.Timeout(SILENCE_S, connect=CONNECT_S),
                limits=httpx2.Limits(max_keepalive_connections=0),  # so that a stop can close each connection
                headers={
                    "User-Agent": f"specexec-desktop/{version('specexec-desktop')}",
                    "Accept-Encoding": "identity",
                },
                verify=self._trusted() if is_secure and engine.certificate else True,
                trust_env=is_secure,  # a proxy would see what is not encrypted
            )
        except (ValueError, ImportError, httpx2.InvalidURL) as error:
            raise BadOption("The proxy setting is not a valid address.", "Check HTTPS_PROXY.") from error

    def __enter__(self) -> "Exchange":
        return self

    def __exit__(self, *_: object) -> None:
        self._client.close()

    def get(self, url: httpx2.URL, stop: Stop) -> bytes:
        """Return a whole body."""
        return self._whole("GET", url, None, stop)

    def post(self, url: httpx2.URL, fields: dict[str, Any], stop: Stop) -> bytes:
        """Send fields as JSON, and return a whole body."""
        return self._whole("POST", url, msgspec.json.encode(fields), stop)

    def _whole(self, method: str, url: httpx2.URL, content: bytes | None, stop: Stop) -> bytes:
        with (
            self._named(stop),
            stopped_after(WHOLE_S) as late,
            self._sent(method, url, content, (stop, late)) as response,
        ):
            return _body(response, WHOLE_NBYTES)
        raise AssertionError("unreachable")

    @contextmanager
    def stream(self, url: httpx2.URL, fields: dict[str, Any], stop: Stop) -> Iterator[Iterator[bytes]]:
        """Send fields as JSON, and yield the data of the server-sent events of the answer."""
        with self._named(stop), self._sent("POST", url, msgspec.json.encode(fields), (stop,)) as response:
            kind = response.headers.get("Content-Type", "").partition(";")[0].strip().lower()
            if kind != "text/event-stream":
                raise AnswerBroken(
                    "The engine does not answer with a stream of events.",
                    "Check that the address is that of a server with OpenAI's interface.",
                )
            yield events_in(response.iter_raw())

    @contextmanager
    def _sent(
        self, method: str, url: httpx2.URL, content: bytes | None, stops: tuple[Stop, ...]
    ) -> Iterator[httpx2.Response]:
        """Send a request and yield the response, whose body is not read yet. Raises refusals as errors."""
        for stop in stops:
            stop.check()
        with ExitStack() as stack:

            def opened(event: str, info: dict[str, Any]) -> None:
                if OPENED.fullmatch(event):
                    connected = info["return_value"].get_extra_info("socket")
                    self._check_peer(connected.getpeername()[0])
                    for stop in stops:
                        stack.enter_context(stop.hanging_up(connected))

            headers = {"Authorization": f"Bearer {self._key}"} if self._key else {}
            if content is not None:
                headers["Content-Type"] = "application/json"
            request = self._client.build_request(
                method, url, headers=headers, content=content, extensions={"trace": opened}
            )
            response = self._client.send(request, stream=True, follow_redirects=False)
            stack.callback(response.close)
            if response.headers.get("Content-Encoding", "identity").strip().lower() not in ("", "identity"):
                raise AnswerBroken(
                    "The engine compresses its answers, although it was asked not to.",
                    "Change the settings of the server, or of the proxy before it.",
                )
            if response.status_code != 200:
                raise refusal(self._engine, response, _body(response, PROBLEM_NBYTES), bool(self._key))
            yield response

    def _check_peer(self, address: str) -> None:
        """Raise KeyInClear if the key would go unencrypted over a public network. Called before."""
        is_clear = self.base.scheme == "http" and self._key and not self._engine.allow_clear
        if is_clear and not is_private(address):
            raise KeyInClear(
                f"The key for {self._engine.place} would be sent unencrypted over a public network.",
                "Use https://, or a tunnel; to send it all the same, add the engine with --allow-clear.",
            )

    @contextmanager
    def _named(self, stop: Stop) -> Iterator[None]:
        """Raise the errors of the network as errors for the user; Stopped after a stop."""
        try:
            yield
        except Stopped:
            stop.check()
            raise
        except httpx2.TransportError as error:
            stop.check()
            raise unreachable(self._engine, error) from error
        except httpx2.DecodingError as error:
            raise AnswerBroken("The engine's answer is damaged.", "Ask again.") from error

    def _trusted(self) -> ssl.SSLContext:
        try:
            context = ssl.create_default_context()
            context.load_verify_locations(self._engine.certificate)
        except (OSError, ValueError) as error:  # SSLError is an OSError
            raise CertificateRefused(
                f"The certificate {self._engine.certificate} cannot be used: {error}.",
                "Give a file in PEM: the server's own certificate, or that of its authority.",
            ) from error
        return context


def events_in(pieces: Iterator[bytes]) -> Iterator[bytes]:
    """Yield the data of server-sent events (https://html.spec.whatwg.org/#server-sent-events).

    llama-server's older versions name the field of an error `error`. Raises AnswerBroken for an endless line.
    """
    data: list[bytes] = []
    for line in _lines(pieces):
        field, _, value = line.partition(b":")
        if field in (b"data", b"error"):
            data.append(value.removeprefix(b" "))
            if sum(map(len, data)) > LINE_NBYTES:
                raise _too_long()
        elif not line and data:
            yield b"\n".join(data)
            data = []
    if data:
        yield b"\n".join(data)


def _lines(pieces: Iterator[bytes]) -> Iterator[bytes]:
    rest = bytearray()
    for piece in pieces:
        searched = len(rest)
        rest += piece
        begin = 0
        while (end := rest.find(b"\n", max(begin, searched))) >= 0:
            yield bytes(rest[begin:end]).removesuffix(b"\r")
            begin = end + 1
        del rest[:begin]
        if len(rest) > LINE_NBYTES:
            raise _too_long()
    if rest:
        yield bytes(rest)


def _too_long() -> AnswerBroken:
    return AnswerBroken(
        f"The engine sent an event of more than {LINE_NBYTES >> 20} MiB.", "Check which server this is."
    )


def _body(response: httpx2.Response, most_nbytes: int) -> bytes:
    """Return the body, of which an error's description may be cut off."""
    body = bytearray()
    for piece in response.iter_raw():
        body += piece
        if len(body) > most_nbytes:
            if response.status_code != 200:
                break
            raise AnswerBroken(
                f"The engine sent more than {most_nbytes >> 20} MiB.", "Check which server this is."
            )
    return bytes(body)
