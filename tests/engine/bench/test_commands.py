"""The benches as commands, on the embedded model."""

import json

import pytest

from engine import cli
from tests.engine.conftest import model_file

PROMPT = ["--kinds", "explaining", "--per-kind", "1", "--tokens", "16", "--context", "256"]
COMMANDS = {
    "drafters": ["--drafters", "none,recycling", "--budget", "8", *PROMPT],
    "passes": ["--rows", "1,4", "--repeats", "1", "--context", "256"],
    "parting": PROMPT,
    "coverage": [*PROMPT, "--draft", "smollm2"],
}


@pytest.mark.parametrize("kind", COMMANDS)
def test_a_bench_prints_one_json_object_and_draws(kind, tmp_path, capsys):
    model_file("smollm2")
    plot = [] if kind == "parting" else ["--plot", str(tmp_path / "plot.svg")]
    if plot:
        pytest.importorskip("matplotlib")
    assert cli.run(["bench", kind, *COMMANDS[kind], "--json", *plot]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report
    if plot:
        assert (tmp_path / "plot.svg").read_text().startswith("<?xml")


def test_coverage_needs_a_draft(capsys):
    model_file("smollm2")
    assert cli.run(["bench", "coverage", "--draft", "none", *PROMPT, "--json"]) == 1
    assert json.loads(capsys.readouterr().out)["error"]["kind"] == "bad_option"
