"""The self-test that checks packages reports the truth."""

import json
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def self_test(picture: Path, *arguments: str, **environment: str) -> tuple[int, dict[str, object]]:
    done = subprocess.run(
        [sys.executable, "-m", "app", "--self-test", picture, *arguments],
        cwd=ROOT,
        env={**os.environ, "QT_QPA_PLATFORM": "offscreen", **environment},
        capture_output=True,
        text=True,
        check=False,
        timeout=200,
    )
    return done.returncode, json.loads(done.stdout)


def test_a_screenshot_of_the_open_window_is_saved(tmp_path: Path) -> None:
    status, report = self_test(tmp_path / "window.png")
    assert (status, report["ok"]) == (0, True)
    assert (tmp_path / "window.png").read_bytes().startswith(b"\x89PNG")


def test_the_self_test_fails_without_an_answer(tmp_path: Path) -> None:
    nowhere = str(tmp_path / "no model.gguf")
    status, report = self_test(tmp_path / "window.png", "--with-engine", "--target", nowhere)
    assert (status, report["ok"]) == (1, False)
    assert "error" in report


def test_the_self_test_fails_if_the_screenshot_cannot_be_written(tmp_path: Path) -> None:
    status, report = self_test(tmp_path / "no folder" / "window.png")
    assert (status, report["ok"], report["pictured"]) == (1, False, False)
