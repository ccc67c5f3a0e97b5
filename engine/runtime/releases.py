"""Check whether a newer release of the app exists. Sends a request only when called; downloads no release.

The feed is a URL that returns one JSON object in the format of GitHub's `releases/latest`:
{"tag_name": "v1.2.3", "html_url": …}.
"""

import re
from dataclasses import dataclass
from importlib.metadata import metadata, version

import httpx2
from msgspec import Struct

from engine.documents import json_of
from engine.errors import SpecExecError
from engine.hub.connection import Bounds, fetch
from engine.runtime.errors import Unreachable

BOUNDS = Bounds(silence_s=10.0, whole_s=30.0, nbytes=4 << 20)
_VERSION = re.compile(r"\d{1,9}(?:\.\d{1,9}){0,9}", re.ASCII)
_LONGEST = 40  # characters of a version, which the window shows


class _Latest(Struct):
    """The fields of a release that are read from the feed."""

    tag_name: str
    html_url: str


@dataclass(frozen=True, slots=True)
class Release:
    """A published release. `page`: the URL of the web page with its description and downloads."""

    version: str
    page: str


def repository() -> str | None:
    """Return the URL of the app's GitHub repository from the package metadata; None if it names none."""
    urls: list[str] = metadata("specexec-desktop").get_all("Project-URL") or []
    for entry in urls:
        label, _, address = entry.partition(", ")
        if label == "Repository":
            return address
    return None


def newer_release(feed: str) -> Release | None:
    """Return the newest release if it is newer than this app, else None. feed: the URL to ask.

    Sends only the request itself, without data about the user. Raises `Unreachable` if the feed cannot be
    downloaded or understood, or names a page that is not https.
    """
    try:
        answer = fetch(feed, bounds=BOUNDS)
        if answer.status != 200:
            raise ValueError(f"error {answer.status}")
        latest = json_of(answer.body, _Latest)
    except (httpx2.HTTPError, httpx2.InvalidURL, ValueError, SpecExecError) as error:
        raise Unreachable("The release information could not be downloaded.", "Try again later.") from error
    release = Release(latest.tag_name.removeprefix("v"), latest.html_url)
    if not _VERSION.match(release.version) or len(release.version) > _LONGEST:
        raise Unreachable("The release information names no version.", "Try again later.")
    if not release.page.startswith("https://"):
        raise Unreachable("The release information contains an unencrypted address.", "Try again later.")
    return release if _order(release.version) > _order(version("specexec-desktop")) else None


def _order(text: str) -> tuple[list[int], bool]:
    """Return a key that sorts versions: 1.2 before 1.2.1, and a pre-release (1.2rc1) before its release."""
    match = _VERSION.match(text)
    numbers = [int(part) for part in match.group().split(".")] if match else []
    return numbers, match is not None and match.group() == text
