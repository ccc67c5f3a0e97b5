"""Who may ask, and how much."""

import contextlib
import os
import socket
import time
from concurrent.futures import ThreadPoolExecutor
from urllib.parse import urlsplit

import httpx2
import pytest

from engine.server import gate
from tests.engine.server.conftest import KEY, running

JSON = {"content-type": "application/json"}


@pytest.fixture(scope="module")
def locked(tmp_path_factory):
    options = ("--allow-origin", "http://localhost:3000", "--allow-host", "model.lan")
    with running(tmp_path_factory.mktemp("runtime"), *options, key=KEY) as server:
        yield server


@pytest.fixture(scope="module")
def unfinished(server):
    """Clients that begin a request with the first test that needs them, and never finish it. Yield a function
    that waits for what each is sent, and for how many seconds that takes."""
    address = urlsplit(server.address)
    beginnings = (b"", b"GET /health HT", b"POST /v1/messages HTTP/1.1\r\nHost: localhost\r\n")

    def begin(beginning):
        with socket.create_connection((address.hostname, address.port), timeout=20) as client:
            began = time.monotonic()
            client.sendall(beginning)
            return client.recv(1), time.monotonic() - began

    with ThreadPoolExecutor(len(beginnings)) as clients:
        begun = [clients.submit(begin, each) for each in beginnings]
        yield lambda: [each.result() for each in begun]


@pytest.mark.parametrize("headers", [{"authorization": f"Bearer {KEY}"}, {"x-api-key": KEY}])
def test_the_key_opens(locked, headers):
    with locked.client(**headers) as client:
        assert client.get("/v1/models").status_code == 200


@pytest.mark.parametrize(
    "headers", [{}, {"authorization": "Bearer x"}, {"x-api-key": KEY[:-1]}, {"authorization": KEY[::-1]}]
)
def test_without_the_key_nothing_opens(locked, headers):
    with locked.client(**headers) as client:
        for path in ("/v1/models", "/metrics", "/v1/chat/completions"):
            assert client.get(path).status_code == 401
        assert client.get("/health").status_code == 200


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:8484", "127.0.0.1.evil.example", "", "[::2]:1"]
)
def test_another_name_for_this_machine_is_refused(server, unfinished, host):
    with server.client(host=host) as client:
        assert client.get("/v1/models").status_code in (400, 403)


@pytest.mark.parametrize("host", ["localhost:1", "127.0.0.1", "[::1]:8484", "LOCALHOST"])
def test_names_of_this_machine_are_accepted(server, host):
    with server.client(host=host) as client:
        assert client.get("/v1/models").status_code == 200


def test_web_pages_may_not_ask_unless_named(server, locked):
    with server.client(origin="http://evil.example") as client:
        refused = client.post("/v1/chat/completions", json=server.chat("x"))
    assert refused.status_code == 403
    assert "access-control-allow-origin" not in refused.headers
    with locked.client(origin="http://localhost:3000", host="model.lan", **{"x-api-key": KEY}) as client:
        answered = client.get("/v1/models")
    assert answered.headers["access-control-allow-origin"] == "http://localhost:3000"


def test_a_browser_asks_first_whether_a_page_may(locked):
    asks = {
        "origin": "http://localhost:3000",
        "access-control-request-method": "POST",
        "access-control-request-headers": "content-type, authorization",
    }
    with locked.client(**asks) as client:
        answered = client.options("/v1/chat/completions")
    assert answered.status_code == 204
    assert "authorization" in answered.headers["access-control-allow-headers"]


@pytest.mark.parametrize("kind", ["text/plain", "application/x-www-form-urlencoded", ""])
def test_only_json_is_read(server, kind):
    with server.client() as client:
        refused = client.post("/v1/chat/completions", content=b"{}", headers={"content-type": kind})
    assert refused.status_code == 415


