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
from tests.app.test_real_window import OUTPUT, ROOT
from tests.engine.hub.lying_hub import LyingHub, Offered, stalls

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
    assert report["indicator"] == ["Get a model", "Download paused"]
    assert report["target"] == f"{ID}/{FILE}"
    assert report["draft"] == "none"
    assert "SmolLM2" in report["loaded"]
    assert (models / ID / FILE).read_bytes() == shipped
    for name in ("machine", "choose", "hub", "where", "download", "paused", "ready"):
        assert (OUTPUT / f"wizard-{name}.png").stat().st_size > 5_000


@pytest.mark.skipif(sys.platform != "linux", reason="needs an X server")
@pytest.mark.timeout(300)
@pytest.mark.parametrize(("goal", "most", "form"), [("demo", 2, "Q4_1"), ("recommended", 6, "Q8_0")])
def test_a_stranger_reaches_a_useful_answer_with_few_clicks(
    goal: str,
    most: int,
    form: str,
    shipped: bytes,
    display: str,
    server: LyingHub,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Clicks and key presses from the first start of the program to an answer; the question is a suggested
    one."""
    wanted = catalog.entries()["smollm2-360m-q8_0"]
    server.repositories[wanted.repository] = Offered({wanted.file: shipped}, license="apache-2.0")
    environment = {
        **os.environ,
        "DISPLAY": display,
        "PYTHONFAULTHANDLER": "1",  # a crash tells where it was
        "QT_QPA_PLATFORM": "xcb",
        "HF_ENDPOINT": server.endpoint,
        "HOME": str(tmp_path),
        "XDG_CACHE_HOME": os.environ.get("XDG_CACHE_HOME", str(Path.home() / ".cache")),
        "XDG_DATA_HOME": str(tmp_path / "data"),
        "XDG_CONFIG_HOME": str(tmp_path / "config"),
        "XDG_STATE_HOME": str(tmp_path / "state"),
    }
    environment.pop(catalog.MODELS_VARIABLE, None)
    done = subprocess.run(
        [sys.executable, "-m", "tests.app.wizard.drive_stranger", goal, str(tmp_path)],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        timeout=240,
    )
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    with capsys.disabled():
        print(f"\n{goal}: {report['count']} ({'; '.join(report['steps'])})")
    assert report["tokens"] > 0
    assert report["count"] <= most
    assert report["marked"] == [f"✓ SmolLM2 {'135M' if goal == 'demo' else '360M'} Instruct · {form}"]
    if goal == "recommended":
        assert report["target"] == wanted.id
        place = tmp_path / "data/specexec-desktop/models" / wanted.repository / wanted.file
        assert place.read_bytes() == shipped
