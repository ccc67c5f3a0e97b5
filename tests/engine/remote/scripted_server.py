"""A server of OpenAI's interface whose answers the tests script."""

import json
import ssl
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

MODEL = "a/model"
VLLM = {"id": MODEL, "object": "model", "owned_by": "vllm", "max_model_len": 4096}
OPENAI = {"id": MODEL, "object": "model", "owned_by": "somebody"}


@dataclass
class Received:
    """A request."""

    path: str
    headers: dict[str, str]
    body: Any


@dataclass
class Script:
    """What the server sends. `wait`: holds the stream after its first pieces until it is set."""

    models: list[dict[str, Any]] = field(default_factory=lambda: [VLLM])
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    body: bytes = b""  # of an answer with another status
    content_type: str = "text/event-stream"
    pieces: list[bytes] = field(default_factory=list)
    endless: Callable[[], bytes] | None = None  # called again and again after `pieces`
    wait: threading.Event | None = None
    others: dict[str, Any] = field(default_factory=dict)  # documents, or functions that return bytes, by path


class ScriptedServer:
    """Listens at `address`; `received` holds the requests. `gone` is set when a client has hung up."""

    def __init__(self, certificate: Path | None = None, port: int = 0) -> None:
        self.script = Script()
        self.received: list[Received] = []
        self.gone = threading.Event()
        self.streaming = threading.Event()
        server = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, format: str, *args: object) -> None: ...

            def do_GET(self) -> None:
                server.note(self, None)
                found = {"/v1/models": {"data": server.script.models}, **server.script.others}.get(self.path)
                if server.script.status != 200 and self.path == "/v1/models":
                    self.reply(server.script.status, server.script.body, server.script.headers)
                elif found is None:
                    self.reply(404, b"{}", {})
                else:
                    self.reply(200, found() if callable(found) else json.dumps(found).encode(), {})

            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                server.note(self, body)
                script = server.script
                if self.path in script.others:
                    self.reply(200, json.dumps(script.others[self.path]).encode(), {})
                elif self.path != "/v1/chat/completions":
                    self.reply(404, b"{}", {})
                elif script.status != 200:
                    self.reply(script.status, script.body, script.headers)
                else:
                    self.stream(script)

            def reply(self, status: int, body: bytes, headers: dict[str, str]) -> None:
                self.send_response(status)
                for name, value in {"Content-Length": str(len(body)), **headers}.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(body)

            def stream(self, script: Script) -> None:
                self.send_response(200)
                self.send_header("Content-Type", script.content_type)
                self.send_header("Connection", "close")
                for name, value in script.headers.items():
                    self.send_header(name, value)
                self.end_headers()
                try:
                    for piece in script.pieces:
                        self.wfile.write(piece)
                    server.streaming.set()
                    if script.wait is not None:
                        self.connection.settimeout(30)
                        if self.connection.recv(1) == b"":  # the client hangs up
                            server.gone.set()
                    while script.endless is not None:
                        self.wfile.write(script.endless())
                except OSError:
                    server.gone.set()

        self._server = ThreadingHTTPServer(("127.0.0.1", port), Handler)
        self._server.daemon_threads = True
        self._server.handle_error = lambda *_: None  # type: ignore[method-assign]
        scheme = "http"
        if certificate is not None:
            scheme, context = "https", ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(certificate)
            self._server.socket = context.wrap_socket(self._server.socket, server_side=True)
        self.port = int(self._server.server_address[1])
        self.address = f"{scheme}://127.0.0.1:{self.port}/v1"
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,))
        self._thread.start()

    def note(self, handler: BaseHTTPRequestHandler, body: Any) -> None:
        self.received.append(Received(handler.path, dict(handler.headers), body))

    @property
    def asked(self) -> dict[str, Any]:
        """Return the fields of the last question."""
        bodies = [each.body for each in self.received if each.path == "/v1/chat/completions"]
        return dict(bodies[-1])

    def close(self) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()


def event(fields: dict[str, Any]) -> bytes:
    return b"data: " + json.dumps(fields).encode() + b"\n\n"


def delta(**fields: Any) -> bytes:
    return event({"choices": [{"index": 0, "delta": fields, "finish_reason": None}]})


def ending(reason: str = "stop", **fields: Any) -> list[bytes]:
    """Return the last pieces of an answer."""
    return [
        event({"choices": [{"index": 0, "delta": {}, "finish_reason": reason}], **fields}),
        b"data: [DONE]\n\n",
    ]
