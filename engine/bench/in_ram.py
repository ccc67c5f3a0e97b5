"""`specexec bench peers --in-ram`: compares this engine with llama.cpp and transformers on models that fit
into RAM. Each answer comes from a process of its own; contenders take turns.

A contender loads the model, reads a prompt of about a thousand tokens (only once if there are several
questions), then answers a question greedily.
"""

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from itertools import product
from pathlib import Path
from statistics import median
from typing import Any

import psutil

from engine import catalog
from engine.bench.options import Prompt
from engine.bench.peer_answer import OTHERS

FOLDER = Path(__file__).parent
TIMEOUT_S = 600
QUESTION = Prompt(
    "merge", "coding", "Write a Python function that merges two sorted lists, with a docstring and a test."
)
NOTES = "\n".join(
    f"{day}. On day {day} the river rose by {7 * day % 13} cm, and the mill stood still."
    for day in range(1, 41)
)
LONG_QUESTION = f"Summarise these notes in one sentence.\n{NOTES}"


@dataclass(frozen=True, slots=True)
class InRamTerms:
    """The conditions that are equal for all contenders. `draft`: as for `specexec chat`; `questions`: each is
    answered `repeats` times; `llama_python`: a Python interpreter that may have xllamacpp or
    llama-cpp-python."""

    draft: str
    questions: tuple[Prompt, ...]
    tokens: int
    repeats: int
    llama_python: str


@dataclass(frozen=True, slots=True)
class InRamAnswer:
    """The figures of one process.

    `load_s`: from the start of the process until the model is loaded; `first_token_s`: from the long question
    to the first token, None if it was not asked; `prompt_tokens`: tokens of that question; `peak_nbytes`:
    peak memory of the process; `question`: the name of the question answered.
    """

    load_s: float
    first_token_s: float | None
    prompt_tokens: int | None
    tokens: int
    tokens_per_second: float
    tokens_per_pass: float
    peak_nbytes: int
    text: str
    features: str = ""
    question: str = ""
    kind: str = ""


@dataclass(slots=True)
class InRamResult:
    """The answers of one contender. `command`: the words that start it; `order`: its input; `outcome`: "ok",
    "not installed" or "failed: …"."""

    name: str
    target: str
    command: list[str]
    order: dict[str, Any]
    outcome: str = "ok"
    runs: list[InRamAnswer] = field(default_factory=list)


def measure(targets: Sequence[str], terms: InRamTerms, say: Callable[[str], None]) -> list[InRamResult]:
    """Let all contenders answer `terms.repeats` times, in turns. targets: ids or paths of models. Raises the
    errors from looking models up."""
    results = [result for target in targets for result in _contenders(target, terms)]
    many = len(terms.questions) > 1
    for turn, question in product(range(terms.repeats), terms.questions):
        for result in results:
            if result.outcome == "ok":
                about = f", {question.name}" if many else ""
                say(f"{result.name}, {result.target}{about}, {turn + 1} of {terms.repeats}")
                _run(result, question, LONG_QUESTION if not many or not result.runs else None)
    return results


def as_json(results: Sequence[InRamResult]) -> str:
    kept = [{"name": each.name, "target": each.target, "outcome": each.outcome} for each in results]
    runs = [[asdict(run) for run in each.runs] for each in results]
    return json.dumps({"results": [{**one, "runs": many} for one, many in zip(kept, runs, strict=True)]})


def table(results: Sequence[InRamResult]) -> Iterator[str]:
    """Yield the lines to print: medians, and the spread of tokens per second. “×” is the ratio to the first
    other program on the same target."""
    width = max(len(result.target) for result in results)
    yield (
        f"{'program':>12} {'target':>{width}} {'tokens/s':>8} {'spread':>13} {'×':>5} {'per pass':>8} "
        f"{'load s':>7} {'1st s':>6} {'peak GiB':>8}"
    )
    for result in results:
        line = f"{result.name:>12} {result.target:>{width}}"
        if result.runs:
            rates = [run.tokens_per_second for run in result.runs]
            other = _other(results, result.target)
            ratio = f"{median(rates) / _median(other, 'tokens_per_second'):.2f}" if other else "–"
            line += (
                f" {median(rates):>8.1f} {f'{min(rates):.1f}–{max(rates):.1f}':>13} {ratio:>5}"
                f" {_median(result, 'tokens_per_pass'):>8.2f} {_median(result, 'load_s'):>7.1f}"
                f" {_median(result, 'first_token_s'):>6.2f} {_median(result, 'peak_nbytes') / 2**30:>8.2f}"
            )
        yield line if result.outcome == "ok" else f"{line} {result.outcome}"
    prompts = sorted({run.prompt_tokens for result in results for run in result.runs if run.prompt_tokens})
    yield f"first token: after a prompt of {' or '.join(map(str, prompts))} tokens"
    yield from sorted({run.features for result in results for run in result.runs if run.features})


