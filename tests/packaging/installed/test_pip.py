"""The wheel as pip, pipx and uvx install it: light, without torch, which the program sets up itself."""

import hashlib
import json
import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from email import policy
from email.parser import BytesParser
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import ClassVar

import pytest

from tests.packaging.installed.conftest import ROOT, one, report

pytestmark = [pytest.mark.timeout(1800), pytest.mark.skipif(os.name == "nt", reason="paths of Linux")]
NOBODY = "65534"


class Home:
    """A user's folder, with a space and a letter outside ASCII. Attribute: `folder`."""

    def __init__(self, folder: Path, models: Path = ROOT / "resources" / "models") -> None:
        self.folder = folder
        kept = [name for name in os.environ if name.startswith(("PIP_", "UV_"))]
        self._environment = {
            **{name: os.environ[name] for name in kept},
            "HOME": str(folder),
            "PATH": f"{folder}/bin:/usr/bin:/bin",
            "LANG": "C.UTF-8",
            "SPECEXEC_MODELS": str(models),
            "UV_SYSTEM_CERTS": "1",
            "QT_QPA_PLATFORM": "offscreen",
        }

    def run(self, *command: str | Path) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            command, cwd=self.folder, env=self._environment, capture_output=True, text=True, timeout=900
        )

    def output(self, *command: str | Path) -> str:
        done = self.run(*command)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout


@pytest.fixture
def home(tmp_path: Path) -> Home:
    folder = tmp_path / "sóme one"
    folder.mkdir()
    return Home(folder)


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation"]
    subprocess.run([*command, "--wheel-dir", folder, ROOT], check=True)
    return one(folder, "*.whl")


class PackageIndex(BaseHTTPRequestHandler):
    """A package index that takes uploads as PyPI does, and lists them. Attribute: `files`, by name."""

    files: ClassVar[dict[str, bytes]] = {}

    def do_POST(self) -> None:
        length, kind = int(self.headers["Content-Length"]), self.headers["Content-Type"]
        form = BytesParser(policy=policy.HTTP).parsebytes(
            f"Content-Type: {kind}\r\n\r\n".encode() + self.rfile.read(length)
        )
        parts = {part.get_param("name", header="content-disposition"): part for part in form.iter_parts()}
        content = parts["content"].get_payload(decode=True)
        assert isinstance(content, bytes)
        is_whole = hashlib.sha256(content).hexdigest() == parts["sha256_digest"].get_content().strip()
        if is_whole and parts["name"].get_content().strip() == "specexec-desktop":
            self.files[str(parts["content"].get_filename())] = content
        self.send_response(200 if is_whole else 400)
        self.end_headers()

    def do_GET(self) -> None:
        name = self.path.rpartition("/")[2]
        links = "".join(f'<a href="/files/{file}">{file}</a>' for file in self.files)
        body = self.files[name] if name else f"<!DOCTYPE html><html><body>{links}</body></html>".encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/octet-stream" if name else "text/html")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


@pytest.fixture
def index() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), PackageIndex)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


def pythons() -> list[Path]:
    """An interpreter of each version on this machine that the program runs on."""
    named = [shutil.which(f"python3.{minor}") for minor in range(11, 15)]
    beside = Path(sys.base_prefix).parent.glob("*/bin/python3.1[1-9]")  # as pyenv and uv lay them out
    found: dict[str, Path] = {}
    for path in [Path(sys.executable), *map(Path, filter(None, named)), *sorted(beside)]:
        code = "import sys, ensurepip; print(sys.version_info[:2], sys._base_executable)"
        done = subprocess.run([path, "-c", code], capture_output=True, text=True, check=False)
        version, _, executable = done.stdout.strip().rpartition(" ")
        if done.returncode == 0:
            found.setdefault(version, Path(executable))
    return [found[version] for version in sorted(found)]


