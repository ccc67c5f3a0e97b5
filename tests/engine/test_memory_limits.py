"""A chat in a control group with little memory: it fits the plan to what is free, or says what is missing."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from engine.bench.memory_cgroup import memory_cgroup
from engine.errors import BadOption
from tests.engine.conftest import model_file


def ask(gib: float, *options: str) -> subprocess.CompletedProcess:
    """Ask the demonstration model in a group with so much memory; skip the test where none can be made."""
    model_file("smollm2")
    command = [
        "-m",
        "engine.cli",
        "chat",
        "What is the capital of Japan?",
        "--max-new-tokens",
        "12",
        "--json",
    ]
    try:
        with memory_cgroup(int(gib * 2**30)) as group:
            return subprocess.run(
                [*group.prefix, sys.executable, *command, *options],
                capture_output=True, text=True, cwd=Path(__file__).parents[2], timeout=120,
            )  # fmt: skip
    except BadOption as error:
        pytest.skip(error.message)


@pytest.mark.parametrize("options", [(), ("--ram-limit", "8"), ("--ram-limit", "0.05")])
def test_a_little_more_than_the_process_is_enough(options):
    done = ask(0.75, *options)
    assert done.returncode == 0, done.stderr + done.stdout
    answer = json.loads(done.stdout)
    assert "Tokyo" in answer["text"]
    assert answer["memory"]["peak"] < 0.75 * 2**30


@pytest.mark.parametrize("options", [(), ("--ram-limit", "8")])
def test_less_than_the_process_is_refused_and_the_gap_is_named(options):
    gaps = []
    for gib in (0.5, 0.4):
        done = ask(gib, *options)
        assert done.returncode == 1, done.stderr
        error = json.loads(done.stdout)["error"]
        assert error["kind"] == "out_of_memory"
        gaps.append(float(error["message"].partition(": ")[2].split()[0]))
    assert 0 < gaps[0] < gaps[1] < 0.6
    done = ask(0.4 + gaps[1], *options)
    assert done.returncode == 0, f"{gaps[1]} GiB more were said to be enough: {done.stderr}"
