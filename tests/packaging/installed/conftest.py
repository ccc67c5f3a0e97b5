"""Builds what the tests here install. Minutes of work: only where SPECEXEC_PACKAGES says so."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
DIST = ROOT / "dist"
NAME = "specexec-desktop"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    if os.environ.get("SPECEXEC_PACKAGES"):
        return
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.skip(reason="builds installers: set SPECEXEC_PACKAGES=1"))


def need(*programs: str) -> None:
    missing = [program for program in programs if shutil.which(program) is None]
    if missing:
        pytest.skip(f"needs {', '.join(missing)}")


def build(*arguments: str) -> None:
    """packaging/build.py, with the Python that runs the tests."""
    done = subprocess.run(
        [sys.executable, ROOT / "packaging" / "build.py", *arguments],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr


def one(pattern: str) -> Path:
    """The one file in dist/ that fits."""
    (found,) = DIST.glob(pattern)
    return found


def report(words: str) -> dict[str, object]:
    """The JSON object among a self-test's words."""
    lines = [line for line in words.splitlines() if line.startswith("{")]
    assert lines, words
    found: dict[str, object] = json.loads(lines[-1])
    return found
