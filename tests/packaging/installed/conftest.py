"""Builds the installers for these tests. Takes minutes, so only if SPECEXEC_PACKAGES is set."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
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