def install(home: Home, interpreter: Path, wheel: Path) -> Path:
    """Install the wheel into an environment of its own; return the folder of its commands."""
    uv = Path(sys.executable).with_name("uv")
    home.output(uv, "venv", "--quiet", "--python", interpreter, "environment")
    bin = home.folder / "environment" / "bin"
    home.output(uv, "pip", "install", "--quiet", "--python", bin / "python", wheel)
    assert not list(bin.parent.glob("lib/*/site-packages/torch"))
    return bin


@pytest.mark.parametrize("interpreter", pythons() if os.environ.get("SPECEXEC_PACKAGES") else [], ids=str)
def test_a_wheel_answers_and_opens_its_window_without_torch(
    interpreter: Path, wheel: Path, home: Home
) -> None:
    bin = install(home, interpreter, wheel)
    assert "Tokyo" in home.output(bin / "specexec", "chat", "What is the capital of Japan?", "--seed", "1")
    assert json.loads(home.output(bin / "specexec", "plan", "--vram", "12", "--ram", "32", "--json"))
    seen = report(home.output(bin / "specexec-desktop", "--self-test", "window.png", "--with-engine"))
    assert "Tokyo" in str(seen["answer"])
    refused = home.run(bin / "specexec", "chat", "hello", "--dtype", "float32")
    assert refused.returncode == 1
    assert "needs PyTorch, which is not set up. Set it up in the window" in refused.stderr


def test_it_sets_torch_up_and_uses_it(wheel: Path, home: Home, runtime_file: Path) -> None:
    bin = install(home, Path(sys.executable), wheel)
    made = json.loads(home.output(bin / "specexec", "setup", "--archive", runtime_file, "--json"))
    assert made["backend"] == "cpu"
    question = ("What is the capital of Japan?", "--dtype", "float32", "--seed", "1")
    assert "Tokyo" in home.output(bin / "specexec", "chat", *question)


def test_pipx_and_uvx_run_it(wheel: Path, home: Home) -> None:
    uvx = Path(sys.executable).with_name("uvx")
    assert home.output(uvx, "--from", wheel, "specexec", "--version").startswith("specexec ")
    home.output(uvx, "pipx", "install", "--python", sys.executable, wheel)
    installed = home.folder / ".local" / "bin"
    assert "Tokyo" in home.output(installed / "specexec", "chat", "What is the capital of Japan?")
    assert (installed / "specexec-desktop").exists()
    home.output(uvx, "pipx", "uninstall", "specexec-desktop")
    assert not (installed / "specexec").exists()


def test_it_is_published_to_an_index_and_found_there(wheel: Path, home: Home, index: str) -> None:
    uv = Path(sys.executable).with_name("uv")
    home.output(uv, "publish", "--publish-url", f"{index}/legacy/", "--token", "any", wheel)
    target = home.folder / "from the index"
    options = ("--no-deps", "--index-url", f"{index}/simple/", "--no-cache-dir", "--target", target)
    home.output(sys.executable, "-m", "pip", "--isolated", "install", "--quiet", *options, "specexec-desktop")
    assert (target / "engine" / "cli" / "setup.py").is_file()


@pytest.mark.skipif(
    not (hasattr(os, "geteuid") and os.geteuid() == 0 and Path("/usr/bin/python3.11").is_file()),
    reason="needs root, to become another user, and the system's Python",
)
def test_a_user_without_privileges_installs_it(wheel: Path, tmp_path: Path) -> None:
    folder = Path("/tmp") / f"specexec-{os.getpid()} nobody"  # pytest's own folders are closed to others
    folder.mkdir()
    try:
        shutil.copy(wheel, folder)
        shutil.copytree(ROOT / "resources" / "models", folder / "models")
        os.chown(folder, int(NOBODY), int(NOBODY))
        user = Home(folder, folder / "models")
        become = ("setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups")
        user.output(*become, "/usr/bin/python3.11", "-m", "venv", "environment")
        bin = folder / "environment" / "bin"
        user.output(*become, bin / "pip", "install", "--quiet", folder / wheel.name)
        assert "Tokyo" in user.output(*become, bin / "specexec", "chat", "What is the capital of Japan?")
    finally:
        shutil.rmtree(folder)
