"""Ask the Hub for metadata: search results, a repository's files at a commit, whether access is allowed."""

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING
from urllib.parse import quote, urlsplit

import httpx2

from engine.errors import BadOption
from engine.hub.access import refusal
from engine.hub.connection import METADATA, BadAnswer, fetch
from engine.hub.errors import HubUnreachable
from engine.hub.item import MOST_NBYTES, RemoteFile, Repository, is_repository
from engine.hub.tokens import AccessTokens

if TYPE_CHECKING:
    from huggingface_hub import HfApi
    from huggingface_hub.hf_api import ModelInfo

HUGGING_FACE = "https://huggingface.co"
ENDPOINT_VARIABLE = "HF_ENDPOINT"
# What the Hub's library is told of an answer. Other headers would make it ask for further pages (Link), sleep
# for as long as a server wants (Retry-After), or print what a server says (X-HF-Warning).
_KNOWN_HEADERS = (b"x-error-code", b"x-error-message")
_BUSY = (408, 429, 500, 502, 503, 504)  # the library would try these again, for minutes
_SETTINGS = (
    "HF_HUB_DISABLE_TELEMETRY",
    "HF_HUB_DISABLE_UPDATE_CHECK",
    "HF_HUB_DISABLE_IMPLICIT_TOKEN",
    "HF_HUB_DISABLE_PROGRESS_BARS",
)
_MOST_COUNTED = 10**15  # downloads and likes
_COMMIT = re.compile(r"[0-9a-f]{7,64}")
_ADDRESS = re.compile(r"(?:https?://[^/\s]+/)?([\w.-]+/[\w.-]+)(?:/(?:tree|blob|resolve)/\S*|/)?")


@dataclass(frozen=True, slots=True)
class SearchHit:
    """A repository found by a search. `id`: owner/name; `license`: "" if the repository names none."""

    id: str
    downloads: int
    likes: int
    license: str
    gated: bool


class Hub:
    """The Hugging Face Hub or a mirror of it.

    `search`, `repository` and `check_access` wait for the network and do not belong on a GUI thread. They
    raise `HubUnreachable` if there is no valid response; `ModelNotFound` if there is no such repository;
    `TokenNeeded`, `LicenseNotAccepted` or `AccessRefused` if access is denied.

    Attributes: `endpoint`, the Hub's URL (if none is given: $HF_ENDPOINT, else huggingface.co); `tokens`,
    which provides the access token.
    """

    def __init__(self, endpoint: str | None = None, tokens: AccessTokens | None = None) -> None:
        self.endpoint = (endpoint or os.environ.get(ENDPOINT_VARIABLE) or HUGGING_FACE).rstrip("/")
        if urlsplit(self.endpoint).scheme not in ("http", "https") or not urlsplit(self.endpoint).netloc:
            raise BadOption(
                f"{self.endpoint!r} is not the address of a Hub.", f"Set {ENDPOINT_VARIABLE} to https://…"
            )
        self.tokens = tokens or AccessTokens(self.endpoint)

    def page(self, repository: str) -> str:
        """Return the URL of the repository's web page."""
        return f"{self.endpoint}/{repository}"

    def file_url(self, repository: Repository, file: RemoteFile) -> str:
        return f"{self.endpoint}/{repository.id}/resolve/{repository.commit}/{quote(file.name)}"

    def search(self, text: str, limit: int = 20) -> list[SearchHit]:
        """Return repositories whose names contain `text`, the most downloaded first."""
        with self._api(text) as api:
            models = api.list_models(
                search=text,
                limit=limit,
                sort="downloads",
                expand=["downloads", "likes", "gated", "tags"],
                token=self.tokens.get() or False,
            )
            return [
                SearchHit(
                    info.id, _count(info.downloads), _count(info.likes), _license(info), bool(info.gated)
                )
                for info in models
                if is_repository(info.id)
            ]

    def repository(self, id: str, revision: str = "") -> Repository:
        """Return the repository `id` (owner/name) with all its files.

        revision: a branch, tag or commit; "" for the default branch. Raises `UnsafeName` if a file name is
        unsafe, and the errors listed for `Hub`.
        """
        with self._api(id) as api:
            info = api.model_info(
                id, revision=revision or None, files_metadata=True, token=self.tokens.get() or False
            )
            commit = info.sha or ""
            if not _COMMIT.fullmatch(commit):
                raise ValueError("not a commit")
            files = tuple(
                RemoteFile(
                    _text(sibling.rfilename),
                    _size(sibling.lfs.size if sibling.lfs else sibling.size),
                    _hexadecimal(sibling.lfs.sha256, 64) if sibling.lfs else "",
                    _hexadecimal(sibling.blob_id, 40) if not sibling.lfs and sibling.blob_id else "",
                )
                for sibling in info.siblings or ()
            )
            license = _license(info)
        return Repository(id, commit, license, bool(info.gated), self.page(id), files)

    def check_access(self, repository: Repository) -> None:
        """Check, without requesting a file, that the Hub allows access to the repository's files.

        Raises the errors listed for `Hub` if it does not.
        """
        if not repository.gated:
            return
        from huggingface_hub.errors import HfHubHTTPError

        with self._api(repository.id) as api:
            try:
                api.auth_check(repository.id, token=self.tokens.get() or False)
            except HfHubHTTPError as error:
                if error.response.status_code != 404:  # a mirror may not support this request
                    raise

    @contextmanager
    def _api(self, repository: str) -> Iterator["HfApi"]:
        """Yield huggingface_hub's client, and convert the errors raised in the block to errors for the user.

        repository: the repository's id, for messages.
        """
        disable_telemetry()
        from huggingface_hub import HfApi, constants
        from huggingface_hub.errors import HfHubHTTPError

        if constants.HF_HUB_OFFLINE:
            raise HubUnreachable("The Hub is disabled by HF_HUB_OFFLINE.", "Unset it to download models.")
        host = urlsplit(self.endpoint).netloc
        try:
            yield HfApi(endpoint=self.endpoint)
        except HfHubHTTPError as error:
            status = error.response.status_code
            if status in (401, 403, 404):
                sent_token = self.tokens.get() is not None
                raise refusal(
                    status, error.response.headers, repository, self.page(repository), sent_token
                ) from None
            raise HubUnreachable(f"{host} responds with error {status}.", "Try again later.") from None
        except (ValueError, LookupError, TypeError, AttributeError, ArithmeticError, RecursionError) as error:
            raise HubUnreachable(
                f"The response of {host} is not understood.", "Check that it is the address of a Hub."
            ) from error