@pytest.mark.parametrize(
    "body", [b"", b"{", b"[]", b"null", b"\xff\xfe", b"[" * 100_000, b'{"model": 1e999}', b'"x"']
)
def test_what_is_not_the_expected_json_is_refused(server, body):
    with server.client() as client:
        for path in ("/v1/chat/completions", "/v1/completions", "/v1/responses", "/v1/messages"):
            refused = client.post(path, content=body, headers=JSON)
            assert refused.status_code == 400, path
            assert refused.json()["error"]["message"]


def test_bodies_and_headers_are_limited(server):
    with server.client() as client:
        long = client.post("/v1/chat/completions", content=b" " * (gate.MOST_NBYTES + 1), headers=JSON)
        assert long.status_code == 413
        with contextlib.suppress(httpx2.TransportError):  # closed before all was read
            assert client.get("/v1/models", headers={"x-long": "a" * (1 << 17)}).status_code == 400
        assert client.get("/v1/models").status_code == 200


@pytest.mark.parametrize(("kind", "status"), [("application/json", b"413"), ("text/plain", b"415")])
def test_a_refused_client_that_is_still_sending_gets_the_answer(server, kind, status):
    address = urlsplit(server.address)
    head = f"POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\nContent-Type: {kind}\r\n"
    length = gate.MOST_NBYTES + 1
    with socket.create_connection((address.hostname, address.port)) as client:
        client.settimeout(20)
        client.sendall(f"{head}Content-Length: {length}\r\n\r\n".encode())
        answered = client.recv(1)  # the server has refused by now
        client.sendall(b" " * length)
        answered += b"".join(iter(lambda: client.recv(4096), b""))
    assert answered.startswith(b"HTTP/1.1 " + status)
    assert answered.endswith(b"}")


def test_a_refused_client_that_never_sends_its_body_is_dropped(server):
    address = urlsplit(server.address)
    began = time.monotonic()
    with socket.create_connection((address.hostname, address.port)) as client:
        client.settimeout(20)
        client.sendall(b"POST /v1/models HTTP/1.1\r\nHost: evil.example\r\nContent-Length: 9\r\n\r\n")
        answered = b"".join(iter(lambda: client.recv(4096), b""))
    assert answered.startswith(b"HTTP/1.1 403")
    assert time.monotonic() - began < gate.LINGER_S + 5


def test_paths_that_do_not_exist(server):
    with server.client() as client:
        assert client.get("/v1/nothing").status_code == 404
        assert client.get("/v1/chat/completions").status_code == 405
        assert client.get("/v1/../../etc/passwd").status_code == 404


def test_paths_that_strangers_choose_are_counted_together(server):
    with server.client() as client, server.client(origin="http://evil.example") as page:
        assert client.get('/v1/models/no-such-"model').status_code == 404
        assert page.get("/no-such-page").status_code == 403
        counted = client.get("/metrics").text
    assert "no-such" not in counted, "whoever asks could fill the memory"
    for status in (403, 404):
        assert f'specexec_requests_total{{path="other",status="{status}"}}' in counted


def test_clients_that_never_finish_their_headers_are_dropped(unfinished):
    for answered, seconds in unfinished():
        assert answered == b""
        assert 5 < seconds < 18


def test_listening_to_other_machines_needs_a_key(capsys, monkeypatch):
    from engine.cli import run

    monkeypatch.delenv("SPECEXEC_KEY", raising=False)
    assert run(["serve", "--host", "0.0.0.0", "--json"]) == 1
    assert "without a key" in capsys.readouterr().out


def test_the_key_in_the_environment_is_not_passed_on_to_the_servers_own_processes(monkeypatch):
    from engine.cli.serve import key_of

    monkeypatch.setenv("SPECEXEC_KEY", "sk-mine")
    assert key_of(None) == "sk-mine"
    assert "SPECEXEC_KEY" not in os.environ


def test_a_port_that_is_taken_is_named(server, capsys):
    from engine.cli import run

    port = urlsplit(server.address).port
    assert run(["serve", "--port", str(port), "--json"]) == 1
    assert f"port {port}" in capsys.readouterr().out
