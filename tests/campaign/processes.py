"""Processes of a try: what they leave behind, and how a question on the command line ended."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

import psutil

from engine.errors import SpecExecError
from tests.campaign.attack import SURVIVED, Outcome, Verdict, judged_error

ROOT = Path(__file__).parents[2]
MARK = "CAMPAIGN_TRY"  # environment variable that all processes of a try inherit
ENDING_S = 8.0  # for processes that end because the first one did
QUESTION, WORD = "What is the capital of Japan?", "Tokyo"


def left_behind(mark: str) -> list[str]:
    """Wait for the processes of a try to end. Kill those that do not, and return their command lines."""
    end = time.monotonic() + ENDING_S
    while (found := _marked(mark)) and time.monotonic() < end:
        time.sleep(0.05)
    left = []
    for process in found:
        with suppress(psutil.Error):
            left.append(" ".join(process.cmdline()))
            process.kill()
    return left


def _marked(mark: str) -> list[psutil.Process]:
    found = []
    for process in psutil.process_iter():
        with suppress(psutil.Error):
            running = process.status() != psutil.STATUS_ZOMBIE and process.pid != os.getpid()
            if running and process.environ().get(MARK) == mark:
                found.append(process)
    return found


def command(*words: str) -> list[str]:
    return [sys.executable, "-m", "engine.cli", *words]


def ask(
    prefix: Sequence[str], environment: Mapping[str, str] | None = None, *options: str, limit_s: float = 220.0
) -> tuple[Outcome, str]:
    """Ask the demonstration model on the command line. Return how that ended, and the message of the error.

    prefix: words before the command, which restrict it."""
    asked = command("chat", QUESTION, "--max-new-tokens", "8", "--json", *options)
    done = subprocess.run(
        [*prefix, *asked],
        capture_output=True, text=True, cwd=ROOT, timeout=limit_s, env={**os.environ, **(environment or {})},
    )  # fmt: skip
    return judged_answer(done.returncode, done.stdout, done.stderr)


def judged_answer(status: int, out: str, err: str) -> tuple[Outcome, str]:
    """Judge a command that prints one JSON object: an answer, or an error and status 1."""
    try:
        said = json.loads(out)
    except ValueError:
        return Outcome(Verdict.RAW, f"status {status} without a result: {' '.join(err.split())[-250:]}"), ""
    if "Traceback" in err:
        return Outcome(Verdict.RAW, f"a traceback: {' '.join(err.split())[-250:]}"), ""
    if status == 0 and "error" not in said:
        right = WORD in said["text"]
        return (SURVIVED if right else Outcome(Verdict.LOST, f"answered {said['text']!r}")), ""
    if status == 1 and "error" in said:
        error = SpecExecError(said["error"]["message"], said["error"]["hint"])
        error.kind = said["error"]["kind"]
        return judged_error(error), error.message
    return Outcome(Verdict.RAW, f"status {status} with {out[:200]}"), ""
