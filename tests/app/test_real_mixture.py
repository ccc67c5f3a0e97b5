"""The page of the memory with a mixture whose experts are read when they are needed, in the real window."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from app import formatting
from tests.app.test_real_window import OUTPUT, ROOT
from tests.engine.heads.test_service import write_target
from tests.engine.model.compiled_models import tiny

LIMIT = 2 << 20  # bytes: the layers, and some of the experts

pytestmark = [
    pytest.mark.skipif(sys.platform != "linux", reason="needs an X server"),
    pytest.mark.timeout(300),
]


@pytest.fixture(scope="module")
def mixture(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tiny mixture whose tokens are letters."""
    folder = tmp_path_factory.mktemp("Tiny-mixture")
    write_target(folder)
    tiny("qwen3_moe", num_experts=16).save_pretrained(folder)
    return folder


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        pytest.param("mixture-en", (), id="light"),
        pytest.param("mixture-ko", ("--dark", "--language", "ko"), id="dark, Korean"),
    ],
)
def test_the_page_says_what_the_cache_of_experts_does(
    display: str, mixture: Path, name: str, arguments: tuple[str, ...], tmp_path: Path
) -> None:
    report = drive(display, name, mixture, arguments, tmp_path)
    figures = report["experts"]
    assert figures["hits"] > 0 < figures["misses"]
    chosen = figures["hits"] + figures["late"] + figures["misses"]
    said = " ".join(report["said"])
    for figure in (round(100 * figures["hits"] / chosen), figures["hits"], chosen):
        assert str(figure) in said
    per_token = round(figures["bytes_read"] / report["tokens"])
    assert per_token > 0
    assert formatting.nbytes(per_token) in said
    assert figures["predicted"] > 0
    assert f"{min(100, round(100 * figures['right'] / figures['predicted']))} %" in said
    homes = {part["tier"]: part["nbytes"] for part in report["parts"] if part["what"] == "target_experts"}
    assert {"ram", "ssd"} <= homes.keys()
    assert all(formatting.nbytes(nbytes) in report["bars"] for nbytes in homes.values())
    assert (OUTPUT / name / "memory.png").stat().st_size > 10_000


def drive(display: str, name: str, mixture: Path, arguments: tuple[str, ...], home: Path) -> Any:
    limit = str(LIMIT / 2**30)
    done = subprocess.run(
        [
            *(sys.executable, "-m", "tests.app.drive_mixture", str(OUTPUT / name)),
            *("--target", str(mixture), "--ram-limit", limit, *arguments),
        ],
        cwd=ROOT,
        env={**os.environ, "DISPLAY": display, "QT_QPA_PLATFORM": "xcb", "XDG_DATA_HOME": str(home)},
        capture_output=True,
        text=True,
        timeout=240,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)
