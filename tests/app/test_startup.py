import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.skipif(sys.platform != "linux", reason="the remedy names Linux packages")
def test_a_machine_without_a_display_gets_a_remedy_and_status_1() -> None:
    environment = {**os.environ, "QT_QPA_PLATFORM": "no-such-platform"}
    run = subprocess.run(
        [sys.executable, "-m", "app"], cwd=ROOT, env=environment, capture_output=True, text=True, timeout=60
    )
    assert run.returncode == 1
    assert "specexec chat" in run.stderr
    assert "Traceback" not in run.stderr


def test_bad_usage_is_status_2() -> None:
    run = subprocess.run(
        [sys.executable, "-m", "app", "--budget", "x"], cwd=ROOT, capture_output=True, text=True, timeout=60
    )
    assert run.returncode == 2


def test_the_window_imports_no_torch() -> None:
    code = "import sys, app.startup; assert not {'torch', 'transformers', 'accelerate'} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=True, timeout=60)
