"""`specexec bench peers`: compares this engine with accelerate and llama.cpp on the same prompt. Each answer
comes from a process of its own; all have the same memory limit, which is smaller than the target.

Every contender starts with none of the model's bytes in the page cache, decodes greedily, and prints fields
of `specexec chat --json`. Contenders take turns, because a disk's speed changes from minute to minute.
"""

import argparse
import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from itertools import takewhile
from pathlib import Path
from statistics import median

from engine import catalog
from engine.bench import in_ram
from engine.bench.memory_cgroup import memory_cgroup
from engine.bench.options import (
    PROMPT,
    Prompt,
    add_prompt_options,
    add_repeats_option,
    prompts_of,
    say,
)
from engine.checkpoints import Checkpoint, open_checkpoint
from engine.errors import BadOption
from engine.terminal import Commands, add_command

FOLDER = Path(__file__).parent
PEER_PROGRAM = FOLDER / "peer_answer.py"
TIMEOUT_S = 600

DETAILS = """\
Prints tokens per second of accelerate's disk offload (for folders of safetensors), of llama.cpp with mmap
(for GGUF files) and of this engine, plain and with SpecExec, each in a memory control group of the same size.
Linux only.

With --in-ram: tokens per second, load time, time to the first token of a prompt of a thousand tokens, and
peak memory of targets that fit into RAM; llama.cpp runs by xllamacpp (`pip install specexec-desktop[peers]`)
or llama-cpp-python, transformers on folders.

llama.cpp runs if llama-cpp-python is installed, in any Python, or the bindings of its server (xllamacpp):

  python3 -m venv peers && CMAKE_ARGS=-DGGML_NATIVE=ON peers/bin/pip install llama-cpp-python
  specexec bench peers model.gguf --memory 1.5 --draft coder-draft --llama-python peers/bin/python"""


def add(kinds: Commands) -> None:
    parser = add_command(
        kinds, "peers", run, "compare with accelerate and llama.cpp under the same memory limit", DETAILS
    )
    parser.add_argument(
        "targets",
        nargs="+",
        metavar="ID|PATH",
        help="target models: IDs of catalogue models, GGUF files or folders of safetensors",
    )
    where = parser.add_mutually_exclusive_group(required=True)
    where.add_argument(
        "--memory",
        type=float,
        metavar="GiB",
        help="memory limit of each program, cached pages of files included, in GiB; smaller than the targets "
        "(default: none; either this or --in-ram is required)",
    )
    where.add_argument(
        "--in-ram",
        action="store_true",
        help="set no limit: compare speed, load time, first token and peak memory of targets that fit in RAM",
    )
    parser.add_argument(
        "--draft", metavar="ID|PATH", help="draft model for SpecExec (default: SpecExec is not measured)"
    )
    parser.add_argument(
        "--overhead",
        type=float,
        default=0.7,
        metavar="GiB",
        help="share of --memory that the interpreter, torch and workspaces take, in GiB; what this and the "
        "draft leave becomes the engine's --ram-limit (default: %(default)s)",
    )
    parser.add_argument(
        "--budget",
        type=int,
        default=64,
        metavar="N",
        help="maximum number of nodes of a tree (default: %(default)s)",
    )
    parser.add_argument(
        "--prompt",
        metavar="TEXT",
        default=PROMPT,
        help="question to answer (default: one about hash tables)",
    )
    add_prompt_options(parser, 48, "the one of --prompt; a file needs --in-ram")
    add_repeats_option(parser, 3, "number of answers by each program to each prompt")
    parser.add_argument(
        "--llama-python",
        default=sys.executable,
        metavar="PATH",
        help="Python interpreter that has llama-cpp-python (default: the one that runs this command)",
    )


def run(parsed: argparse.Namespace) -> int:
    if parsed.in_ram:
        return _in_ram(parsed)
    if not parsed.memory > 0 or not parsed.overhead >= 0:
        raise BadOption("--memory and --overhead must be sizes in GiB.", "Example: --memory 2.5.")
    if _chooses_prompts(parsed):
        raise BadOption(
            "--prompts, --kinds and --per-kind are for models that fit in RAM.",
            "Add --in-ram, or name one --prompt.",
        )
    if parsed.tokens < 2 or min(parsed.budget, parsed.repeats) < 1:
        raise BadOption(
            "--budget and --repeats must be at least 1, --tokens at least 2.",
            "Omit them to use the defaults.",
        )
    terms = PeerTerms(
        int(parsed.memory * 2**30),
        int(parsed.overhead * 2**30),
        parsed.budget,
        parsed.prompt,
        parsed.tokens,
        parsed.repeats,
        _python(parsed.llama_python),
    )
    targets = [catalog.resolve(target).resolve() for target in parsed.targets]
    draft = catalog.resolve(parsed.draft).resolve() if parsed.draft else None
    results = measure(targets, draft, terms, say)
    if parsed.json:
        print(json.dumps({"results": [asdict(result) for result in results]}))
    else:
        print("\n".join(table(results)))
    return 0


