"""From a machine without a model to a loaded one: real window on a real X server, real measurement, real
engine process; only the Hub is a stand-in."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from engine import catalog
from engine.errors import ModelNotFound
from tests.app.test_real_window import OUTPUT, ROOT, display
from tests.engine.hub.lying_hub import LyingHub, Offered, stalls

__all__ = ["display"]

ID = "somebody/SmolLM2-135M-Instruct-GGUF"
BEFORE_PAUSE = 10_000_000  # bytes
FILE = "SmolLM2-135M-Instruct.Q4_1.gguf"


@pytest.fixture(scope="module")
def shipped() -> bytes:
    """The shipped model, read from the tester's models folder."""
    try:
        return catalog.resolve(catalog.default_target()).read_bytes()
    except ModelNotFound as error:
        pytest.skip(error.message)


@pytest.mark.skipif(sys.platform != "linux", reason="needs an X server")
def test_a_user_downloads_a_model_and_loads_it(
    shipped: bytes, display: str, server: LyingHub, tmp_path: Path
) -> None:
    server.repositories[ID] = Offered({FILE: shipped}, license="apache-2.0")
    server.faults[FILE].append(stalls(BEFORE_PAUSE))
    models = tmp_path / "models"
    done = subprocess.run(
        [sys.executable, "-m", "tests.app.wizard.drive_wizard", str(OUTPUT), f"{server.endpoint}/{ID}"],
        cwd=ROOT,
        env={
            **os.environ,
            "DISPLAY": display,
            "QT_QPA_PLATFORM": "xcb",
            "HF_ENDPOINT": server.endpoint,
            catalog.MODELS_VARIABLE: str(models),
        },
        capture_output=True,
        text=True,
        timeout=240,
    )
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    assert report["platform"] == "xcb"
    assert report["disk_measured"]
    assert report["recommended"]
    assert 0 < report["paused_at"] <= BEFORE_PAUSE
    assert report["indicator"] == "Download paused"
    assert report["target"] == f"{ID}/{FILE}"
    assert report["draft"] == "none"
    assert "SmolLM2" in report["loaded"]
    assert (models / ID / FILE).read_bytes() == shipped
    for name in ("machine", "choose", "hub", "where", "download", "paused", "ready"):
        assert (OUTPUT / f"wizard-{name}.png").stat().st_size > 5_000
