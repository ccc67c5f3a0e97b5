"""Several clients at once: one answer at a time, a full queue, a shared engine, another model."""

import threading
import time
from concurrent.futures import ThreadPoolExecutor

import httpx2
import psutil
import pytest

from engine import protocol
from engine.protocol import EngineConnection
from tests.engine.server.conftest import ROOT, running


def test_answers_wait_for_each_other_and_all_are_right(server):
    texts: list[str] = []

    def ask() -> None:
        with server.client() as client:
            answered = client.post(
                "/v1/chat/completions", json=server.chat("What is the capital of Japan?", max_tokens=20)
            )
        texts.append(answered.json()["choices"][0]["message"]["content"])

    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(texts) == 4
    assert len(set(texts)) == 1
    assert "Tokyo" in texts[0]


def test_a_full_queue_says_when_to_come_back(server):
    story = server.chat("Write a very long story about the sea.", max_tokens=150, drafter="none")
    short = server.chat("Say hello.", max_tokens=2)
    with server.client() as client, ThreadPoolExecutor(5) as pool:

        def ask(body, waiting):
            """Ask; return once so many requests wait, the one that is answered included."""
            asked = pool.submit(client.post, "/v1/chat/completions", json=body)
            deadline = time.monotonic() + 10
            while client.get("/health").json()["waiting"] < waiting and time.monotonic() < deadline:
                time.sleep(0.01)
            return asked

        asked = [ask(body, waiting) for waiting, body in enumerate([story, *[short] * 4], 1)]
        refused = client.post("/v1/chat/completions", json=server.chat("x", max_tokens=2))
        assert refused.status_code == 429
        assert int(refused.headers["retry-after"]) > 0
        assert [each.result().status_code for each in asked] == [200] * 5
        assert client.post("/v1/chat/completions", json=server.chat("x", max_tokens=2)).status_code == 200


@pytest.mark.parametrize("stream", [False, True])
def test_a_client_that_leaves_the_queue_gives_its_place_to_others(server, stream):
    story = server.chat("Write a very long story about the sea.", max_tokens=900, drafter="none", stream=True)
    with server.client() as client, client.stream("POST", "/v1/chat/completions", json=story) as first:
        lines = first.iter_lines()
        next(lines)
        with server.client() as other, pytest.raises(httpx2.ReadTimeout):
            other.post("/v1/chat/completions", json={**story, "stream": stream}, timeout=0.5)
        deadline = time.monotonic() + 3
        with server.client() as asking:
            while asking.get("/health").json()["waiting"] > 1:
                assert time.monotonic() < deadline, "the client has gone"
                time.sleep(0.05)


@pytest.fixture
def runtime(tmp_path, monkeypatch):
    folder = tmp_path / "runtime"
    folder.mkdir(mode=0o700)
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(folder))
    return folder


def test_a_window_and_the_server_share_the_model(runtime):
    """The window's connection sees who asks, and the engine ends with the last of the two."""
    with running(runtime) as server:
        connection = EngineConnection.share()
        events = connection.events()
        ready = next(events)
        assert ready.now.loaded.target.path
        engine = psutil.Process(connection.pid)
        with server.client(**{"user-agent": "an-editor/1.0 (x)"}) as client:
            assert (
                client.post("/v1/chat/completions", json=server.chat("Hi", max_tokens=2)).status_code == 200
            )
        told = (event.tasks for event in events if isinstance(event, protocol.Tasks))
        assert any([task.asker for task in tasks] == ["an-editor/1.0"] for tasks in told)
        server.process.terminate()
        server.process.wait(30)
        assert engine.is_running()
    connection.close()
    assert list(events) == []
    engine.wait(10)


def test_an_engine_that_is_killed_is_started_anew(runtime):
    with running(runtime) as server, server.client() as client:
        (engine,) = [
            child for child in psutil.Process(server.process.pid).children() if child.cwd() == str(ROOT)
        ]
        engine.kill()
        engine.wait(10)
        deadline = time.monotonic() + 10
        while client.get("/health").status_code == 200 and time.monotonic() < deadline:
            time.sleep(0.01)
        assert client.get("/health").status_code == 503
        answered = client.post("/v1/chat/completions", json=server.chat("Hi", max_tokens=2))
        assert answered.status_code == 200
        assert client.get("/health").status_code == 200


def test_an_engine_that_is_killed_in_the_middle_ends_the_stream_with_a_fault(runtime):
    with running(runtime) as server, server.client() as client:
        story = server.chat("Write a very long story about the sea.", max_tokens=900, stream=True)
        with client.stream("POST", "/v1/chat/completions", json=story) as response:
            lines = response.iter_lines()
            next(lines)
            for child in psutil.Process(server.process.pid).children():
                child.kill()
            last = [line for line in lines if line.startswith("data:")]
        assert "engine_gone" in last[-2]
        assert last[-1] == "data: [DONE]"


def test_a_request_that_names_another_installed_model_loads_it(runtime, tmp_path, monkeypatch):
    from tests.engine.conftest import model_file

    models = tmp_path / "models"
    models.mkdir()
    (models / "other.gguf").symlink_to(model_file("smollm2"))
    monkeypatch.setenv("SPECEXEC_MODELS", str(models))
    with running(runtime, "--switch") as server, server.client() as client:
        names = [model["id"] for model in client.get("/v1/models").json()["data"]]
        other = next(name for name in names if "other" in name)
        answered = client.post(
            "/v1/chat/completions", json={**server.chat("Hi", max_tokens=2), "model": other}
        )
        assert answered.status_code == 200, answered.text
        assert answered.json()["model"] == other
        assert client.get("/v1/models").json()["data"][0]["id"] == other
