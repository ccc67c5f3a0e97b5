"""Builds the installers for these tests. Takes minutes, so only if SPECEXEC_PACKAGES is set."""

import json
import os
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from tests.packaging.installed.clean_root import CleanRoot, clean_root

ROOT = Path(__file__).parents[3]
NAME = "specexec-desktop"
NEWER = "99.0"  # a version to update to
only_root = pytest.mark.skipif(
    not hasattr(os, "geteuid") or os.geteuid() != 0, reason="needs root privileges"
)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    if os.environ.get("SPECEXEC_PACKAGES"):
        return
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.skip(reason="builds installers: set SPECEXEC_PACKAGES=1"))


@pytest.fixture(scope="session")
def dist(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Return the output folder of the packages; removed at the end, because they are large."""
    folder = tmp_path_factory.mktemp("dist")
    yield folder
    shutil.rmtree(folder)


@pytest.fixture(scope="session")
def runtime_file(dist: Path) -> Path:
    """Return the file with the runtime for the processor."""
    build(dist, "runtime", "cpu")
    return one(dist, "*-runtime-cpu-linux-*.zip")


@pytest.fixture(scope="session")
def packages(dist: Path, runtime_file: Path) -> Path:
    """Return the folder of the packages."""
    need("mksquashfs", "makeself", "patchelf", "gcc")
    build(dist, "linux", "--fast")
    build(dist, "linux", "--fast", "--only", "run", "--version", NEWER)
    return dist


@pytest.fixture(scope="session")
def root(packages: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[CleanRoot]:
    need("debootstrap", "mount")
    with clean_root(tmp_path_factory.mktemp("root")) as found:
        for path in packages.iterdir():
            os.link(path, found.folder / "srv" / path.name)
        yield found


@pytest.fixture(scope="session")
def before(root: CleanRoot) -> set[str]:
    """Return the files before the .deb is installed."""
    root.shell("apt-get update -qq")
    found = root.files()
    root.shell(f"apt-get install -qq --no-install-recommends /srv/{NAME}_*_amd64.deb")
    return found


def need(*programs: str) -> None:
    missing = [program for program in programs if shutil.which(program) is None]
    if missing:
        pytest.skip(f"needs {', '.join(missing)}")


def build(dist: Path, *arguments: str) -> None:
    """Run packaging/build.py with this Python and the user's settings, which include pip's wheel folder."""
    done = subprocess.run(
        [sys.executable, ROOT / "packaging" / "build.py", *arguments, "--into", dist],
        capture_output=True,
        text=True,
        check=False,
        env={name: value for name, value in os.environ.items() if not name.startswith("XDG_")},
    )
    assert done.returncode == 0, done.stderr


@contextmanager
def release_server(dist: Path, version: str) -> Iterator[str]:
    """Sign the packages of a version in `dist` and serve them. Yields the Python that a program of an older
    version runs to prepare the update, and then to print what the next start tries."""
    key = dist / "key"
    key.unlink(missing_ok=True)
    program = [sys.executable, ROOT / "packaging" / "build.py"]
    made = subprocess.run([*program, "key", key], check=True, capture_output=True, text=True)
    build(dist, "index", str(key), "--version", version)
    handler = partial(SimpleHTTPRequestHandler, directory=dist)
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    url = f"http://127.0.0.1:{server.server_port}/{NAME}-releases.json"
    yield PREPARE.format(url=url, key=made.stdout.strip())
    server.shutdown()
    server.server_close()


PREPARE = """
from msgspec import structs
from engine import updates
from engine.hub import Stop
from engine.hub.progress import TransferMeter
package = structs.replace(updates.this_package(), releases={url!r}, public_key={key!r})
here = updates.this_installation()
updates.prepare(here, updates.newest_release(package), TransferMeter("", 0), Stop())
print("next:", here.trial)
"""


def one(folder: Path, pattern: str) -> Path:
    """Return the only matching file."""
    (found,) = folder.glob(pattern)
    return found


def report(output: str) -> dict[str, object]:
    """Return the JSON object in a self-test's output."""
    lines = [line for line in output.splitlines() if line.startswith("{")]
    assert lines, output
    result: dict[str, object] = json.loads(lines[-1])
    return result


def answers(root: CleanRoot, program: str, **environment: str) -> dict[str, object]:
    done = root.run(program, "--self-test", "/home/somebody/answer.png", "--with-engine", **environment)
    result = report(done.stdout)
    assert "Tokyo" in str(result.get("answer")), done.stdout + done.stderr
    print(program, result["window_after_s"], result["ready_after_s"], result["first_token_after_s"])
    return result


def wait_for(condition: Callable[[], bool], timeout_s: float = 90) -> None:
    deadline = time.monotonic() + timeout_s
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.1)
