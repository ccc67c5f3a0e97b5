"""`python -m tests.remote.vllm`: the emitted commands of vLLM, run on this machine's processor.

Sets vLLM up in an environment of its own, exports models to folders, serves them by what `specexec plan
--emit vllm` prints. Asks over HTTP, by `RemoteConnection` and by `specexec chat --engine`, and where it
speculates from a window, of which it keeps a picture; prints a table. It needs Linux, 5 GB of disk, 8 GB of
RAM, a registry of Python packages, and the models SmolLM2 and, for the draft model, Qwen2.5-Coder 1.5B and
0.5B as GGUF files among the installed ones.
"""

import argparse
import json
import os
import subprocess
import sys
import time
import urllib.request
from dataclasses import dataclass
from pathlib import Path

import platformdirs

from engine import protocol
from engine.cli.elsewhere import RemoteService
from engine.remote import engines
from engine.remote.connection import RemoteConnection
from engine.remote.engines import AddedEngine
from tests.remote import vllm_environment
from tests.remote.vllm_server import Drafted, counters, emitted, free_port, served

TOKENS = 64
QUESTIONS = {
    "smollm2": "Write the numbers from 1 to 40, separated by commas.",
    "coder": "Write a Python function that returns the n-th Fibonacci number, with a docstring.",
}


@dataclass(frozen=True, slots=True)
class Case:
    """One server. `what`, in words; `target`; `arguments`, of `specexec plan --emit vllm`."""

    what: str
    target: str
    arguments: tuple[str, ...]
    draft: str = ""


# Not two stages with n-grams: the runner that vLLM 0.32 has for machines without Triton ends at start with
# “'CPUModelRunner' object has no attribute 'drafter'”: it makes one in the last stage, and asks in each.
CASES = (
    Case("alone", "smollm2", ("--gpus", "1x8", "--speculation", "none")),
    Case("n-grams", "smollm2", ("--gpus", "1x8", "--speculation", "ngram")),
    Case("two stages", "smollm2", ("--gpus", "2x8", "--pipeline-parallel", "2", "--speculation", "none")),
    Case("alone", "coder", ("--gpus", "1x16", "--speculation", "none")),
    Case("draft model", "coder", ("--gpus", "1x16", "--draft", "coder-draft"), "coder-draft"),
)


@dataclass(frozen=True, slots=True)
class Row:
    """What one question brought. `seconds`: of the whole request; `ready_s`: of the server's start."""

    case: Case
    by: str
    tokens: int
    seconds: float
    drafted: Drafted
    ready_s: float


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.remote.vllm", description=__doc__)
    usual = platformdirs.user_cache_path("specexec-desktop", appauthor=False) / "vllm"
    parser.add_argument("--folder", type=Path, default=usual, help=f"for all it makes (default: {usual})")
    parser.add_argument("--only", choices=list(QUESTIONS), help="only this target (default: all)")
    parser.add_argument("--what", help="only the case of this name (default: all)")
    given = parser.parse_args()
    folder = given.folder.absolute()
    folder.mkdir(parents=True, exist_ok=True)
    os.environ["XDG_CONFIG_HOME"] = str(folder / "config")  # engines added here are not the user's
    programs = vllm_environment.set_up(folder / "environment")
    rows: list[Row] = []
    for case in CASES:
        if given.only in (None, case.target) and given.what in (None, case.what):
            rows += run(case, folder, programs)
            print("\n".join(map(line, rows[-3:])), flush=True)
    for case in dict.fromkeys(row.case for row in rows):
        print(f"{case.target}, {case.what}: {' '.join(case.arguments)}")
    print("\n".join(table(rows)))
    return 0


def run(case: Case, folder: Path, programs: Path) -> list[Row]:
    """Serve one case, and ask in three ways."""
    port = free_port()
    arguments = ["--target", case.target, "--checkpoint", str(exported(case.target, folder))]
    if case.draft:
        arguments += ["--draft-checkpoint", str(exported(case.draft, folder))]
    arguments += [*case.arguments, "--context", "1024", "--port", str(port)]
    log = folder / f"{case.target}-{case.what.replace(' ', '-')}.log"
    rows = []
    text = emitted(arguments).rstrip()
    if "--pipeline-parallel" not in case.arguments:
        # Compiling takes minutes here. The second stage needs it: without the warm-up that goes with it, vLLM
        # 0.32 has no buffers there for what the first stage sends.
        text += " --enforce-eager"
    with served(f"{text}\n", programs, port, log) as ready_s:
        engines.add(AddedEngine(_name(port), f"http://127.0.0.1:{port}/v1"), "")
        for by, ask in (("HTTP", by_http), ("RemoteConnection", by_connection), ("chat --engine", by_chat)):
            before, start = counters(port), time.monotonic()
            tokens = ask(case.target, port, folder)
            seconds = time.monotonic() - start
            rows.append(Row(case, by, tokens, seconds, counters(port).since(before), ready_s))
        if rows[0].drafted.drafts:
            by_window(port, folder, f"{case.target}-{case.what.replace(' ', '-')}")
        engines.remove(_name(port))
    return rows