def repository_id(text: str) -> str | None:
    """Return owner/name from text that the user typed or pasted; None if it is not recognized.

    text: owner/name, or the URL of one of the repository's web pages.
    """
    match = _ADDRESS.fullmatch(text.strip())
    return match[1] if match else None


@cache
def disable_telemetry() -> None:
    """Stop huggingface_hub from sending or fetching more than the requests need.

    By default it tells the Hub with each request which packages are installed and which program runs it, and
    once a day fetches a list of such programs. The settings work even if the library is already imported, and
    child processes inherit them.
    """
    for setting in _SETTINGS:
        os.environ[setting] = "1"
    from huggingface_hub import constants, set_client_factory

    constants.HF_HUB_DISABLE_TELEMETRY = True
    constants.HF_HUB_DISABLE_UPDATE_CHECK = True
    constants.HF_HUB_DISABLE_IMPLICIT_TOKEN = True
    set_client_factory(client)


def client() -> httpx2.Client:
    """Return the HTTP client through which huggingface_hub sends its requests."""
    return httpx2.Client(transport=BoundedTransport())


class BoundedTransport(httpx2.BaseTransport):
    """Sends requests by `connection.fetch`, which bounds what huggingface_hub does not: time and size.

    Its errors are not among those after which that library tries again.
    """

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        host = request.url.netloc.decode("ascii")
        token = request.headers.get("Authorization", "").removeprefix("Bearer ")
        try:
            answer = fetch(str(request.url), token=token or None, bounds=METADATA)
        except httpx2.TransportError as error:
            raise HubUnreachable(
                f"{host} does not respond.",
                "Check the Internet connection, and the proxy if there is one.",
            ) from error
        except BadAnswer as error:
            raise HubUnreachable(
                f"The response of {host} is refused: {error}.", "Check that it is the address of a Hub."
            ) from error
        if answer.status in _BUSY:
            raise HubUnreachable(f"{host} responds with error {answer.status}.", "Try again later.")
        known = [(name, value) for name, value in answer.headers.raw if name.lower() in _KNOWN_HEADERS]
        # Of a refusal, the library would show the body, whatever it contains.
        return httpx2.Response(
            answer.status, headers=known, content=b"" if answer.status >= 400 else answer.body
        )


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise ValueError("not a text")
    return value


def _count(value: object) -> int:
    return value if type(value) is int and 0 <= value <= _MOST_COUNTED else 0


def _size(value: object) -> int:
    if type(value) is not int or not 0 <= value <= MOST_NBYTES:
        raise ValueError("a file without a size")
    return value


def _hexadecimal(value: object, digits: int) -> str:
    if not isinstance(value, str) or not re.fullmatch(rf"[0-9a-f]{{{digits}}}", value):
        raise ValueError("an invalid checksum")
    return value


def _license(info: "ModelInfo") -> str:
    named = (tag.removeprefix("license:") for tag in info.tags or () if tag.startswith("license:"))
    return next(named, "")
