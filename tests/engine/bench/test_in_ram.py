"""`specexec bench peers --in-ram`: contenders take turns, and one that is missing or fails is named."""

import json
import sys
from pathlib import Path

import pytest

from engine import cli
from engine.bench import in_ram
from engine.bench.in_ram import InRamAnswer, InRamResult, InRamTerms, measure, table
from tests.engine.conftest import model_file

TERMS = InRamTerms("none", "Say hello.", 6, 1, sys.executable)


def answer(rate: float, features: str = "") -> InRamAnswer:
    return InRamAnswer(1.5, 0.25, 900, 6, rate, 1.0, 1 << 30, "Hello", features)


def result(name: str, *rates: float) -> InRamResult:
    return InRamResult(name, "model", [], {}, runs=[answer(rate) for rate in rates])


def test_medians_spreads_and_the_ratio_to_the_other_program_are_shown():
    lines = list(table([result("plain", 30, 10, 20), result("xllamacpp", 5, 4, 3)]))
    plain, other = lines[1].split(), lines[2].split()
    assert plain[2:5] == ["20.0", "10.0–30.0", "5.00"]
    assert other[2:5] == ["4.0", "3.0–5.0", "1.00"]
    assert lines[-1] == "first token: after a prompt of 900 tokens"


def test_a_program_that_is_missing_or_fails_is_named_and_runs_no_more(monkeypatch):
    def program(name: str, code: str) -> InRamResult:
        return InRamResult(name, "model", [sys.executable, "-c", code], {})

    fields = {name: getattr(answer(7), name) for name in InRamAnswer.__slots__}
    contenders = [
        program("plain", f"print('a line before'); print({json.dumps(fields)!r})"),
        program("xllamacpp", "raise SystemExit('no such model')"),
        InRamResult("llama_cpp", "model", ["no program"], {}, outcome="not installed"),
    ]
    monkeypatch.setattr(in_ram, "_contenders", lambda target, terms: contenders)
    reported: list[str] = []
    results = measure(["model"], InRamTerms("none", "?", 6, 2, sys.executable), reported.append)
    assert [len(each.runs) for each in results] == [2, 0, 0]
    assert results[1].outcome == "failed: no such model"
    assert len(reported) == 3, "what failed is not tried again"
    assert [line.split()[-1] for line in list(table(results))[2:4]] == ["model", "installed"]


def test_this_engine_answers_and_a_missing_llama_cpp_is_said(capsys):
    model_file("smollm2")
    command = ["bench", "peers", "smollm2", "--in-ram", "--draft", "none", "--tokens", "6", "--repeats", "1"]
    assert cli.run([*command, "--llama-python", sys.executable, "--json"]) == 0
    results = {each["name"]: each for each in json.loads(capsys.readouterr().out)["results"]}
    for name in ("plain", "default"):
        (run,) = results[name]["runs"]
        assert run["tokens"] == 6
        assert run["prompt_tokens"] > 800
        assert run["load_s"] > 0 < run["first_token_s"]
        assert run["peak_nbytes"] > 1 << 27
    assert results["plain"]["runs"][0]["text"] == results["default"]["runs"][0]["text"]
    assert {results[name]["outcome"] for name in ("xllamacpp", "llama_cpp")} <= {"ok", "not installed"}


@pytest.mark.parametrize("arguments", [[], ["--in-ram", "--memory", "1"]])
def test_either_a_limit_or_none_is_asked_for(arguments):
    with pytest.raises(SystemExit):
        cli.run(["bench", "peers", "smollm2", *arguments])


def test_a_single_token_has_no_speed(capsys):
    assert cli.run(["bench", "peers", "smollm2", "--in-ram", "--tokens", "1", "--json"]) == 1
    assert json.loads(capsys.readouterr().out)["error"]["kind"] == "bad_option"


def test_the_long_question_has_about_a_thousand_tokens():
    assert 600 < len(in_ram.LONG_QUESTION.split()) < 800
    assert Path(in_ram.FOLDER, "peer_answer.py").exists()
