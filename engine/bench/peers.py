"""This engine beside others on the same question, each answer by a process of its own under the same memory
limit, which holds less than the target.

Every contender starts with none of the model's bytes in the page cache, decodes greedily, and reports the
fields of `specexec chat --json`. Contenders take turns, because a disk's speed changes from minute to minute.
"""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import takewhile
from pathlib import Path
from statistics import median

import torch

from engine.bench.memory_cgroup import memory_cgroup
from engine.checkpoints import Checkpoint, open_checkpoint
from engine.errors import BadOption
from engine.tokenizer import load_tokenizer

FOLDER = Path(__file__).parent
TIMEOUT_S = 600


@dataclass(frozen=True, slots=True)
class Terms:
    """What is equal for all.

    Attributes: `memory`, bytes of the limit; `overhead`, bytes of it that interpreter, libraries and
    workspaces take where torch runs, the rest being for weights; `weights`, "packed" or "unpacked": the
    draft's, in memory; `budget` of the trees; `llama_python`: an interpreter, perhaps with
    llama-cpp-python.
    """

    memory: int
    overhead: int
    weights: str
    budget: int
    prompt: str
    tokens: int
    repeats: int
    llama_python: str


@dataclass(frozen=True, slots=True)
class Contender:
    """Attributes: `ram_limit`, bytes of weights it is told to keep in RAM, None where it is not told;
    `command` with `stdin`, its text; `files` it reads weights from; `needs`, a module that its interpreter,
    the first word of `command`, may be without."""

    name: str
    target: str
    ram_limit: int | None
    command: list[str]
    stdin: str
    files: set[Path]
    needs: str | None = None


@dataclass(frozen=True, slots=True)
class Run:
    """One answer: `seconds` from its first token to its last; `peak_nbytes` of the group, pages of files
    included, None where it cannot be read."""

    tokens: int
    seconds: float
    tokens_per_pass: float
    peak_nbytes: int | None

    @property
    def tokens_per_second(self) -> float:
        return (self.tokens - 1) / self.seconds


@dataclass(slots=True)
class Result:
    """Attributes: `outcome`: ok, "not installed", "killed" (by the memory limit), "too slow" or "failed: …";
    a contender that is not ok does not run again. `token_ids` of the last answer."""

    name: str
    target: str
    ram_limit: int | None
    outcome: str = "ok"
    runs: list[Run] = field(default_factory=list)
    token_ids: list[int] = field(default_factory=list)


def measure(
    targets: Sequence[Path], draft: Path | None, terms: Terms, say: Callable[[str], None]
) -> list[Result]:
    """targets: folders of safetensors (accelerate runs these) and GGUF files (llama.cpp runs these). draft:
    for SpecExec; None leaves it out.

    say: told what is being measured. Raises BadOption where the limit holds a whole target or not even what
    is needed beside it, or where no limit can be set, and what opening checkpoints raises.
    """
    contenders = [each for target in targets for each in _contenders(target, draft, terms)]
    results = [Result(each.name, each.target, each.ram_limit) for each in contenders]
    for each, result in zip(contenders, results, strict=True):
        if each.needs and not _has(each.command[0], each.needs):
            result.outcome = "not installed"
    for turn in range(terms.repeats):
        for each, result in zip(contenders, results, strict=True):
            if result.outcome == "ok":
                say(f"{each.name}, {each.target}, {turn + 1} of {terms.repeats}")
                _run(each, terms.memory, result)
    return results


def table(results: Sequence[Result]) -> Iterator[str]:
    """Lines to print. “same”: tokens before the answer first differs from the first one that was given."""
    width = max(len(result.target) for result in results)
    yield (
        f"{'program':>10} {'target':>{width}} {'RAM limit':>9} {'tokens/s':>8} {'spread':>13} {'tokens':>6} "
        f"{'same':>4} {'per pass':>8} {'peak GiB':>8}"
    )
    first = next((result.token_ids for result in results if result.runs), [])
    for result in results:
        limit = "–" if result.ram_limit is None else f"{result.ram_limit / 2**30:.2f}"
        line = f"{result.name:>10} {result.target:>{width}} {limit:>9}"
        if result.runs:
            rates = [run.tokens_per_second for run in result.runs]
            peaks = [run.peak_nbytes for run in result.runs if run.peak_nbytes is not None]
            spread = f"{min(rates):.2f}–{max(rates):.2f}"
            line += (
                f" {median(rates):>8.2f} {spread:>13} {len(result.token_ids):>6}"
                f" {_agreed(first, result.token_ids):>4}"
                f" {median(run.tokens_per_pass for run in result.runs):>8.2f}"
                f" {f'{max(peaks) / 2**30:.2f}' if peaks else '–':>8}"
            )
        yield line if result.outcome == "ok" else f"{line} {result.outcome}"


