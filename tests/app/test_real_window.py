"""The main job as a person does it: real window on a real X server, real engine process, real model."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from engine import catalog
from engine.errors import ModelNotFound

ROOT = Path(__file__).parents[2]
OUTPUT = ROOT / "tests" / "output"


@pytest.fixture
def display() -> Iterator[str]:
    """An X server of our own."""
    if shutil.which("Xvfb") is None:
        pytest.skip("needs Xvfb")
    reader, writer = os.pipe()
    server = subprocess.Popen(
        ["Xvfb", "-displayfd", str(writer), "-screen", "0", "1400x900x24", "-nolisten", "tcp"],
        pass_fds=(writer,),
        stderr=subprocess.DEVNULL,
    )
    os.close(writer)
    with os.fdopen(reader) as pipe:
        number = pipe.readline().strip()
    assert number, "Xvfb did not start"
    yield f":{number}"
    server.terminate()
    server.wait()


@pytest.mark.skipif(sys.platform != "linux", reason="needs an X server")
@pytest.mark.timeout(600)
def test_a_person_asks_reads_and_stops(display: str) -> None:
    try:
        catalog.resolve(catalog.default_target())
    except ModelNotFound as error:
        pytest.skip(error.message)
    done = subprocess.run(
        [sys.executable, "-m", "tests.app.drive_window", str(OUTPUT), "--accepts", "2"],
        cwd=ROOT,
        env={**os.environ, "DISPLAY": display, "QT_QPA_PLATFORM": "xcb"},
        capture_output=True,
        text=True,
        timeout=400,
    )
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    assert report["platform"] == "xcb"
    assert any(word in report["first"].lower() for word in ("sea", "ocean", "water", "wave"))
    assert report["first_stop_reason"] == "end_of_sequence"
    assert report["tokens_per_pass"] > 1
    assert report["second_stop_reason"] == "cancelled"
    assert report["second"], "what was said before Stop is kept"
    assert report["second_reused_tokens"] > 30, "the first turn is not read again"
    assert not report["still_running"]
    for name in ("ready", "answered", "stopped"):
        assert (OUTPUT / f"{name}.png").stat().st_size > 10_000
    assert not [p for p in psutil.process_iter(["cmdline"]) if is_engine_of(p, done)], (
        "an engine was left behind"
    )


def is_engine_of(process: psutil.Process, done: subprocess.CompletedProcess[str]) -> bool:
    """An engine process nobody is the parent of any more."""
    return "engine.process" in (process.info["cmdline"] or []) and process.ppid() == 1
