"""One file over HTTP ranges, until it is here with the right checksum.

Faults of the network and of servers (5xx, 408, 425, 429) are waited out without end. What will not change by
waiting (401, 403, 404, other sizes than promised, a checksum that is wrong twice) is an error at once.
"""

import email.utils
import re
import time
from dataclasses import dataclass

import httpx2

from engine.hub import disk
from engine.hub.access import refusal
from engine.hub.connection import Connection
from engine.hub.errors import BadDownload, OnlyByXet
from engine.hub.item import RemoteFile, Repository
from engine.hub.limit import Limit
from engine.hub.part import Part
from engine.hub.progress import Meter
from engine.hub.stop import Stop

# The Hub's CDN answers a longer range with 400: files beyond 50 GB come in several
# (huggingface/xet-core issues 238 and 592; huggingface_hub `MAX_HTTP_DOWNLOAD_SIZE`).
RANGE_NBYTES = 10 << 30
XET_NBYTES = 50 * 10**9
_RANGE = re.compile(r"bytes (\d+)-(\d+)/(\d+|\*)")
_NO_RANGE = re.compile(r"bytes \*/(\d+)")
_PASSING = {408, 425, 429}
_LONGEST_ASKED_WAIT_S = 3600.0


@dataclass(frozen=True, slots=True)
class Patience:
    """Seconds: `silence_s` without a byte is a broken connection; the first wait before the next try, doubled
    after each that brought nothing, and the longest."""

    silence_s: float = 30.0
    first_wait_s: float = 1.0
    longest_wait_s: float = 60.0

    def wait_s(self, failures: int) -> float:
        """After `failures` tries in a row that brought nothing."""
        return min(self.first_wait_s * 2.0 ** min(failures, 30), self.longest_wait_s)


class Trouble(Exception):
    """Worth another try, after `wait_s` where the server says so."""

    def __init__(self, words: str, wait_s: float | None = None) -> None:
        super().__init__(words)
        self.wait_s = wait_s