def _agreed(first: Sequence[int], second: Sequence[int]) -> int:
    """Tokens before they first differ."""
    return len(list(takewhile(lambda pair: pair[0] == pair[1], zip(first, second, strict=False))))


def _contenders(target: Path, draft: Path | None, terms: Terms) -> Iterator[Contender]:
    checkpoint = open_checkpoint(target)
    files = _files(checkpoint)
    nbytes = sum(file.stat().st_size for file in files)
    if nbytes <= terms.memory:
        raise BadOption(
            f"{target.name} takes {nbytes / 2**30:.2f} GiB, and the limit holds all of it.",
            "Give a smaller --memory, or a larger target.",
        )
    limit = _ram_limit(terms, 0)
    prompt = load_tokenizer(checkpoint).encode_chat([{"role": "user", "content": terms.prompt}])
    order = {"model": str(target), "prompt": prompt, "tokens": terms.tokens}
    if target.is_dir():
        command = [sys.executable, str(FOLDER / "peer_accelerate.py")]
        stdin = json.dumps({**order, "ram_limit": limit})
        yield Contender("accelerate", target.name, limit, command, stdin, files)
    else:
        command = [terms.llama_python, str(FOLDER / "peer_llama.py")]
        stdin = json.dumps({**order, "threads": torch.get_num_threads()})
        yield Contender("llama.cpp", target.name, None, command, stdin, files, "llama_cpp")
    command = [sys.executable, "-m", "engine.cli", "chat", "--json", "--target", str(target)]
    command += ["--device", "cpu", "--dtype", "bfloat16", "--weights", terms.weights]
    command += ["--context", str(len(prompt) + terms.tokens + terms.budget)]
    command += ["--max-new-tokens", str(terms.tokens)]
    question = ["--", terms.prompt]
    plain = ["--drafter", "none", "--draft", "none", "--ram-limit", str(limit / 2**30)]
    yield Contender("plain", target.name, limit, command + plain + question, "", files)
    if draft:
        small = open_checkpoint(draft)
        limit = _ram_limit(terms, _in_memory(small, terms.weights))
        tree = ["--drafter", "specexec", "--budget", str(terms.budget), "--draft", str(draft)]
        tree += ["--ram-limit", str(limit / 2**30)]
        yield Contender("SpecExec", target.name, limit, command + tree + question, "", files | _files(small))


def _files(checkpoint: Checkpoint) -> set[Path]:
    return {span.file for weight in checkpoint.weights.values() for span in weight.spans}


def _in_memory(checkpoint: Checkpoint, weights: str) -> int:
    """Bytes of the weights, kept as stored or as bfloat16."""
    if weights == "packed":
        return sum(weight.nbytes for weight in checkpoint.weights.values())
    return sum(weight.numel for weight in checkpoint.weights.values()) * torch.bfloat16.itemsize


def _ram_limit(terms: Terms, draft_nbytes: int) -> int:
    """Bytes left for the target's weights."""
    left = terms.memory - terms.overhead - draft_nbytes
    if left <= 0:
        needed = (terms.overhead + draft_nbytes) / 2**30
        raise BadOption(
            f"{needed:.2f} GiB are taken before any of the target's weights.",
            "Give a larger --memory, or a draft that takes less (--weights packed, another --draft).",
        )
    return left


def _has(python: str, module: str) -> bool:
    return subprocess.run([python, "-c", f"import {module}"], stderr=subprocess.DEVNULL).returncode == 0


def _run(contender: Contender, memory: int, result: Result) -> None:
    """One answer, added to `result`."""
    with memory_cgroup(memory) as group:
        _leave_page_cache(contender.files)
        try:
            done = subprocess.run(
                [*group.prefix, *contender.command],
                input=contender.stdin,
                capture_output=True,
                text=True,
                timeout=TIMEOUT_S,
                cwd=FOLDER.parents[1],
                env={**os.environ, "CUDA_VISIBLE_DEVICES": ""},
            )
        except subprocess.TimeoutExpired:
            result.outcome = "too slow"
            return
        peak = group.peak_nbytes()
    if done.returncode == -signal.SIGKILL:
        result.outcome = "killed"
        return
    if done.returncode:
        result.outcome = f"failed: {(done.stderr.splitlines() or ['no word'])[-1]}"
        return
    answer = json.loads(done.stdout)
    if answer["tokens"] < 2:
        result.outcome = "failed: the answer is over after one token"
        return
    seconds = (answer["tokens"] - 1) / answer["tokens_per_second"]
    result.runs.append(Run(answer["tokens"], seconds, answer.get("tokens_per_pass", 1.0), peak))
    result.token_ids = answer["token_ids"]


def _leave_page_cache(files: set[Path]) -> None:
    for file in files:
        with file.open("rb") as opened:
            os.fsync(opened)  # pages that are not written yet would stay
            os.posix_fadvise(opened.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
