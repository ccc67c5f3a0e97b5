"""A Hub for tests on 127.0.0.1: its API, its files on a second host, and the faults it is set to produce."""

import gzip
import hashlib
import json
import re
import threading
import time
from collections import defaultdict, deque
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, unquote, urlsplit

COMMIT = "0123456789abcdef0123456789abcdef01234567"
PIECE = 1 << 14
Fault = Callable[["Answer"], None]


@dataclass
class Offered:
    """A repository. `listed`: false (nbytes, sha256) of files in the API's responses."""

    files: dict[str, bytes]
    gated: str | bool = False
    license: str = "apache-2.0"
    commit: str = COMMIT
    in_git: set[str] = field(default_factory=set)
    listed: dict[str, tuple[int, str]] = field(default_factory=dict)
    refuses: tuple[int, dict[str, str]] | None = None


@dataclass(frozen=True)
class Asked:
    host: str
    path: str
    headers: dict[str, str]


class LyingHub:
    """Attributes: `endpoint`; `repositories` by id; `faults`: for each file name, the faults that replace the
    next responses; `api_faults`: the same for requests to the API; `asked`: all requests; `sent_nbytes` of
    files; `bytes_per_s`: 0 for no limit; `elsewhere`: whether files are redirected to another host."""

    def __init__(self) -> None:
        self.repositories: dict[str, Offered] = {}
        self.faults: dict[str, deque[Fault]] = defaultdict(deque)
        self.api_faults: deque[Fault] = deque()
        self.etags: dict[str, str] = {}
        self.asked: list[Asked] = []
        self.sent_nbytes = 0
        self.bytes_per_s = 0.0
        self.elsewhere = False
        self.closing = threading.Event()
        self.more_sent = threading.Condition()
        self._servers = [self._serve("hub"), self._serve("cdn")]
        self.endpoint, self.cdn = (f"http://127.0.0.1:{server.server_port}" for server in self._servers)

    def close(self) -> None:
        self.closing.set()
        for server in self._servers:
            server.shutdown()
            server.server_close()

    def ranges(self) -> list[str]:
        """Return the Range headers of all requests for files, answered or redirected, in order."""
        return [asked.headers["range"] for asked in self.asked if "range" in asked.headers]

    def wait_sent(self, nbytes: int, timeout_s: float = 20) -> None:
        """Wait until `nbytes` of files have been sent in all."""
        with self.more_sent:
            assert self.more_sent.wait_for(lambda: self.sent_nbytes >= nbytes, timeout_s)

    def _serve(self, host: str) -> ThreadingHTTPServer:
        handler = type("Handler", (Answer,), {"hub": self, "host": host})
        server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        server.daemon_threads = True
        server.handle_error = lambda *_: None  # a client that hangs up is no error here
        threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
        return server


class Answer(BaseHTTPRequestHandler):
    """The response to one request. Faults use `content`, `start`, `end` and the methods `head`, `body`,
    `refuse`."""

    hub: LyingHub
    host: str
    protocol_version = "HTTP/1.1"

    def log_message(self, *said: object) -> None:
        pass

    def do_GET(self) -> None:
        headers = {name.lower(): value for name, value in self.headers.items()}
        self.hub.asked.append(Asked(self.host, self.path, headers))
        url = urlsplit(self.path)
        with suppress(ConnectionError):
            if url.path.startswith("/api/") and self.hub.api_faults:
                self.hub.api_faults.popleft()(self)
            elif url.path.startswith("/api/"):
                self._api(url.path, parse_qs(url.query))
            elif match := re.fullmatch(r"/([^/]+/[^/]+)/resolve/(\w+)/(.+)", url.path):
                self._file(match[1], match[2], unquote(match[3]))
            else:
                self.refuse(404)

    # -- the API ---------------------------------------------------------------------------------------------

    def _api(self, path: str, query: dict[str, list[str]]) -> None:
        if path == "/api/models":
            wanted = query["search"][0]
            named = [id for id in self.hub.repositories if wanted.lower() in id.lower()]
            return self._json([self._described(id) for id in named])
        match = re.fullmatch(r"/api/models/([^/]+/[^/]+)(/auth-check|/revision/[^/]+)?", path)
        if not match or match[1] not in self.hub.repositories:
            return self.refuse(404, {"X-Error-Code": "RepoNotFound"})
        offered = self.hub.repositories[match[1]]
        if (match[2] or "").startswith("/revision/") and not match[2].endswith(("/main", offered.commit)):
            return self.refuse(404, {"X-Error-Code": "RevisionNotFound"})
        if match[2] == "/auth-check":
            return self.refuse(*offered.refuses) if offered.refuses else self._json({})
        return self._json(self._described(match[1]) | {"siblings": list(map(dict, self._siblings(offered)))})

    def _described(self, id: str) -> dict[str, object]:
        offered = self.hub.repositories[id]
        return {
            "id": id, "sha": offered.commit, "gated": offered.gated, "downloads": 7, "likes": 1,
            "tags": [f"license:{offered.license}"],
        }  # fmt: skip

    def _siblings(self, offered: Offered):
        for name, content in offered.files.items():
            nbytes, sha256 = offered.listed.get(name, (len(content), hashlib.sha256(content).hexdigest()))
            blob = hashlib.sha1(b"blob %d\0" % len(content) + content).hexdigest()
            lfs = (
                {}
                if name in offered.in_git
                else {"lfs": {"size": nbytes, "sha256": sha256, "pointerSize": 1}}
            )
            yield {"rfilename": name, "size": nbytes, "blobId": blob, **lfs}

    def _json(self, said: object) -> None:
        content = json.dumps(said).encode()
        self.head(200, {"Content-Length": len(content), "Content-Type": "application/json"})
        self.wfile.write(content)

    # -- the files -------------------------------------------------------------------------------------------

    def _file(self, id: str, commit: str, name: str) -> None:
        offered = self.hub.repositories.get(id)
        if offered is None or name not in offered.files or commit != offered.commit:
            return self.refuse(404, {"X-Error-Code": "EntryNotFound"})
        if self.host == "hub" and self.hub.elsewhere:
            return self.head(302, {"Location": self.hub.cdn + self.path + "?signed=1", "Content-Length": 0})
        self.content = offered.files[name]
        self.etag = self.hub.etags.get(name, '"first"')
        match = re.fullmatch(r"bytes=(\d+)-(\d+)", self.headers.get("Range", ""))
        fresh = self.headers.get("If-Range", self.etag) == self.etag
        self.ranged = match is not None and fresh
        self.start, self.end = 0, len(self.content)
        if match and fresh:
            self.start, self.end = int(match[1]), min(int(match[2]) + 1, len(self.content))
        faults = self.hub.faults[name]
        if faults:
            return faults.popleft()(self)
        if self.start >= self.end:
            return self.refuse(416, {"Content-Range": f"bytes */{len(self.content)}"})
        self.announce()
        return self.body(self.content[self.start : self.end])

    def announce(self, **instead: object) -> None:
        """Send the head of a correct response to this request, except for the headers `instead`."""
        headers: dict[str, object] = {"Content-Length": self.end - self.start, "ETag": self.etag}
        if self.ranged:
            headers["Content-Range"] = f"bytes {self.start}-{self.end - 1}/{len(self.content)}"
        self.head(206 if self.ranged else 200, headers | {k.replace("_", "-"): v for k, v in instead.items()})

    def head(self, status: int, headers: dict[str, object] | None = None) -> None:
        self.send_response(status)
        for name, value in (headers or {}).items():
            self.send_header(name, str(value))
        self.end_headers()

    def refuse(self, status: int, headers: dict[str, str] | None = None) -> None:
        self.head(status, {"Content-Length": 0, **(headers or {})})

    def body(self, content: bytes) -> None:
        for start in range(0, len(content), PIECE):
            piece = content[start : start + PIECE]
            self.wfile.write(piece)
            with self.hub.more_sent:
                self.hub.sent_nbytes += len(piece)
                self.hub.more_sent.notify_all()
            if self.hub.bytes_per_s:
                time.sleep(len(piece) / self.hub.bytes_per_s)

    def hang_up(self) -> None:
        self.close_connection = True


