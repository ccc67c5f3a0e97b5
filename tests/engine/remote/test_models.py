"""What servers say that they serve, and what keeps them from saying it."""

import shutil
import socket
import subprocess
from pathlib import Path
from typing import Any

import pytest

from engine.errors import SpecExecError
from engine.hub.stop import Stop, Stopped
from engine.remote import exchange
from engine.remote.engines import AddedEngine
from engine.remote.exchange import Exchange
from engine.remote.models import RemoteModel, details, models
from tests.engine.remote.scripted_server import MODEL, OPENAI, VLLM, ScriptedServer


def engine_at(server: ScriptedServer, **fields: Any) -> AddedEngine:
    return AddedEngine("fake", server.address, **fields)


def problem(engine: AddedEngine, key: str | None = None) -> SpecExecError:
    with pytest.raises(SpecExecError) as caught:
        models(engine, key)
    assert caught.value.message
    assert caught.value.hint
    return caught.value


def test_kinds_of_servers_are_recognised(server: ScriptedServer) -> None:
    script, engine = server.script, engine_at(server)
    assert models(engine) == [RemoteModel(MODEL, "vllm", context=4096)]
    script.models = [VLLM | {"owned_by": "sglang"}]
    assert models(engine)[0].server == "sglang"
    script.models = [VLLM | {"owned_by": "specexec-desktop"}]
    assert models(engine)[0].server == "specexec"
    script.models = [{"id": MODEL, "owned_by": "llamacpp", "meta": {"n_ctx_train": 8192, "size": 5}}]
    script.others = {"/props": {"default_generation_settings": {"n_ctx": 2048}}}
    assert models(engine) == [RemoteModel(MODEL, "llama-server", context=2048, nbytes=5)]
    script.models, script.others = [OPENAI | {"context_window": 77}], {}
    assert models(engine) == [RemoteModel(MODEL, "openai", context=77)]


def test_lm_studio_and_ollama_tell_more(server: ScriptedServer) -> None:
    script, engine = server.script, engine_at(server)
    script.models = [OPENAI, OPENAI | {"id": "embed"}]
    told = {"id": MODEL, "type": "llm", "arch": "qwen2", "max_context_length": 32768}
    script.others = {"/api/v0/models": {"data": [told, {"id": "embed", "type": "embeddings"}]}}
    assert models(engine) == [RemoteModel(MODEL, "lm-studio", context=32768, architecture="qwen2")]
    script.models = [OPENAI | {"owned_by": "library"}]
    info = {"general.architecture": "llama", "llama.context_length": 8192, "general.parameter_count": 3}
    script.others = {"/api/version": {"version": "0.9"}, "/api/show": {"model_info": info}}
    (model,) = models(engine)
    assert model.server == "ollama"
    with Exchange(engine, None) as opened:
        full = details(model, opened, Stop())
    assert full == RemoteModel(MODEL, "ollama", context=8192, parameters=3, architecture="llama")


@pytest.mark.parametrize(
    ("listed", "kind"),
    [([], "no_models"), ([{"name": "x"}], "not_an_engine"),
     ([{"id": ""}], "not_an_engine"), (3, "not_an_engine"),
     ([VLLM | {"max_model_len": -1}], "not_an_engine")],
)  # fmt: skip
def test_a_list_that_is_none(server: ScriptedServer, listed: Any, kind: str) -> None:
    server.script.models = listed
    assert problem(engine_at(server)).kind == kind


@pytest.mark.parametrize(
    ("status", "key", "kind"),
    [(401, "wrong", "key_refused"), (401, None, "key_refused"), (404, None, "not_an_engine"),
     (302, "key", "not_an_engine"), (503, None, "engine_busy")],
)  # fmt: skip
def test_refusals(server: ScriptedServer, status: int, key: str | None, kind: str) -> None:
    server.script.status, server.script.headers = status, {"Location": "http://evil.example/"}
    error = problem(engine_at(server), key)
    assert error.kind == kind
    if status == 401:
        assert ("refuses the key" in error.message) == (key is not None)


