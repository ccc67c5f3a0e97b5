"""A server in a process of its own, with the embedded model; clients of one that answers by script."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx2
import pytest

from tests.engine.conftest import model_file
from tests.engine.server.official import anthropic, openai
from tests.engine.server.scripted import ScriptedEngine, served

KEY = "a key for tests"
ROOT = Path(__file__).parents[3]


class RunningServer:
    """A server; `address` is where it listens, `model` what it serves."""

    def __init__(self, process: "subprocess.Popen[str]") -> None:
        assert process.stdout is not None
        line = process.stdout.readline()
        started = json.loads(line)
        self.process = process
        self.address: str = started["address"]
        self.model: str = started["model"]

    def client(self, **headers: str) -> httpx2.Client:
        return httpx2.Client(base_url=self.address, headers=headers, timeout=60)

    def chat(self, content: str, **fields: object) -> dict[str, object]:
        """Return the body of a request for a chat completion."""
        messages = [{"role": "user", "content": content}]
        return {"model": self.model, "messages": messages, "temperature": 0, **fields}


@contextmanager
def running(runtime: Path, *options: str, key: str = "") -> Iterator[RunningServer]:
    """Run a server. runtime: the folder in which it looks for an engine to join."""
    model_file("smollm2")
    runtime.mkdir(mode=0o700, exist_ok=True)
    environment = {**os.environ, "XDG_RUNTIME_DIR": str(runtime), "SPECEXEC_KEY": key}
    command = [sys.executable, "-m", "engine.cli", "serve", "--port", "0", "--json", "--context", "1024"]
    process = subprocess.Popen(
        [*command, *options], stdout=subprocess.PIPE, text=True, cwd=ROOT, env=environment
    )
    try:
        yield RunningServer(process)
    finally:
        process.terminate()
        process.wait(30)
        assert process.stdout is not None
        process.stdout.close()


@pytest.fixture(scope="package")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    with running(tmp_path_factory.mktemp("runtime"), "--most-waiting", "4") as server:
        yield server


# -- a server of the module's own `engine`, a ScriptedEngine ------------------------------------------------


@pytest.fixture(scope="module")
def address(engine: ScriptedEngine) -> Iterator[str]:
    with served(engine) as address:
        yield address


@pytest.fixture
def gpt(address: str) -> "Iterator[openai.OpenAI]":
    with openai.OpenAI(base_url=f"{address}/v1", api_key="none", max_retries=0) as client:
        yield client


@pytest.fixture
def claude(address: str) -> "Iterator[anthropic.Anthropic]":
    with anthropic.Anthropic(base_url=address, api_key="none", max_retries=0) as client:
        yield client
