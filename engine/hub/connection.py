"""Request files over HTTP: follow redirects, and send the access token to the Hub only."""

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


class HubConnection:
    """An HTTP client for the Hub's files. Thread-safe.

    token: returns the access token or None; called for each request to the Hub. silence_s: a connection that
    receives nothing for this many seconds counts as broken. Uses the system's proxies (HTTPS_PROXY, NO_PROXY,
    Windows' settings).
    """

    def __init__(self, endpoint: str, token: Callable[[], str | None], silence_s: float) -> None:
        self._origin = _origin(httpx2.URL(endpoint))
        self._token = token
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

                def opened(event: str, info: dict[str, Any], stack: ExitStack = stack) -> None:
                    if _OPENED.fullmatch(event):
                        stack.enter_context(stop.hanging_up(info["return_value"].get_extra_info("socket")))

                request = self._client.build_request(
                    "GET", place, headers=self._with_token(place, headers), extensions={"trace": opened}
                )
                response = self._client.send(request, stream=True)
                stack.callback(response.close)
                if not response.has_redirect_location:
                    yield response
                    return
                place = _next(place, response.headers["Location"])
        raise BadDownload("The Hub redirects too many times.", "Try again later.")

    def sends_token(self, url: httpx2.URL) -> bool:
        """Whether requests to `url` carry the token."""
        return _origin(url) == self._origin and self._token() is not None

    def is_hub(self, url: httpx2.URL) -> bool:
        return _origin(url) == self._origin

    def _with_token(self, url: httpx2.URL, headers: Mapping[str, str]) -> dict[str, str]:
        token = self._token() if self.is_hub(url) else None
        return {**headers, **({"Authorization": f"Bearer {token}"} if token else {})}


def _origin(url: httpx2.URL) -> tuple[str, str, int | None]:
    return url.scheme, url.host, url.port  # the port is None if it is the scheme's default


def _next(place: httpx2.URL, location: str) -> httpx2.URL:
    try:
        target = place.join(location)
    except httpx2.InvalidURL as error:
        raise BadDownload("The Hub redirects to an invalid address.", "Try again later.") from error
    if target.scheme != "https" and (target.scheme != "http" or place.scheme == "https"):
        raise BadDownload("The Hub redirects to an unencrypted address.", "Try again later.")
    return target.copy_with(username=None, password=None) if target.userinfo else target
