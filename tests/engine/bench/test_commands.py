"""The benchmarks as commands, on the embedded model."""

import json
from importlib.util import find_spec

import pytest

from engine import cli
from tests.engine.conftest import model_file

PROMPT = ["--kinds", "explaining", "--per-kind", "1", "--tokens", "16", "--context", "256"]
COMMANDS = {
    "drafters": ["--drafters", "none,recycling", "--budget", "8", *PROMPT],
    "passes": ["--rows", "1,4", "--repeats", "1", "--context", "256"],
    "parting": PROMPT,
    "coverage": [*PROMPT, "--draft", "smollm2"],
    "constraints": ["--answers", "2", "--context", "512"],
    "panel": ["--budget", "8", "--tokens", "4", "--repeats", "1", "--nodes", "20", "--context", "256"],
    "streaming": [
        *["--draft", "smollm2", "--ram-limit", "0.06", "--rows", "1,4"],
        *["--tokens", "6", "--repeats", "1", "--context", "256"],
    ],
}

WITHOUT_PLOTS = {"parting", "constraints", "panel", "streaming"}


@pytest.mark.parametrize("kind", COMMANDS)
def test_a_benchmark_prints_one_json_object_and_plots(kind, tmp_path, capsys):
    model_file("smollm2")
    plots = kind not in WITHOUT_PLOTS and find_spec("matplotlib") is not None
    plot = ["--plot", str(tmp_path / "plot.svg")] if plots else []
    assert cli.run(["bench", kind, *COMMANDS[kind], "--json", *plot]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report
    if plots:
        assert (tmp_path / "plot.svg").read_text().startswith("<?xml")


def test_coverage_needs_a_draft(capsys):
    model_file("smollm2")
    assert cli.run(["bench", "coverage", "--draft", "none", *PROMPT, "--json"]) == 1
    assert json.loads(capsys.readouterr().out)["error"]["kind"] == "bad_option"
