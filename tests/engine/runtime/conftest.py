import json
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Iterator
from pathlib import Path

import pytest

from engine import runtime
from engine.launch import interpreter
from engine.runtime import installer
from tests.engine.runtime.made_up import CLI, TORCH, Index, make_wheel, pin

ENGINE = Path(interpreter.__file__).parents[1]


class App:
    """A miniature installed app. Attributes: `root`, `wheels`: folders; `python`: its interpreter."""

    def __init__(self, root: Path, wheels: Path, python: Path) -> None:
        self.root, self.wheels, self.python = root, wheels, python

    def list_torch(self, wheel: Path, digest: str = "") -> None:
        (self.root / "requirements" / "torch-cpu.txt").write_text(pin(wheel, digest))

    def setup(self, **sources: object) -> runtime.Setup:
        places = sources or {"wheels": self.wheels}
        return runtime.Setup(runtime.backends()["cpu"], runtime.Sources(**places))

    def set_up(self) -> runtime.Runtime:
        assert self.setup_done(self.setup())
        found = runtime.current()
        assert found is not None
        return found

    def answer(self, *arguments: str) -> dict[str, object]:
        """Run the command line in the runtime in use and return its JSON output."""
        command = interpreter.command("engine.cli", *arguments)
        output = subprocess.run(command, capture_output=True, check=True).stdout
        answer: dict[str, object] = json.loads(output)
        return answer

    def leftovers(self) -> list[str]:
        """Return the names of all files and folders except the runtime in use."""
        found = runtime.current()
        names = {place.name for place in interpreter.runtimes_folder().iterdir()}
        return sorted(names - {"lock", "current.json", found.folder.name if found else ""})

    def setup_done(self, setup: runtime.Setup) -> bool:
        setup.start()
        progress = setup.wait(60)
        assert progress.state in ("done", "failed", "cancelled"), progress
        return progress.state == "done"


@pytest.fixture
def app(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> App:
    uv = shutil.which("uv", path=sysconfig.get_path("scripts")) or shutil.which("uv")
    if uv is None:
        pytest.skip("uv is not installed")
    root, wheels = tmp_path / "an äpp", tmp_path / "wheels"
    wheels.mkdir()
    ignored = shutil.ignore_patterns("__pycache__", "cli", "bench", "quantization")
    shutil.copytree(ENGINE, root / "engine", ignore=ignored)
    (root / "engine" / "cli.py").write_text(CLI)
    (root / "uv").symlink_to(uv)
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(root / "python")], check=True)
    (site,) = (root / "python").glob("lib/python*/site-packages")
    (site / "app.pth").write_text(f"{root}\n{sysconfig.get_path('purelib')}\n")
    (root / "requirements").mkdir()
    (root / "requirements" / "backends.toml").write_text(
        "[cpu]\nnbytes = 3_000_000\ndownload_nbytes = 1_000_000\n"
    )
    thinking = make_wheel(wheels, "thinking", "1.0", "SAID = 'one'\n")
    (root / "requirements" / "engine.txt").write_text(pin(thinking))
    found = App(root, wheels, root / "python" / "bin" / "python3")
    found.list_torch(make_wheel(wheels, "torch", "2.13.0", TORCH, padding=2_000_000))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "user data"))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    for variable in ("HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setattr(interpreter, "ROOT", root)
    monkeypatch.setattr(sys, "executable", str(found.python))
    runtime.backends.cache_clear()
    return found


@pytest.fixture(autouse=True)
def forget_backends() -> Iterator[None]:
    yield
    runtime.backends.cache_clear()


@pytest.fixture
def index(app: App, monkeypatch: pytest.MonkeyPatch) -> Iterator[Index]:
    """A package index. uv tries once more only: before each further time it waits longer, seconds in all."""
    environment = installer.environment
    monkeypatch.setattr(
        installer, "environment", lambda sources: environment(sources) | {"UV_HTTP_RETRIES": "1"}
    )
    serving = Index(app.wheels)
    yield serving
    serving.close()
