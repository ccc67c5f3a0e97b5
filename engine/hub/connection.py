"""HTTP for the files: the way from the Hub to wherever it redirects, with the token for the Hub alone."""

import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from importlib.metadata import version
from typing import Any

import httpx2

from engine.errors import BadOption
from engine.hub.errors import BadDownload
from engine.hub.stop import Stop

_MOST_REDIRECTS = 10
_CONNECT_S = 10.0
_OPENED = re.compile(r".*\.(connect_tcp|start_tls)\.complete")


class Connection:
    """Thread-safe. `token` is asked before each request; `silence_s`: without a byte for so long, a
    connection counts as broken. Proxies are the system's (HTTPS_PROXY, NO_PROXY, Windows' settings)."""

    def __init__(self, endpoint: str, token: Callable[[], str | None], silence_s: float) -> None:
        self._origin = _origin(httpx2.URL(endpoint))
        self._token = token
        try:
            self._client = httpx2.Client(
                timeout=httpx2.Timeout(silence_s, connect=min(_CONNECT_S, silence_s)),
                # A request brings gigabytes: a new connection for each costs nothing, and a stop knows all.
                limits=httpx2.Limits(max_keepalive_connections=0),
                headers={"User-Agent": f"specexec-desktop/{version('specexec-desktop')}"},
            )
        except (ValueError, ImportError, httpx2.InvalidURL) as error:
            raise BadOption("The proxy is set to what is no address.", "Check HTTPS_PROXY.") from error

    def close(self) -> None:
        self._client.close()

    @contextmanager
    def get(self, url: str, headers: Mapping[str, str], stop: Stop) -> Iterator[httpx2.Response]:
        """The answer to a GET at the end of all redirects, its body unread. Raises httpx2's `TransportError`,
        `Stopped`, `BadDownload`."""
        place = httpx2.URL(url)
        for _ in range(_MOST_REDIRECTS):
            with ExitStack() as stack:

                def opened(event: str, said: dict[str, Any], stack: ExitStack = stack) -> None:
                    if _OPENED.fullmatch(event):
                        stack.enter_context(stop.hanging_up(said["return_value"].get_extra_info("socket")))

                request = self._client.build_request(
                    "GET", place, headers=self._with_token(place, headers), extensions={"trace": opened}
                )
                response = self._client.send(request, stream=True)
                stack.callback(response.close)
                if not response.has_redirect_location:
                    yield response
                    return
                place = _next(place, response.headers["Location"])
        raise BadDownload("The Hub redirects without end.", "Try again later.")

    def sends_token(self, url: httpx2.URL) -> bool:
        """Whether what was asked of `url` came with the token."""
        return _origin(url) == self._origin and self._token() is not None

    def is_hub(self, url: httpx2.URL) -> bool:
        return _origin(url) == self._origin

    def _with_token(self, url: httpx2.URL, headers: Mapping[str, str]) -> dict[str, str]:
        token = self._token() if self.is_hub(url) else None
        return {**headers, **({"Authorization": f"Bearer {token}"} if token else {})}


def _origin(url: httpx2.URL) -> tuple[str, str, int | None]:
    return url.scheme, url.host, url.port  # the port is None where it is the scheme's own


def _next(place: httpx2.URL, location: str) -> httpx2.URL:
    try:
        target = place.join(location)
    except httpx2.InvalidURL as error:
        raise BadDownload("The Hub redirects to what is no address.", "Try again later.") from error
    if target.scheme != "https" and (target.scheme != "http" or place.scheme == "https"):
        raise BadDownload("The Hub redirects to an address that is not encrypted.", "Try again later.")
    return target.copy_with(username=None, password=None) if target.userinfo else target
