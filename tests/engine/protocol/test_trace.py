import json
from pathlib import Path

import pytest

from engine import cli
from engine.cli import trace as command
from engine.errors import BadTrace, DiskProblem
from engine.protocol import Options, TextDelta, trace
from tests.app.fake_engine import answer, loaded, verdict
from tests.engine.conftest import model_file


def recorded(path: Path) -> Path:
    with trace.Recorder(path, trace.header(loaded(1), Options(seed=7), "Why?")) as recorder:
        recorder.add(0.5, TextDelta(request=1, text="The", tokens=1))
        recorder.add(1.0, verdict(1, 1))
        recorder.add(1.5, verdict(1, 2, accepted=()))
        recorder.add(1.6, answer(1))
    return path


def test_a_recorded_run_is_read_back(tmp_path: Path) -> None:
    found = trace.read(recorded(tmp_path / "run.jsonl"))
    assert (found.header.options.seed, found.header.question) == (7, "Why?")
    assert found.header.loaded == loaded(1)
    assert [timed.t for timed in found.events] == [0.5, 1.0, 1.5, 1.6]
    assert found.iterations == [verdict(1, 1), verdict(1, 2, accepted=())]
    assert found.events[-1].event == answer(1)


def test_a_run_with_an_option_of_another_version_is_read(tmp_path: Path) -> None:
    path = recorded(tmp_path / "run.jsonl")
    path.write_bytes(path.read_bytes().replace(b'"telemetry":', b'"watch":', 1))
    assert trace.read(path).header.options.seed == 7


def test_an_incomplete_line_of_a_killed_run_is_ignored(tmp_path: Path) -> None:
    path = recorded(tmp_path / "run.jsonl")
    path.write_bytes(path.read_bytes()[:-10])
    assert len(trace.read(path).events) == 3


@pytest.mark.parametrize(
    "content", [b"", b"not json\n", b'{"specexec_trace": 1}\n', b"[]\n", b'{"a\xdc": 1}\n']
)
def test_another_file_is_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "other.jsonl"
    path.write_bytes(content)
    with pytest.raises(BadTrace):
        trace.read(path)


@pytest.mark.parametrize(
    ("sound", "odd"),
    [
        ('"accepted":[0,2]', '"accepted":[0,99]'),
        ('"accepted":[0,2]', '"accepted":[-1]'),
        ('"parents":[-1', '"parents":[7'),
        ('"parents":[-1,', '"parents":['),
        ('"log_probs":[-0', '"log_probs":[1e300,-0'),
    ],
)
def test_a_tree_that_is_none_is_refused_with_its_line(tmp_path: Path, sound: str, odd: str) -> None:
    path = recorded(tmp_path / "run.jsonl")
    content = path.read_text("utf-8")
    assert sound in content
    path.write_text(content.replace(sound, odd, 1), "utf-8")
    with pytest.raises(BadTrace, match="Line 3 of"):
        trace.read(path)


def test_another_format_is_refused_by_name(tmp_path: Path) -> None:
    path = recorded(tmp_path / "run.jsonl")
    path.write_bytes(path.read_bytes().replace(b'"specexec_trace":1', b'"specexec_trace":2'))
    with pytest.raises(BadTrace, match="a different format"):
        trace.read(path)


@pytest.mark.parametrize("line", [b'{"t": 1}', b'{"t\xb8": 1}', b"[" * 5_000])
def test_a_damaged_line_is_named(tmp_path: Path, line: bytes) -> None:
    path = recorded(tmp_path / "run.jsonl")
    lines = path.read_bytes().split(b"\n")
    lines[3] = line
    path.write_bytes(b"\n".join(lines))
    with pytest.raises(BadTrace, match="Line 4"):
        trace.read(path)


def test_a_file_that_cannot_be_written_is_a_named_error(tmp_path: Path) -> None:
    with pytest.raises(DiskProblem):
        trace.Recorder(tmp_path, trace.header(loaded(1), Options(), ""))
    with pytest.raises(DiskProblem):
        trace.read(tmp_path / "missing")


def test_a_run_is_printed_with_a_line_per_iteration(tmp_path: Path) -> None:
    lines = list(command.lines(trace.read(recorded(tmp_path / "run.jsonl"))))
    assert lines[-2:] == ["iteration 1: 2 of 6 accepted, 0.10 s", "iteration 2: 0 of 6 accepted, 0.10 s"]
    assert lines[0].startswith("Tiny-135M-Instruct, float32 on cpu")


def test_a_tree_is_printed_with_its_path_marked() -> None:
    lines = list(command.tree_lines(verdict(1)))
    assert [line.split("'")[1] for line in lines] == [
        "The", " quick", " brown", " fox", " red", " slow", " snail", " bear",
    ]  # fmt: skip
    assert [line[0] for line in lines[1:4]] == ["✓", "✓", " "]
    assert "draft 74%" in lines[1]
    assert lines[-1] == "bonus token ' bear'"


def test_a_printed_large_tree_says_what_it_leaves_out() -> None:
    event = verdict(1)
    size = 200
    event.tree.tokens, event.tree.texts = [0] * size, ["x"] * size
    event.tree.parents, event.tree.log_probs = list(range(-1, size - 1)), [-0.1] * size
    event.accepted = list(range(80))
    lines = list(command.tree_lines(event))
    assert lines[0] == "showing 80 of 200 nodes, the most probable and the accepted path"
    assert sum(line.startswith("✓") for line in lines) == 80


def test_chat_records_what_trace_prints(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    model_file("smollm2")
    path = tmp_path / "run.jsonl"
    asked = ["chat", "Count to five.", "--max-new-tokens", "12", "--trace", str(path), "--json"]
    assert cli.run(asked) == 0
    said = json.loads(capsys.readouterr().out)
    found = trace.read(path)
    assert found.header.options.seed == said["seed"]
    assert found.header.loaded.target.name == "SmolLM2 135M Instruct"
    assert found.events[-1].event.text == said["text"]
    assert len(found.iterations) == said["target_passes"]
    assert cli.run(["trace", str(path), "--json"]) == 0
    printed = json.loads(capsys.readouterr().out)
    assert len(printed["iterations"]) == said["target_passes"]
    assert cli.run(["trace", str(path), "--iteration", "99"]) == 1