def _in_ram(parsed: argparse.Namespace) -> int:
    if parsed.tokens < 2 or parsed.repeats < 1:
        raise BadOption(
            "--repeats must be at least 1, --tokens at least 2.", "Omit them to use the defaults."
        )
    terms = in_ram.InRamTerms(
        parsed.draft or "auto",
        tuple(_questions(parsed)),
        parsed.tokens,
        parsed.repeats,
        _python(parsed.llama_python),
    )
    results = in_ram.measure(parsed.targets, terms, say)
    if parsed.json:
        print(in_ram.as_json(results))
        return 0
    print("\n".join(in_ram.table(results)))
    if len(terms.questions) > 1:
        print("\n".join(in_ram.kinds_table(results)))
    return 0


def _questions(parsed: argparse.Namespace) -> list[Prompt]:
    if _chooses_prompts(parsed):
        return prompts_of(parsed)
    return [in_ram.QUESTION if parsed.prompt == PROMPT else Prompt("prompt", "", parsed.prompt)]


def _chooses_prompts(parsed: argparse.Namespace) -> bool:
    return bool(parsed.prompts or parsed.kinds or parsed.per_kind is not None)


def _python(program: str) -> str:
    """Return the path of a Python interpreter. Raises BadOption if there is none."""
    found = shutil.which(program)
    if found is None:
        raise BadOption(
            f"{program} is not a program.", "Give --llama-python the path of a Python interpreter."
        )
    return str(Path(found).absolute())  # a virtual environment's link must not be followed


@dataclass(frozen=True, slots=True)
class PeerTerms:
    """The conditions that are equal for all contenders.

    `memory`: the memory limit in bytes. `overhead`: the part of it, in bytes, that the interpreter, libraries
    and workspaces take when torch runs; the rest is available for weights. `budget`: maximum number of nodes
    of a tree. `tokens`: maximum number of tokens of an answer. `llama_python`: a Python interpreter that may
    have llama-cpp-python.
    """

    memory: int
    overhead: int
    budget: int
    prompt: str
    tokens: int
    repeats: int
    llama_python: str


@dataclass(frozen=True, slots=True)
class Contender:
    """A program that answers with one target.

    `ram_limit_nbytes`: how many bytes of weights it may keep in RAM; None if it takes no such limit.
    `command`: the words that start it. `stdin`: the text of its standard input. `files`: the files that it
    reads weights from. `needs`: a module that its interpreter, the first word of `command`, may lack.
    """

    name: str
    target: str
    ram_limit_nbytes: int | None
    command: list[str]
    stdin: str
    files: set[Path]
    needs: str | None = None


@dataclass(frozen=True, slots=True)
class PeerAnswer:
    """The figures of one answer.

    `seconds`: from its first token to its last. `peak_nbytes`: peak memory of the control group, including
    cached pages of files; None if it cannot be read.
    """

    tokens: int
    seconds: float
    tokens_per_pass: float
    peak_nbytes: int | None

    @property
    def tokens_per_second(self) -> float:
        return (self.tokens - 1) / self.seconds


@dataclass(slots=True)
class Result:
    """The answers of one contender.

    `ram_limit`: in bytes. `outcome`: "ok", "not installed", "killed" (by the memory limit), "too slow" or
    "failed: …"; a contender whose outcome is not "ok" does not run again. `runs`: one entry per answer.
    `token_ids`: the tokens of the last answer.
    """

    name: str
    target: str
    ram_limit: int | None
    outcome: str = "ok"
    runs: list[PeerAnswer] = field(default_factory=list)
    token_ids: list[int] = field(default_factory=list)


def measure(
    targets: Sequence[Path], draft: Path | None, terms: PeerTerms, say: Callable[[str], None]
) -> list[Result]:
    """Let all contenders answer `terms.repeats` times, in turns.

    targets: folders of safetensors, which accelerate runs too, and GGUF files, which llama.cpp runs too.
    draft: the draft for SpecExec; None: SpecExec is not measured. Raises BadOption if a whole target fits the
    memory limit, if the overhead and the draft leave nothing of the limit for the target, or if no limit can
    be set on this machine; and the errors from opening checkpoints.
    """
    contenders = [each for target in targets for each in _contenders(target, draft, terms)]
    results = [Result(each.name, each.target, each.ram_limit_nbytes) for each in contenders]
    for each, result in zip(contenders, results, strict=True):
        if each.needs and not in_ram.has_module(each.command[0], each.needs):
            result.outcome = "not installed"
    for turn in range(terms.repeats):
        for each, result in zip(contenders, results, strict=True):
            if result.outcome == "ok":
                say(f"{each.name}, {each.target}, {turn + 1} of {terms.repeats}")
                _run(each, terms.memory, result)
    return results


