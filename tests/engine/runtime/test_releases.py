"""The check for a newer release."""

import http.server
import json
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from engine import runtime
from engine.hub.connection import Bounds
from engine.runtime import releases
from tests.engine.hub.lying_hub import Fault, LyingHub, bursts, endless, says, silent, tells, trickles


class Feed:
    """A server of release information. Attributes: `content`: its response; `requested`: all paths."""

    def __init__(self) -> None:
        self.content: object = {}
        self.requested: list[str] = []
        feed = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                feed.requested.append(self.path)
                self.send_response(200)
                self.end_headers()
                self.wfile.write(json.dumps(feed.content).encode())

            def log_message(self, *arguments: object) -> None:
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}/latest"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()


@pytest.fixture
def feed(monkeypatch: pytest.MonkeyPatch) -> Iterator[Feed]:
    monkeypatch.setattr("engine.runtime.releases.version", lambda name: "1.2.0")
    for variable in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.delenv(variable, raising=False)
    serving = Feed()
    yield serving
    serving.server.shutdown()
    serving.server.server_close()


@pytest.mark.parametrize(
    ("tag", "newer"),
    [
        ("v1.2.1", True),
        ("v1.10.0", True),
        ("v1.2.0", False),
        ("v1.1.9", False),
        ("v1.2.0rc1", False),
        ("v2", True),
    ],
)
def test_a_newer_release_is_found_with_one_request(feed: Feed, tag: str, newer: bool) -> None:
    feed.content = {"tag_name": tag, "html_url": "https://example.invalid/release", "assets": [{"url": "x"}]}
    release = runtime.newer_release(feed.url)
    assert release == (runtime.Release(tag[1:], "https://example.invalid/release") if newer else None)
    assert feed.requested == ["/latest"]


@pytest.mark.parametrize(
    "content",
    [
        {},
        [],
        {"tag_name": 1, "html_url": "https://x"},
        {"tag_name": "v9", "html_url": "file:///etc"},
        {"tag_name": "v" + "9" * 5000, "html_url": "https://x"},
        {"tag_name": "v²", "html_url": "https://x"},
        {"tag_name": "v9 " + "a" * 5000, "html_url": "https://x"},
    ],
)
def test_invalid_release_information_is_a_network_error(feed: Feed, content: object) -> None:
    feed.content = content
    with pytest.raises(runtime.Unreachable):
        runtime.newer_release(feed.url)


@pytest.mark.parametrize(
    "lie",
    [
        silent,
        trickles,
        endless,
        bursts(),
        tells(b"[" * 20_000 + b"]" * 20_000),
        says(302, Location="http://["),
    ],
    ids=["silence", "a byte at a time", "no end", "bomb", "deep", "redirect"],
)
def test_a_lying_server_is_left_soon(monkeypatch: pytest.MonkeyPatch, lie: Fault) -> None:
    monkeypatch.setattr(releases, "BOUNDS", Bounds(silence_s=0.3, whole_s=0.6, nbytes=100_000))
    server = LyingHub()
    server.api_faults.append(lie)
    began = time.monotonic()
    with pytest.raises(runtime.Unreachable):
        runtime.newer_release(f"{server.endpoint}/api/latest")
    server.close()
    assert time.monotonic() - began < 5


def test_only_a_release_names_its_repository(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    assert runtime.repository() is None, "a checkout"
    urls = "Project-URL: Homepage, https://example.org\nProject-URL: Repository, https://github.com/owner/program\n"
    (tmp_path / "specexec_desktop-1.dist-info").mkdir()
    (tmp_path / "specexec_desktop-1.dist-info" / "METADATA").write_text(
        f"Metadata-Version: 2.1\nName: specexec-desktop\nVersion: 1\n{urls}"
    )
    monkeypatch.syspath_prepend(tmp_path)
    assert runtime.repository() == "https://github.com/owner/program"
