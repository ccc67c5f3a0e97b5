"""Check whether a newer release of the app exists. Sends a request only when called; downloads no release.

The feed is a URL that returns one JSON object in the format of GitHub's `releases/latest`:
{"tag_name": "v1.2.3", "html_url": …}.
"""

import re
from dataclasses import dataclass
from importlib.metadata import metadata, version

import httpx2

from engine.runtime.errors import Unreachable

TIMEOUT_S = 10.0


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
        answer = httpx2.get(
            feed, timeout=TIMEOUT_S, follow_redirects=True, headers={"User-Agent": "specexec"}
        )
        answer.raise_for_status()
        entry = answer.json()
        release = Release(entry["tag_name"].removeprefix("v"), entry["html_url"])
    except (httpx2.HTTPError, httpx2.InvalidURL, ValueError, KeyError, TypeError, AttributeError) as error:
        raise Unreachable("The release information could not be downloaded.", "Try again later.") from error
    if not release.page.startswith("https://"):
        raise Unreachable("The release information contains an unencrypted address.", "Try again later.")
    return release if _order(release.version) > _order(version("specexec-desktop")) else None


def _order(text: str) -> tuple[list[int], bool]:
    """Return a key that sorts versions: 1.2 before 1.2.1, and a pre-release (1.2rc1) before its release."""
    match = re.match(r"\d+(?:\.\d+)*", text)
    numbers = [int(part) for part in match.group().split(".")] if match else []
    return numbers, match is not None and match.group() == text