@dataclass(frozen=True, slots=True)
class Transfer:
    """All that fetching one `file` of `repository` at `url` into `part` (open) needs. Belongs to one
    thread."""

    repository: Repository
    file: RemoteFile
    url: str
    part: Part
    connection: Connection
    meter: Meter
    limit: Limit
    patience: Patience
    stop: Stop

    def run(self) -> None:
        """Raises `Stopped`; `DiskFull`, `DiskProblem`; `BadDownload`, `OnlyByXet`, `ModelNotFound`,
        `TokenNeeded`, `LicenseNotAccepted`, `AccessRefused`."""
        failures, wrong = 0, 0
        while not self.part.whole:
            before = self.part.position
            try:
                if before < self.file.nbytes:
                    self._fetch_range()
                elif not self.part.finish():
                    self._start_over_once(wrong)
                    wrong += 1
                failures = 0
            except (httpx2.TransportError, Trouble) as error:
                self.stop.check()  # a stop breaks the connection
                failures = 0 if self.part.position > before else failures + 1
                self._wait(error, failures)

    def _start_over_once(self, wrong: int) -> None:
        if wrong:
            raise BadDownload(
                f"{self.file.name} came twice with another SHA-256 than the Hub's list says.",
                "Try another network; the computer's memory or disk may be faulty too.",
            )
        self.part.restart()
        self.meter.at(0)
        self.meter.enter("retrying", f"{self.file.name} arrived damaged; it is fetched once more.")

    def _wait(self, error: Exception, failures: int) -> None:
        asked = error.wait_s if isinstance(error, Trouble) else None
        seconds = self.patience.wait_s(failures) if asked is None else asked
        again = f"trying again in {seconds:.0f} s" if seconds >= 1 else "trying again"
        self.meter.enter("retrying", f"{self._words(error)}; {again}.")
        self.stop.wait(seconds)

    def _words(self, error: Exception) -> str:
        match error:
            case Trouble():
                return str(error)
            case httpx2.ProxyError():
                return f"The proxy refuses ({error})"
            case httpx2.ReadTimeout():
                return f"Nothing came for {self.patience.silence_s:.0f} s"
            case httpx2.ConnectError() | httpx2.ConnectTimeout():
                return "The server cannot be reached"
            case _:
                return "The connection broke off"

    # -- one request -----------------------------------------------------------------------------------------

    def _fetch_range(self) -> None:
        start = self.part.position
        end = min(start + RANGE_NBYTES, self.file.nbytes)
        headers = {"Range": f"bytes={start}-{end - 1}", "Accept-Encoding": "identity"}
        if start and self.part.etag:
            headers["If-Range"] = self.part.etag
        with self.connection.get(self.url, headers, self.stop) as response:
            match response.status_code:
                case 206 if self._continues(response, start):
                    self._receive(response, end)
                case 200:
                    self._starts_again(response)
                    self._receive(response, self.file.nbytes)
                case 206:
                    self.part.restart()  # another file than the one that was begun
                case 416 if start:
                    said = _NO_RANGE.fullmatch(response.headers.get("Content-Range", ""))
                    self._check_size(int(said[1]) if said else None)
                    self.part.restart()
                case status:
                    raise self._failure(status, response)

    def _continues(self, response: httpx2.Response, start: int) -> bool:
        """False where the file has changed since it was begun."""
        said = _RANGE.fullmatch(response.headers.get("Content-Range", ""))
        if said is None or int(said[1]) != start:
            raise Trouble("The server answers with another range than was asked for")
        self._check_size(None if said[3] == "*" else int(said[3]))
        etag = _strong_etag(response)
        if start and self.part.etag and etag and etag != self.part.etag:
            return False
        self.part.begin(etag or self.part.etag)
        return True

    def _starts_again(self, response: httpx2.Response) -> None:
        """The server does not know ranges, or the file has changed."""
        length = response.headers.get("Content-Length", "")
        self._check_size(int(length) if length.isdecimal() else None)
        if self.part.position:
            self.part.restart()
        self.part.begin(_strong_etag(response))

    def _check_size(self, nbytes: int | None) -> None:
        if nbytes is not None and nbytes != self.file.nbytes:
            raise BadDownload(
                f"The server has {nbytes:,} bytes of {self.file.name}, "
                f"the Hub's list says {self.file.nbytes:,}.",
                "Try again later, or another network; what was fetched is kept.",
            )

    def _receive(self, response: httpx2.Response, end: int) -> None:
        if response.headers.get("Content-Encoding", "identity") != "identity":
            raise BadDownload(
                f"The server sends {self.file.name} compressed.", "Try another network or proxy."
            )
        self.meter.enter("downloading")
        for data in response.iter_raw():
            self.stop.check()
            if len(data) > end - self.part.position:
                raise BadDownload(
                    f"The server sends more of {self.file.name} than it said.", "Try again later."
                )
            self.part.append(data)
            self.meter.fetched(len(data), self.part.position)
            self.stop.wait(self.limit.delay(len(data)))
        if self.part.position < end:
            raise Trouble("The server ended too early")

    def _failure(self, status: int, response: httpx2.Response) -> Exception:
        from_hub = self.connection.is_hub(response.url)
        if status >= 500 or status in _PASSING:
            return Trouble(f"{response.url.host} answers with error {status}", _asked_wait_s(response))
        if self.file.nbytes > XET_NBYTES and status in (400, 416):
            return OnlyByXet(
                f"{self.file.name} ({disk.gib(self.file.nbytes)}) is not given out in ranges of bytes.",
                "Files beyond 50 GB lie on Xet: fetch it with `hf download`, then specexec models import.",
            )
        if from_hub and status in (401, 403, 404):
            return refusal(
                status,
                response.headers,
                self.repository.id,
                self.repository.page,
                self.connection.sends_token(response.url),
            )
        return BadDownload(
            f"{response.url.host} refuses {self.file.name} with error {status}.", "Try again later."
        )


def _strong_etag(response: httpx2.Response) -> str:
    """If-Range takes no weak ones (RFC 9110, 13.1.5)."""
    etag: str = response.headers.get("ETag", "")
    return etag if etag.startswith('"') else ""


def _asked_wait_s(response: httpx2.Response) -> float | None:
    """Retry-After: seconds or a date (RFC 9110, 10.2.3)."""
    said: str = response.headers.get("Retry-After", "")
    if said.isdecimal():
        return min(float(said), _LONGEST_ASKED_WAIT_S)
    parsed = email.utils.parsedate_tz(said)
    if parsed is None:
        return None
    return min(max(email.utils.mktime_tz(parsed) - time.time(), 0.0), _LONGEST_ASKED_WAIT_S)
