"""Tool servers behind an address."""

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from msgspec import structs

from app.preferences import ToolServer
from app.tools import bounds
from app.tools.fault import ToolFault
from app.tools.keys import key_of, with_key
from app.tools.listed import tools_of
from app.tools.server_links import ServerLinks
from app.tools.web import WebCarrier
from engine.hub import Stop, Stopped
from tests.app.tools.reference_server import TOOLS, outcome


class ToolSite(ThreadingHTTPServer):
    """A tool server. way: how it behaves when a tool is called. asked: the headers of each request; deleted:
    set once the session was ended."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Page)
        self.way = "json"
        self.asked: list[dict[str, str]] = []
        self.deleted = threading.Event()
        self.gate = threading.Event()

    @property
    def server(self) -> ToolServer:
        address = f"http://127.0.0.1:{self.server_port}/mcp"
        return ToolServer("Site", address=address, is_on=True, tools=tools_of({"tools": TOOLS}))


class _Page(BaseHTTPRequestHandler):
    server: ToolSite

    def log_message(self, *_: object) -> None:
        pass

    def do_DELETE(self) -> None:
        self.server.deleted.set()
        self._say(200)

    def do_POST(self) -> None:
        self.server.asked.append(dict(self.headers))
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        given, id = request.get("params", {}), request.get("id")
        match request["method"]:
            case "initialize":
                self._answer(id, {"protocolVersion": given["protocolVersion"], "capabilities": {}})
            case "tools/list":
                self._answer(id, {"tools": TOOLS})
            case "tools/call":
                self._call(id, outcome(given["name"], given["arguments"]))
            case _:
                self._say(202)

    def _call(self, id: int, result: dict[str, object]) -> None:
        message = json.dumps({"jsonrpc": "2.0", "id": id, "result": result})
        match self.server.way:
            case "events":
                note = json.dumps({"jsonrpc": "2.0", "method": "notifications/progress", "params": {}})
                self._say(200, "text/event-stream", f"data: {note}\n\ndata: {message}\n\n")
            case "elsewhere":
                self.send_response(307)
                self.send_header("Location", "http://127.0.0.1:1/steal")
                self.end_headers()
            case "huge":
                self._say(200, "application/json", " " * (bounds.MESSAGE_NBYTES + 1) + message)
            case "silent":
                self.server.gate.wait(20)
            case "endless":
                self._say(200, "text/event-stream", "data: " + "x" * (5 << 20))
            case _:
                self._answer(id, result)

    def _answer(self, id: int, result: dict[str, object]) -> None:
        self._say(200, "application/json", json.dumps({"jsonrpc": "2.0", "id": id, "result": result}))

    def _say(self, status: int, kind: str = "text/plain", text: str = "") -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(text)))
        self.send_header("Mcp-Session-Id", "s-1")
        self.end_headers()
        self.wfile.write(text.encode())


@pytest.fixture
def site() -> Iterator[ToolSite]:
    made = ToolSite()
    thread = threading.Thread(target=made.serve_forever, args=(0.01,))
    thread.start()
    yield made
    made.gate.set()
    made.shutdown()
    made.server_close()
    thread.join()


@pytest.fixture
def links() -> Iterator[ServerLinks]:
    made = ServerLinks()
    yield made
    made.close()


def call(links: ServerLinks, site: ToolSite, stop: Stop | None = None) -> str:
    return links.call(site.server, site.server.tools[0], {"text": "so"}, stop or Stop()).text


@pytest.mark.parametrize("way", ["json", "events"])
def test_a_tool_behind_an_address_is_called(links: ServerLinks, site: ToolSite, way: str) -> None:
    site.way = way
    assert call(links, site) == "so"
    last = site.asked[-1]
    assert (last["Mcp-Session-Id"], last["MCP-Protocol-Version"]) == ("s-1", "2025-11-25")
    assert not {"Cookie", "Authorization"} & set(last)


def test_the_session_is_ended_after_the_list_was_looked_at(links: ServerLinks, site: ToolSite) -> None:
    assert links.tools(site.server, Stop()) == site.server.tools
    assert site.deleted.wait(10)


@pytest.mark.parametrize(
    ("way", "sentence"),
    [
        ("elsewhere", "status 307"),
        ("huge", "more than 4 MiB"),
        ("endless", "more than 4 MiB"),
        ("silent", "did not answer within"),
    ],
)
def test_a_site_that_misbehaves_is_left_with_a_sentence(
    links: ServerLinks, site: ToolSite, monkeypatch: pytest.MonkeyPatch, way: str, sentence: str
) -> None:
    monkeypatch.setattr(bounds, "CALL_S", 0.5 if way == "silent" else 20.0)
    site.way = way
    with pytest.raises(ToolFault, match=sentence):
        call(links, site)


def test_a_silent_site_can_be_left(links: ServerLinks, site: ToolSite) -> None:
    site.way, stop = "silent", Stop()
    threading.Timer(0.3, stop.ask).start()
    with pytest.raises(Stopped):
        call(links, site, stop)


@pytest.mark.parametrize("address", ["ftp://host/mcp", "host", "http://user:key@host/mcp", "http://"])
def test_what_is_no_address_is_refused(links: ServerLinks, address: str) -> None:
    with pytest.raises(ToolFault, match="no address"):
        links.tools(ToolServer("x", address=address), Stop())


def test_a_key_is_sent_to_the_server_for_which_it_was_stored(links: ServerLinks, site: ToolSite) -> None:
    server, _ = with_key(site.server, "k-123", None)
    assert links.call(server, server.tools[0], {"text": "so"}, Stop()).text == "so"
    assert site.asked[-1]["Authorization"] == "Bearer k-123"
    moved = structs.replace(server, address=server.address.replace("127.0.0.1", "localhost"))
    assert key_of(moved) == "", "whatever the settings say"
    renamed, _ = with_key(structs.replace(server, name="Other"), "", server)
    assert (key_of(renamed), key_of(server)) == ("k-123", "")
    elsewhere, _ = with_key(structs.replace(moved, name="Other"), "", renamed)
    assert (elsewhere.has_key, key_of(renamed)) == (False, "")


def test_a_key_that_cannot_be_one_is_refused(site: ToolSite) -> None:
    with pytest.raises(ToolFault, match="no key has"):
        with_key(site.server, "a\r\nX-Other: b", None)


def test_a_key_is_not_sent_unencrypted_over_a_public_network(site: ToolSite) -> None:
    carrier = WebCarrier(site.server.address, "k")
    with pytest.raises(ToolFault, match="unencrypted"):
        carrier._check_peer("93.184.215.14")
    carrier._check_peer("192.168.0.4")
    carrier.end()