def exported(model: str, folder: Path) -> Path:
    """Return the folder of the model as bfloat16 safetensors, exported if it is missing."""
    place = folder / "models" / model
    if not (place / "config.json").exists():
        place.parent.mkdir(exist_ok=True)
        subprocess.run([sys.executable, "-m", "engine.cli", "export", model, str(place)], check=True)
    return place


def by_http(target: str, port: int, folder: Path) -> int:
    body = {
        "model": target,
        "messages": [{"role": "user", "content": QUESTIONS[target]}],
        "max_tokens": TOKENS,
        "temperature": 0,
    }
    request = urllib.request.Request(
        f"http://127.0.0.1:{port}/v1/chat/completions",
        json.dumps(body).encode(),
        {"Content-Type": "application/json"},
    )
    with urllib.request.urlopen(request, timeout=300) as reply:
        answer = json.load(reply)
    assert answer["choices"][0]["message"]["content"].strip()
    tokens: int = answer["usage"]["completion_tokens"]
    return tokens


def by_connection(target: str, port: int, folder: Path) -> int:
    connection = RemoteConnection(engines.find(_name(port)))
    try:
        elsewhere = RemoteService(connection)
        elsewhere.load(protocol.Load(id=0, target=target), lambda event: None, lambda: False)
        question = protocol.Message("user", QUESTIONS[target])
        options = protocol.Options(max_new_tokens=TOKENS, temperature=0.0)
        chat = protocol.Chat(id=0, messages=[question], options=options)
        answer = elsewhere.answer(chat, lambda event: None, lambda: False)
    finally:
        connection.close()
    assert answer.text.strip()
    return answer.tokens


def by_chat(target: str, port: int, folder: Path) -> int:
    """Ask by the command line."""
    asking = [sys.executable, "-m", "engine.cli", "chat", "--engine", _name(port), "--target", target]
    asking += ["--max-new-tokens", str(TOKENS), "--temperature", "0", "--json", QUESTIONS[target]]
    answer = subprocess.run(asking, check=True, stdout=subprocess.PIPE, text=True).stdout
    tokens: int = json.loads(answer.splitlines()[-1])["tokens"]
    return tokens


def by_window(port: int, folder: Path, name: str) -> None:
    """Ask from a window, which must show what the server tells of its speculation; keep a picture of it."""
    platform = {} if os.environ.get("DISPLAY") else {"QT_QPA_PLATFORM": "offscreen"}
    place = {"SPECEXEC_ENGINE": f"http://127.0.0.1:{port}/v1", "SPECEXEC_PICTURES": str(folder)}
    asking = [sys.executable, "-m", "pytest", "-q", "tests/remote/test_window.py"]
    subprocess.run(asking, check=True, env={**os.environ, **platform, **place})
    (folder / "elsewhere.png").replace(folder / f"{name}.png")


def _name(port: int) -> str:
    return f"vllm-{port}"


def table(rows: list[Row]) -> list[str]:
    """Return the table as Markdown."""
    return [
        "| target | what | asked by | tokens | s | drafts | drafted | accepted | at each place | ready, s |",
        "|---|---|---|---|---|---|---|---|---|---|",
        *map(line, rows),
    ]


def line(row: Row) -> str:
    case, drafted = row.case, row.drafted
    positions = ", ".join(map(str, drafted.by_position)) or "–"
    counts = f"{drafted.drafts} | {drafted.drafted} | {drafted.accepted}" if drafted.drafts else "– | – | –"
    return (
        f"| {case.target} | {case.what} | {row.by} | {row.tokens} | {row.seconds:.1f} | {counts} "
        f"| {positions} | {row.ready_s:.0f} |"
    )


if __name__ == "__main__":
    sys.exit(main())
