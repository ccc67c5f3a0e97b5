"""Whether a newer release of the app exists. Asks only when called, and downloads nothing.

The feed is one JSON object as GitHub's `releases/latest` gives it: {"tag_name": "v1.2.3", "html_url": …}.
"""

import re
from dataclasses import dataclass
from importlib.metadata import metadata, version

import httpx2

from engine.runtime.errors import Unreachable

TIMEOUT_S = 10.0


@dataclass(frozen=True, slots=True)
class Release:
    """Attribute `page`: where a person reads about it and gets it."""

    version: str
    page: str


def repository() -> str | None:
    """Address of the GitHub repository that this program was released from, as its package says; None: it is
    no release."""
    urls: list[str] = metadata("specexec-desktop").get_all("Project-URL") or []
    for said in urls:
        what, _, address = said.partition(", ")
        if what == "Repository":
            return address
    return None


def newer_release(feed: str) -> Release | None:
    """The newest release, where it is newer than this app. Sends nothing but the request. Raises
    `Unreachable`."""
    try:
        answer = httpx2.get(
            feed, timeout=TIMEOUT_S, follow_redirects=True, headers={"User-Agent": "specexec"}
        )
        answer.raise_for_status()
        said = answer.json()
        found = Release(said["tag_name"].removeprefix("v"), said["html_url"])
    except (httpx2.HTTPError, httpx2.InvalidURL, ValueError, KeyError, TypeError, AttributeError) as error:
        raise Unreachable("The list of releases cannot be read.", "Try again later.") from error
    if not found.page.startswith("https://"):
        raise Unreachable(
            "The list of releases leads to an address that is not encrypted.", "Try again later."
        )
    return found if _order(found.version) > _order(version("specexec-desktop")) else None


def _order(text: str) -> tuple[list[int], bool]:
    """1.2 before 1.2.1; a pre-release (1.2rc1) before its release."""
    match = re.match(r"\d+(?:\.\d+)*", text)
    numbers = [int(part) for part in match.group().split(".")] if match else []
    return numbers, match is not None and match.group() == text
