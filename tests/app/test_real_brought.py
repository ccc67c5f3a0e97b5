"""What people bring along, with a real window on a real X server, a real engine process and a real model."""

import json
import os
import subprocess
import sys
from typing import Any

import pytest

from tests.app.brought import PAGES, TOLD
from tests.app.test_real_window import OUTPUT, ROOT
from tests.engine.conftest import model_file

pytestmark = [
    pytest.mark.skipif(sys.platform != "linux", reason="needs an X server"),
    pytest.mark.timeout(600),
]


def drive(display: str, name: str, *arguments: str, scale: str = "1") -> Any:
    """Run flows in a program of its own. Return their report. name: of the folder with its screenshots."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.app.drive_brought", str(OUTPUT / name), *arguments],
        cwd=ROOT,
        env={**os.environ, "DISPLAY": display, "QT_QPA_PLATFORM": "xcb", "QT_SCALE_FACTOR": scale},
        capture_output=True,
        text=True,
        timeout=500,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.parametrize(
    ("scale", "arguments"),
    [
        pytest.param("1", (), id="light"),
        pytest.param("2", ("--dark", "--language", "ko"), id="dark, 200 %, Korean"),
    ],
)
def test_prompts_and_a_book_of_300_pages(display: str, scale: str, arguments: tuple[str, ...]) -> None:
    model_file("smollm2")
    name = f"brought-{scale}"
    report = drive(display, name, "--flows", "prompts", "book", *arguments, scale=scale)
    library = ["Review", "Translate"]
    prompts, book = report["prompts"], report["book"]
    assert (prompts["exported"], prompts["left"], prompts["imported"]) == (library, [], library)
    assert [text.split()[0] for text in prompts["offered"]] == ["/Review", "/Translate"]
    assert prompts["inserted"] == "Say a word in Korean, in a friendly tone."
    assert book["pages"] == PAGES
    assert any(str(TOLD) in place for place in book["shown"])
    assert "painted their doors green" in book["read"]
    assert "green" in book["answer"]


def test_a_tool_server_is_allowed_refused_hangs_and_lies(display: str) -> None:
    target = model_file("coder-draft")
    report = drive(display, "brought-tools", "--target", str(target), "--flows", "tools")["tools"]
    assert {name: call["state"] for name, call in report.items()} == {
        "allowed": "done",
        "refused": "refused",
        "hanging": "failed",
        "lying": "failed",
        "broken": "failed",
    }
    for call in report.values():
        assert call["title"] == "echo of the tool server Reference"
        assert "tide is high" in call["arguments"]["text"]
    assert "tide is high" in report["allowed"]["result"]
    assert report["refused"]["result"] == "The user does not allow this call."
    assert report["hanging"]["result"] == "The user has stopped this call."
    assert "did not answer within" in report["lying"]["result"]
    assert "no message of the protocol" in report["broken"]["result"]
