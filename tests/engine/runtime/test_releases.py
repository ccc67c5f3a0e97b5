"""A newer release is said, and nothing else happens."""

import http.server
import json
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from engine import runtime


class Feed:
    """Attributes: `said`: what it answers; `asked`: the paths that were asked for."""

    def __init__(self) -> None:
        self.said: object = {}
        self.asked: list[str] = []
        feed = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                feed.asked.append(self.path)
                self.send_response(200)
                self.end_headers()
                self.wfile.write(json.dumps(feed.said).encode())

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
def test_only_a_newer_release_is_said_and_only_once_asked(feed: Feed, tag: str, newer: bool) -> None:
    feed.said = {"tag_name": tag, "html_url": "https://example.invalid/release", "assets": [{"url": "x"}]}
    found = runtime.newer_release(feed.url)
    assert found == (runtime.Release(tag[1:], "https://example.invalid/release") if newer else None)
    assert feed.asked == ["/latest"]


@pytest.mark.parametrize(
    "said", [{}, [], {"tag_name": 1, "html_url": "https://x"}, {"tag_name": "v9", "html_url": "file:///etc"}]
)
def test_an_answer_that_makes_no_sense_is_an_error_of_the_network(feed: Feed, said: object) -> None:
    feed.said = said
    with pytest.raises(runtime.Unreachable):
        runtime.newer_release(feed.url)


def test_where_it_was_released_from_is_known_of_a_release_alone(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    assert runtime.repository() is None, "a checkout"
    said = "Project-URL: Homepage, https://example.org\nProject-URL: Repository, https://github.com/owner/program\n"
    (tmp_path / "specexec_desktop-1.dist-info").mkdir()
    (tmp_path / "specexec_desktop-1.dist-info" / "METADATA").write_text(
        f"Metadata-Version: 2.1\nName: specexec-desktop\nVersion: 1\n{said}"
    )
    monkeypatch.syspath_prepend(tmp_path)
    assert runtime.repository() == "https://github.com/owner/program"