def table(results: Sequence[Result]) -> Iterator[str]:
    """Yield the lines to print. The column “same” is the number of tokens before the first difference from
    the first answer in the table."""
    width = max(len(result.target) for result in results)
    yield (
        f"{'program':>16} {'target':>{width}} {'RAM limit':>9} {'tokens/s':>8} {'spread':>13} {'tokens':>6} "
        f"{'same':>4} {'per pass':>8} {'peak GiB':>8}"
    )
    first = next((result.token_ids for result in results if result.runs), [])
    for result in results:
        limit = "–" if result.ram_limit is None else f"{result.ram_limit / 2**30:.2f}"
        line = f"{result.name:>16} {result.target:>{width}} {limit:>9}"
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
    """Return the number of equal tokens before the first difference."""
    return len(list(takewhile(lambda pair: pair[0] == pair[1], zip(first, second, strict=False))))


def _contenders(target: Path, draft: Path | None, terms: PeerTerms) -> Iterator[Contender]:
    import torch

    from engine.tokenizer import load_tokenizer

    checkpoint = open_checkpoint(target)
    files = _files(checkpoint)
    nbytes = sum(file.stat().st_size for file in files)
    if nbytes <= terms.memory:
        raise BadOption(
            f"The memory limit holds all {nbytes / 2**30:.2f} GiB of {target.name}.",
            "Give a smaller --memory, or a larger target.",
        )
    limit_nbytes = _ram_limit_nbytes(terms, 0)
    prompt = load_tokenizer(checkpoint).encode_chat([{"role": "user", "content": terms.prompt}])
    order = {"model": str(target), "prompt": prompt, "tokens": terms.tokens}
    if target.is_dir():
        command = [sys.executable, str(PEER_PROGRAM), "accelerate"]
        stdin = json.dumps({**order, "ram_limit": limit_nbytes})
        yield Contender("accelerate", target.name, limit_nbytes, command, stdin, files)
    else:
        stdin = json.dumps({**order, "threads": torch.get_num_threads()})
        for name, needs in (("llama.cpp", "llama_cpp"), ("llama.cpp-server", "xllamacpp")):
            command = [terms.llama_python, str(PEER_PROGRAM), name]
            yield Contender(name, target.name, None, command, stdin, files, needs)
    command = [sys.executable, "-m", "engine.cli", "chat", "--json", "--target", str(target)]
    command += ["--device", "cpu", "--context", str(len(prompt) + terms.tokens + terms.budget)]
    command += ["--max-new-tokens", str(terms.tokens)]
    question = ["--", terms.prompt]
    plain = ["--drafter", "none", "--draft", "none", "--ram-limit", str(limit_nbytes / 2**30)]
    yield Contender("plain", target.name, limit_nbytes, command + plain + question, "", files)
    if draft:
        small = open_checkpoint(draft)
        draft_nbytes = sum(weight.nbytes for weight in small.weights.values())
        limit_nbytes = _ram_limit_nbytes(terms, draft_nbytes)
        tree = ["--drafter", "specexec", "--budget", str(terms.budget), "--draft", str(draft)]
        tree += ["--ram-limit", str(limit_nbytes / 2**30)]
        yield Contender(
            "SpecExec", target.name, limit_nbytes, command + tree + question, "", files | _files(small)
        )


def _files(checkpoint: Checkpoint) -> set[Path]:
    return {span.file for weight in checkpoint.weights.values() for span in weight.spans}


def _ram_limit_nbytes(terms: PeerTerms, draft_nbytes: int) -> int:
    """Return how many bytes of the limit are left for the target's weights. Raises BadOption if there are
    none."""
    left = terms.memory - terms.overhead - draft_nbytes
    if left <= 0:
        needed = (terms.overhead + draft_nbytes) / 2**30
        raise BadOption(
            f"The overhead and the draft take {needed:.2f} GiB, which leaves nothing for the target.",
            "Give a larger --memory, or a smaller --draft.",
        )
    return left


def _run(contender: Contender, memory: int, result: Result) -> None:
    """Let `contender` answer once and add the answer to `result`."""
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
        result.outcome = f"failed: {(done.stderr.splitlines() or ['no message'])[-1]}"
        return
    answer = json.loads(done.stdout)
    if answer["tokens"] < 2:
        result.outcome = "failed: the answer has only one token"
        return
    seconds = (answer["tokens"] - 1) / answer["tokens_per_second"]
    result.runs.append(PeerAnswer(answer["tokens"], seconds, answer.get("tokens_per_pass", 1.0), peak))
    result.token_ids = answer["token_ids"]


def _leave_page_cache(files: set[Path]) -> None:
    """Drop all pages of `files` from the page cache."""
    for file in files:
        with file.open("rb") as opened:
            os.fsync(opened)  # pages that are not yet written would stay in the cache
            os.posix_fadvise(opened.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
