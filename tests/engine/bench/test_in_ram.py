"""`specexec bench peers --in-ram`: contenders take turns, and one that is missing or fails is named."""

import json
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from engine import cli
from engine.bench import in_ram
from engine.bench.in_ram import InRamAnswer, InRamResult, InRamTerms, kinds_table, measure, table
from engine.bench.options import Prompt
from tests.engine.conftest import model_file

TERMS = InRamTerms("none", (Prompt("hello", "", "Say hello."),), 6, 1, sys.executable)


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


def test_ratios_are_taken_question_by_question_and_shown_for_each_kind():
    def asked(name: str, rates: dict[str, float]) -> InRamResult:
        runs = [
            replace(answer(rate), question=question, kind=question[0]) for question, rate in rates.items()
        ]
        return InRamResult(name, "model", [], {}, runs=runs)

    ours = asked("plain", {"a1": 30, "a2": 10, "a3": 20, "b1": 8, "c1": 5})
    theirs = asked("xllamacpp", {"a1": 10, "a2": 10, "a3": 10, "b1": 2})
    first, *rows = kinds_table([ours, theirs])
    assert first.startswith("plain against xllamacpp on model")
    assert [row.split() for row in rows] == [
        ["a", "2.00", "(1.00–3.00)", "of", "3"],
        ["b", "4.00", "(4.00–4.00)", "of", "1"],
        ["all", "2.50", "(1.00–4.00)", "of", "4"],
    ]


def test_with_several_questions_the_long_one_is_asked_once(monkeypatch):
    code = """
import json, sys
order = json.load(sys.stdin)
first = 0.5 if order["long"] else None
print(json.dumps({"load_s": 1, "first_token_s": first, "prompt_tokens": first and 900, "tokens": 6,
    "tokens_per_second": len(order["question"]), "tokens_per_pass": 1, "peak_nbytes": 1, "text": "?"}))
"""
    contender = InRamResult("plain", "model", [sys.executable, "-c", code], {})
    monkeypatch.setattr(in_ram, "_contenders", lambda target, terms: [contender])
    questions = (Prompt("one", "a", "?" * 3), Prompt("two", "b", "?" * 5))
    measure(["model"], replace(TERMS, questions=questions, repeats=2), lambda line: None)
    assert contender.outcome == "ok"
    assert [run.question for run in contender.runs] == ["one", "two", "one", "two"]
    assert [run.first_token_s for run in contender.runs] == [0.5, None, None, None]
    assert [run.tokens_per_second for run in contender.runs] == [3, 5, 3, 5]
    assert "0.50" in list(table([contender]))[1]


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
    results = measure(["model"], replace(TERMS, repeats=2), reported.append)
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


@pytest.mark.parametrize("choice", [["--kinds", "coding"], ["--per-kind", "1"]])
def test_a_choice_of_prompts_is_for_models_in_ram(capsys, choice):
    assert cli.run(["bench", "peers", "smollm2", "--memory", "1", *choice, "--json"]) == 1
    assert "--in-ram" in json.loads(capsys.readouterr().out)["error"]["hint"]


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
