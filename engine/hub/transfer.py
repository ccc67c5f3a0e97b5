"""Transfer one file by HTTP range requests until it is complete and its checksum is right.

After a fault of the network or a server (5xx, 408, 425, 429) the transfer is retried, without limit. A fault
that waiting does not cure (401, 403, 404, a size other than the Hub lists, a checksum wrong for the second
time) raises an error at once.
"""

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass

import httpx2

from engine.hub import disk
from engine.hub.access import refusal
from engine.hub.connection import HttpConnection
from engine.hub.errors import BadDownload, OnlyByXet
from engine.hub.headers import (
    content_length,
    content_range,
    requested_wait_s,
    size_beside_no_range,
    strong_etag,
)
from engine.hub.item import RemoteFile, Repository
from engine.hub.part import Part
from engine.hub.progress import TransferMeter
from engine.hub.stop import Stop

# The Hub's CDN answers a request for more than 50 GB (XET_NBYTES) with 400, so longer files are fetched in
# several ranges (huggingface/xet-core issues 238 and 592; huggingface_hub `MAX_HTTP_DOWNLOAD_SIZE`).
RANGE_NBYTES = 10 << 30
XET_NBYTES = 50 * 10**9
_PASSING = {408, 425, 429}


@dataclass(frozen=True, slots=True)
class Patience:
    """How long a transfer waits before it retries.

    Attributes: `silence_s`, the seconds without a byte after which a connection counts as broken;
    `first_wait_s`, the wait after an attempt that received something, which doubles with each following
    attempt that receives nothing; `longest_wait_s`, the maximum of that wait.
    """

    silence_s: float = 30.0
    first_wait_s: float = 1.0
    longest_wait_s: float = 60.0

    def wait_s(self, failures: int) -> float:
        """Return the seconds to wait after `failures` attempts in a row that received nothing."""
        return min(self.first_wait_s * 2.0 ** min(failures, 30), self.longest_wait_s)


class Limit:
    """A bandwidth limit shared by several transfers. Thread-safe.

    `bytes_per_s`: the limit, 0 for none; may be changed at any time.
    """

    def __init__(self, bytes_per_s: float = 0, clock: Callable[[], float] = time.monotonic) -> None:
        self.bytes_per_s = bytes_per_s
        self._clock = clock
        self._lock = threading.Lock()
        self._free_at = clock()

    def delay(self, nbytes: int) -> float:
        """Return the seconds that a transfer must wait after receiving `nbytes`.

        These waits keep all transfers together within the limit.
        """
        rate = self.bytes_per_s
        if rate <= 0:
            return 0.0
        with self._lock:
            now = self._clock()
            self._free_at = max(self._free_at, now) + nbytes / rate
            return self._free_at - now


class TransientFailure(Exception):
    """A failure after which another attempt may succeed.

    `wait_s`: the seconds that the server asks the client to wait, or None if it does not say.
    """

    def __init__(self, message: str, wait_s: float | None = None) -> None:
        super().__init__(message)
        self.wait_s = wait_s


@dataclass(frozen=True, slots=True)
class FileTransfer:
    """The transfer of one `file` from `url` into the open `part`. Used by one thread.

    repository: the Hub's repository with the file; None if it comes from elsewhere.
    """

    repository: Repository | None
    file: RemoteFile
    url: str
    part: Part
    connection: HttpConnection
    meter: TransferMeter
    limit: Limit
    patience: Patience
    stop: Stop

    def run(self) -> None:
        """Fetch the file until it is complete and its checksum is right.

        Raises `DiskFull` or `DiskProblem`; `BadDownload` if a server sends something wrong or refuses the
        file; `OnlyByXet` if a file over 50 GB cannot be fetched in ranges; `ModelNotFound`, `TokenNeeded`,
        `LicenseNotAccepted` or `AccessRefused` if the Hub denies access; `Stopped` if a stop was requested.
        """
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
            except (httpx2.TransportError, TransientFailure) as error:
                self.stop.check()  # the error may come from a stop, which shuts down the connection
                failures = 0 if self.part.position > before else failures + 1
                self._wait(error, failures)

    def _start_over_once(self, wrong: int) -> None:
        if wrong:
            raise BadDownload(
                f"{self.file.name} was received twice with a SHA-256 other than the one listed.",
                "Try another network; the computer's memory or disk may also be faulty.",
            )
        self.part.restart()
        self.meter.at(0)
        self.meter.enter("retrying", f"{self.file.name} arrived damaged and is downloaded again.")

    def _wait(self, error: Exception, failures: int) -> None:
        seconds = self.patience.wait_s(failures)
        if isinstance(error, TransientFailure) and error.wait_s is not None:
            seconds = max(seconds, error.wait_s)
        again = f"trying again in {seconds:.0f} s" if seconds >= 1 else "trying again"
        self.meter.enter("retrying", f"{self._describe(error)}; {again}.")
        self.stop.wait(seconds)

    def _describe(self, error: Exception) -> str:
        match error:
            case TransientFailure():
                return str(error)
            case httpx2.ProxyError():
                return f"The proxy refused the connection ({error})"
            case httpx2.ReadTimeout():
                return f"Nothing was received for {self.patience.silence_s:.0f} s"
            case httpx2.ConnectError() | httpx2.ConnectTimeout():
                return "The server cannot be reached"
            case _:
                return "The connection was lost"

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
                    self.part.restart()  # the file has changed since the first request
                case 416 if start:
                    self._check_size(size_beside_no_range(response))
                    self.part.restart()
                case status:
                    raise self._failure(status, response)

    def _continues(self, response: httpx2.Response, start: int) -> bool:
        """Whether the response (206) continues the part.

        False if the file on the server has changed since the first request.
        """
        sent = content_range(response)
        if sent is None or sent.start != start:
            raise TransientFailure("The server sent a range other than the one requested")
        self._check_size(sent.nbytes)
        etag = strong_etag(response)
        if start and self.part.etag and etag and etag != self.part.etag:
            return False
        self.part.begin(etag or self.part.etag)
        return True

    def _starts_again(self, response: httpx2.Response) -> None:
        """Restart the part for a response with the whole file (200).

        The server then does not support ranges, or the file has changed.
        """
        self._check_size(content_length(response))
        if self.part.position:
            self.part.restart()
        self.part.begin(strong_etag(response))

    def _check_size(self, nbytes: int | None) -> None:
        if nbytes is not None and nbytes != self.file.nbytes:
            raise BadDownload(
                f"{self.file.name} has {nbytes:,} bytes on the server; {self.file.nbytes:,} are listed.",
                "Try again later, or another network; the bytes received so far are kept.",
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
                    f"The server sends more bytes of {self.file.name} than announced.", "Try again later."
                )
            self.part.append(data)
            self.meter.fetched(len(data), self.part.position)
            self.stop.wait(self.limit.delay(len(data)))
        if self.part.position < end:
            raise TransientFailure("The server ended the transfer too early")

    def _failure(self, status: int, response: httpx2.Response) -> Exception:
        from_hub = self.connection.is_home(response.url)
        if status >= 500 or status in _PASSING:
            return TransientFailure(
                f"{response.url.host} responds with error {status}", requested_wait_s(response)
            )
        if self.file.nbytes > XET_NBYTES and status in (400, 416):
            return OnlyByXet(
                f"{self.file.name} ({disk.gib(self.file.nbytes)}) cannot be downloaded in ranges.",
                "The Hub stores files over 50 GB on Xet. Run hf download, then specexec models import.",
            )
        if self.repository is not None and from_hub and status in (401, 403, 404):
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