# -- faults --------------------------------------------------------------------------------------------------


def drops(after: int) -> Fault:
    """End the connection in the middle of the file."""

    def answer(request: Answer) -> None:
        request.announce()
        request.body(request.content[request.start : request.end][:after])
        request.hang_up()

    return answer


def stalls(after: int) -> Fault:
    """Send no further byte, and keep the connection open."""

    def answer(request: Answer) -> None:
        request.announce()
        request.body(request.content[request.start : request.end][:after])
        request.hub.closing.wait()
        request.hang_up()

    return answer


def silent(request: Answer) -> None:
    """Send nothing at all."""
    request.hub.closing.wait()
    request.hang_up()


def ignores_range(request: Answer) -> None:
    request.ranged, request.start, request.end = False, 0, len(request.content)
    request.announce()
    request.body(request.content)


def flips_a_bit(request: Answer) -> None:
    request.announce()
    spoiled = bytearray(request.content[request.start : request.end])
    spoiled[len(spoiled) // 2] ^= 1
    request.body(bytes(spoiled))


def trickles(request: Answer) -> None:
    """Send a byte every 20 ms, without end."""
    request.wfile.write(b"HTTP/1.1 200 OK\r\nX-Slow: ")
    while not request.hub.closing.wait(0.02):
        request.wfile.write(b".")
    request.hang_up()


def never_begins(request: Answer) -> None:
    """Promise an answer again and again."""
    while not request.hub.closing.is_set():
        request.wfile.write(b"HTTP/1.1 100 Continue\r\n\r\n")
    request.hang_up()


def endless(request: Answer) -> None:
    """Send JSON without end."""
    request.head(200, {"Content-Type": "application/json"})
    request.wfile.write(b"[")
    while not request.hub.closing.is_set():
        request.wfile.write(b"[0]," * PIECE)
    request.hang_up()


def bursts(encoding: str = "gzip", nbytes: int = 32 << 20) -> Fault:
    """Send a few bytes that become `nbytes` when decompressed."""
    content = gzip.compress(bytes(nbytes), compresslevel=9)
    headers: dict[str, object] = {"Content-Encoding": encoding, "Content-Length": len(content)}

    def answer(request: Answer) -> None:
        request.head(200, headers)
        request.wfile.write(content)

    return answer


def tells(content: bytes, status: int = 200, **headers: str) -> Fault:
    """Send this body."""

    def answer(request: Answer) -> None:
        said = {k.replace("_", "-"): v for k, v in headers.items()}
        request.head(status, {"Content-Length": len(content), **said})
        request.wfile.write(content)

    return answer


def says(status: int, **headers: str) -> Fault:
    return lambda request: request.refuse(status, {k.replace("_", "-"): v for k, v in headers.items()})


def redirects_to(location: str) -> Fault:
    return lambda request: request.head(302, {"Location": location, "Content-Length": 0})
