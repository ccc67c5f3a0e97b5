"""Builds the installers for these tests. Takes minutes, so only if SPECEXEC_PACKAGES is set."""

import json
import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
NAME = "specexec-desktop"


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
