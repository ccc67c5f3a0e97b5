"""A chat in a control group with little memory: it fits the plan to what is free, or says what is missing."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from engine import protocol
from engine.bench.memory_cgroup import MemoryCgroup, memory_cgroup
from engine.errors import BadOption
from engine.protocol import EngineConnection, Message, Options
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


HOLD = "import sys; held = b'x' * int(sys.argv[1]); print(len(held), flush=True); sys.stdin.read()"


def engine_in(group: MemoryCgroup) -> EngineConnection:
    """Start an engine in the group, the first that the system kills if memory runs out there."""
    connection = EngineConnection.start()
    Path(group.prefix[-1]).write_text(str(connection.pid))
    Path(f"/proc/{connection.pid}/oom_score_adj").write_text("1000")
    return connection


def test_an_engine_that_the_system_kills_for_memory_is_reported_and_the_next_one_takes_less():
    model_file("smollm2")
    try:
        with memory_cgroup(2**30) as group:
            if group.peak_file is None:
                pytest.skip("the group ends with its command")
            connection, other, loaded = engine_in(group), None, []
            for lost in connection.events():
                if isinstance(lost, protocol.Ready):
                    connection.post(protocol.Load(id=1, context=2048))
                elif isinstance(lost, protocol.Loaded):
                    loaded.append(lost)
                    other = subprocess.Popen(
                        [*group.prefix, sys.executable, "-c", HOLD, str(int(0.9 * 2**30))],
                        stdin=subprocess.PIPE, stdout=subprocess.DEVNULL,
                    )  # fmt: skip
            other.kill()
            other.communicate()
            assert isinstance(lost, protocol.EngineLost)
            assert lost.killed
            assert "memory ran out" in lost.message
            connection = engine_in(group)
            for event in connection.events():
                if isinstance(event, protocol.Ready):
                    connection.post(protocol.Load(id=1, context=2048, smaller=1))
                elif isinstance(event, protocol.Loaded):
                    loaded.append(event)
                    question = [Message("user", "What is the capital of Japan?")]
                    options = Options(max_new_tokens=12)
                    connection.post(protocol.Chat(id=2, messages=question, options=options))
                elif isinstance(event, protocol.Answer):
                    connection.close()
                    assert "Tokyo" in event.text
            assert loaded[1].memory.ram < loaded[0].memory.ram
            assert loaded[1].smaller_plan.full == "ram"
    except BadOption as error:
        pytest.skip(error.message)