def kinds_table(results: Sequence[InRamResult]) -> Iterator[str]:
    """Yield the lines of a second table: for each kind of question, the ratio of tokens per second to the
    first other program on the same question; the median over questions (smallest to largest)."""
    for result in results:
        other = _other(results, result.target)
        if other is None or other is result or not result.runs:
            continue
        ratios: dict[str, list[float]] = {}
        for question, rate in _rates(result).items():
            if question in (theirs := _rates(other)):
                ratios.setdefault(question[0], []).append(rate / theirs[question])
        every = [ratio for each in ratios.values() for ratio in each]
        yield f"{result.name} against {other.name} on {result.target}, × at the same question:"
        for kind, each in [*ratios.items(), ("all", every)]:
            spread = f"({min(each):.2f}–{max(each):.2f})"
            yield f"{kind or 'no kind':>20} {median(each):5.2f} {spread:>14} of {len(each)}"


def _rates(result: InRamResult) -> dict[tuple[str, str], float]:
    """The median tokens per second for each question, by its kind and name."""
    rates: dict[tuple[str, str], list[float]] = {}
    for run in result.runs:
        rates.setdefault((run.kind, run.question), []).append(run.tokens_per_second)
    return {question: median(each) for question, each in rates.items()}


def _median(result: InRamResult, name: str) -> float:
    return float(median(value for run in result.runs if (value := getattr(run, name)) is not None))


def _other(results: Sequence[InRamResult], target: str) -> InRamResult | None:
    """The first other program that has answered on this target."""
    ours = (each for each in results if each.target == target and each.name in OTHERS and each.runs)
    return next(ours, None)


def _contenders(target: str, terms: InRamTerms) -> Iterator[InRamResult]:
    path = catalog.resolve(target).resolve()
    order = {"model": str(path), "tokens": terms.tokens}
    own = [sys.executable, "-m", "engine.bench.own_answer"]
    for name, draft, drafter in (("plain", "none", "none"), ("default", terms.draft, "auto")):
        yield InRamResult(
            name, path.stem, own, {**order, "target": target, "draft": draft, "drafter": drafter}
        )
    peer = str(FOLDER / "peer_answer.py")
    threads = {**order, "threads": psutil.cpu_count(logical=False) or 1}
    if path.is_dir():
        yield InRamResult("transformers", path.stem, [sys.executable, peer, "transformers"], threads)
        return
    for module in ("xllamacpp", "llama_cpp"):
        result = InRamResult(module, path.stem, [terms.llama_python, peer, module], threads)
        if not has_module(terms.llama_python, module):
            result.outcome = "not installed"
        yield result


def has_module(python: str, module: str) -> bool:
    """Return whether an interpreter can import a module."""
    return subprocess.run([python, "-c", f"import {module}"], stderr=subprocess.DEVNULL).returncode == 0


def _run(result: InRamResult, question: Prompt, long: str | None) -> None:
    """Let a contender answer once, and add its figures to `result`."""
    order = {**result.order, "question": question.text, "long": long, "started": time.time()}
    try:
        done = subprocess.run(
            result.command,
            input=json.dumps(order),
            capture_output=True,
            text=True,
            timeout=TIMEOUT_S,
            cwd=FOLDER.parents[1],
            env={**os.environ, "CUDA_VISIBLE_DEVICES": ""},
        )
    except subprocess.TimeoutExpired:
        result.outcome = "failed: too slow"
        return
    if done.returncode:
        died = f"it ended with status {done.returncode}"
        result.outcome = f"failed: {(done.stderr.splitlines() or [died])[-1]}"
        return
    answer = InRamAnswer(**json.loads(done.stdout.splitlines()[-1]))
    result.runs.append(replace(answer, question=question.name, kind=question.kind))
