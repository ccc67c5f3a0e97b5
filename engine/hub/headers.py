"""What the headers of answers say. What is not a number, or one that no honest server sends, is None."""

import email.utils
import re
import time
from dataclasses import dataclass

import httpx2

_DIGITS = r"(\d{1,18})"
_NUMBER = re.compile(_DIGITS, re.ASCII)
_RANGE = re.compile(rf"bytes {_DIGITS}-{_DIGITS}/(?:{_DIGITS}|\*)", re.ASCII)
_NO_RANGE = re.compile(rf"bytes \*/{_DIGITS}", re.ASCII)
ETAG = r'^(?:"[\x21\x23-\x7e]*")?\Z'  # a strong ETag (RFC 9110, 8.8.3), or ""
_LONGEST_REQUESTED_WAIT_S = 3600.0


@dataclass(frozen=True, slots=True)
class ContentRange:
    """The range of a file that an answer holds. `nbytes`: the size of the file; None if it is not said."""

    start: int
    nbytes: int | None


def content_range(response: httpx2.Response) -> ContentRange | None:
    """Return what the header Content-Range of a response with a range (206) says."""
    found = _RANGE.fullmatch(response.headers.get("Content-Range", ""))
    return ContentRange(int(found[1]), int(found[3]) if found[3] else None) if found else None


def size_beside_no_range(response: httpx2.Response) -> int | None:
    """Return the file's size from the header Content-Range of a response without a range (416)."""
    found = _NO_RANGE.fullmatch(response.headers.get("Content-Range", ""))
    return int(found[1]) if found else None


def content_length(response: httpx2.Response) -> int | None:
    found = _NUMBER.fullmatch(response.headers.get("Content-Length", ""))
    return int(found[1]) if found else None


def strong_etag(response: httpx2.Response) -> str:
    """Return the ETag; "" if there is none, or if it is malformed or weak.

    If-Range forbids weak ones (RFC 9110, 13.1.5).
    """
    etag: str = response.headers.get("ETag", "")
    return etag if re.match(ETAG, etag) else ""


def requested_wait_s(response: httpx2.Response) -> float | None:
    """Return the seconds that the header Retry-After asks to wait, at most an hour; None without the header.

    The header contains seconds or a date (RFC 9110, 10.2.3).
    """
    value: str = response.headers.get("Retry-After", "")
    if found := _NUMBER.fullmatch(value):
        return min(float(found[1]), _LONGEST_REQUESTED_WAIT_S)
    parsed = email.utils.parsedate_tz(value)
    if parsed is None:
        return None
    try:
        seconds = email.utils.mktime_tz(parsed) - time.time()
    except (ValueError, OverflowError):  # no such day, or a year that no calendar has
        return None
    return min(max(seconds, 0.0), _LONGEST_REQUESTED_WAIT_S)
