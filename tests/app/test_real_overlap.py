"""A draft that goes on while the target reads, with a real window on a real X server and a real engine."""

import json
import os
import subprocess
import sys

import pytest

from tests.app.test_real_window import OUTPUT, ROOT
from tests.engine.conftest import model_file

pytestmark = [
    pytest.mark.skipif(sys.platform != "linux", reason="needs an X server"),
    pytest.mark.timeout(300),
]


def test_what_is_drafted_during_a_pass_is_drawn_beside_it_and_in_the_tree(display: str) -> None:
    model = str(model_file("smollm2"))
    folder = OUTPUT / "overlap"
    done = subprocess.run(
        [sys.executable, "-m", "tests.app.drive_overlap", str(folder), "--target", model, "--draft", model],
        cwd=ROOT,
        env={**os.environ, "DISPLAY": display, "QT_QPA_PLATFORM": "xcb"},
        capture_output=True,
        text=True,
        timeout=240,
    )
    assert done.returncode == 0, done.stderr
    assert not done.stderr, "Qt had something to say"
    report = json.loads(done.stdout)
    assert "river" in report["text"]
    assert "nodes drafted during passes survived" in report["times"]
    heights = [rect[3] for rect in report["beside"]]
    survived = [rect[3] for rect in report["survived"]]
    assert max(heights) > 2
    assert max(survived) > 0
    assert all(part <= whole for part, whole in zip(survived, heights, strict=True))
    assert report["ahead"] > 0
    assert report["tree"]
    assert "drafted during the pass before" in report["legend"]
    for name in ("overlap_time", "overlap_tree"):
        assert (folder / f"{name}.png").stat().st_size > 10_000
