"""llama.cpp's own server, in an environment of its own, or another server that runs already."""

import os
import subprocess
import venv
from collections.abc import Iterator
from pathlib import Path

import pytest

from engine.remote import engines
from engine.remote.engines import AddedEngine
from tests.engine.conftest import model_file

ROOT = Path(__file__).parents[2]
WANTED = "SPECEXEC_LLAMA_CPP"  # the environment variable that asks for tests with it, as .ci/run does
RUNNING = "SPECEXEC_ENGINE"  # the address of a server that runs already, such as http://127.0.0.1:8000/v1
PACKAGE = "xllamacpp==2026.10.*"


@pytest.fixture(scope="session")
def llama_cpp(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Install llama.cpp in an environment of its own. Return its Python."""
    if not os.environ.get(WANTED):
        pytest.skip(f"installs llama.cpp (33 MB) where {WANTED} is set")
    folder = tmp_path_factory.mktemp("llama") / "environment"
    venv.create(folder, with_pip=True, symlinks=os.name != "nt")
    python = folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    subprocess.run([python, "-m", "pip", "install", "-q", PACKAGE], check=True)
    return python


@pytest.fixture(scope="session")
def address(request: pytest.FixtureRequest) -> Iterator[str]:
    """Let the server serve SmolLM2 as its own draft. Yields the address of its interface."""
    if running := os.environ.get(RUNNING):
        yield running
        return
    python = request.getfixturevalue("llama_cpp")
    model = str(model_file("smollm2"))
    server = subprocess.Popen(
        [python, ROOT / "tests/remote/serve_gguf.py", model, model],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    try:
        assert server.stdout is not None
        yield next(f"{line.strip()}/v1" for line in server.stdout if line.startswith("http"))
    finally:
        server.kill()
        server.communicate()


@pytest.fixture
def engine(address: str) -> Iterator[AddedEngine]:
    engines.add(AddedEngine("foreign", address))
    yield engines.find("foreign")
    engines.remove("foreign")