def test_a_redirect_is_not_followed(server: ScriptedServer) -> None:
    other = ScriptedServer()
    try:
        server.script.status, server.script.headers = 307, {"Location": f"{other.address}/models"}
        assert problem(engine_at(server), "key").kind == "not_an_engine"
        assert other.received == []
    finally:
        other.close()


def test_an_endless_body_ends(server: ScriptedServer) -> None:
    server.script.others = {"/props": lambda: b"[" * (17 << 20)}
    server.script.models = [{"id": MODEL, "owned_by": "llamacpp"}]
    assert models(engine_at(server))[0].context is None  # what is beside the list is done without
    server.script.models = [{"id": "x" * 400}] * 50_000
    assert problem(engine_at(server)).kind == "answer_broken"


def test_an_unknown_host_and_a_closed_port() -> None:
    unknown = problem(AddedEngine("x", "https://no-such-host.invalid/v1"))
    assert unknown.kind == "engine_unreachable"
    with socket.socket() as reserved:
        reserved.bind(("127.0.0.1", 0))
        closed = problem(AddedEngine("x", f"http://127.0.0.1:{reserved.getsockname()[1]}/v1"))
    assert "Nothing listens" in closed.message


def test_a_silent_server_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exchange, "WHOLE_S", 0.3)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        error = problem(AddedEngine("x", f"http://127.0.0.1:{silent.getsockname()[1]}/v1"))
    assert error.kind == "engine_unreachable"
    assert "silent" in error.message


def test_a_stop_ends_the_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    stop = Stop()
    with socket.create_server(("127.0.0.1", 0)) as silent:
        engine = AddedEngine("x", f"http://127.0.0.1:{silent.getsockname()[1]}/v1")
        stop.ask()
        with pytest.raises(Stopped):
            models(engine, None, stop)


def test_a_key_does_not_go_unencrypted_over_a_public_network(
    server: ScriptedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(exchange, "is_private", lambda address: False)  # as if this address were public
    assert problem(engine_at(server), "key").kind == "key_in_clear"
    assert server.received == []
    assert models(engine_at(server))  # nothing secret is sent
    assert models(engine_at(server, allow_clear=True), "key")


@pytest.fixture
def certificate(tmp_path: Path) -> Path:
    """A file with a certificate for 127.0.0.1, signed by itself, and its key."""
    program = shutil.which("openssl")
    if program is None:
        pytest.skip("openssl is not installed")
    key, path = tmp_path / "key.pem", tmp_path / "certificate.pem"
    made = "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=test -addext"
    subprocess.run(
        [program, *made.split(), "subjectAltName=IP:127.0.0.1", "-keyout", str(key), "-out", str(path)],
        check=True,
        capture_output=True,
    )
    both = tmp_path / "both.pem"
    both.write_bytes(key.read_bytes() + path.read_bytes())
    return both


def test_a_certificate_of_its_own_is_trusted_only_if_it_is_given(certificate: Path, tmp_path: Path) -> None:
    server = ScriptedServer(certificate)
    try:
        error = problem(engine_at(server), "key")
        assert error.kind == "certificate_refused"
        assert "--certificate" in error.hint
        assert server.received == []
        trusted = engine_at(server, certificate=str(tmp_path / "certificate.pem"))
        assert models(trusted, "key") == [RemoteModel(MODEL, "vllm", context=4096)]
        broken = engine_at(server, certificate=str(tmp_path / "key.pem"))
        assert problem(broken).kind == "certificate_refused"
        assert problem(AddedEngine("x", server.address.replace("https", "http"))).kind == "engine_unreachable"
    finally:
        server.close()


def test_a_server_without_tls(server: ScriptedServer) -> None:
    error = problem(AddedEngine("x", server.address.replace("http", "https")))
    assert error.kind == "engine_unreachable"
    assert "TLS" in error.message
