"""Command lines interrupted or killed: a status that is right, no traceback, no process left over."""

import os
import secrets
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

from tests.campaign.attack import SURVIVED, Outcome, Try, Verdict
from tests.campaign.processes import MARK, QUESTION, ROOT, command, left_behind

FIXED = 3
LIMIT_S = 150.0
ENDING_S = 20.0
STARTED_S = 0.1
STATUS = {
    signal.SIGINT: {0, 1},
    signal.SIGTERM: {0, 128 + signal.SIGTERM, -signal.SIGTERM},
    signal.SIGKILL: {0, -signal.SIGKILL},
}
COMMANDS = (
    ("chat", QUESTION, "--max-new-tokens", "40"),
    ("chat", "Write a long story.", "--max-new-tokens", "200", "--ram-limit", "0.05", "--json"),
    ("bench", "drafters", "--drafters", "none,recycling", "--kinds", "explaining", "--per-kind", "1"),
    ("doctor",),
)  # fmt: skip


@contextmanager
def prepared(folder: Path) -> Iterator[Try]:
    def once(random: Random) -> Outcome:
        with TemporaryDirectory(dir=folder) as temporary:
            return kill(Path(temporary), random)

    yield once


def kill(temporary: Path, random: Random) -> Outcome:
    words = random.choice(COMMANDS)
    number = random.choice(list(STATUS))
    mark = secrets.token_hex(8)
    process = subprocess.Popen(
        command(*words),
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=ROOT,
        env={**os.environ, MARK: mark, "TMPDIR": str(temporary)}, start_new_session=True,
    )  # fmt: skip
    try:
        process.wait(random.uniform(STARTED_S, 4.0))
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, number)
    what = f"{words[0]} {number.name}: "
    try:
        _, errors = process.communicate(timeout=ENDING_S)
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()
        return Outcome(Verdict.RAW, f"{what}still running {ENDING_S:.0f} s later {left_behind(mark)}")
    if left := left_behind(mark):
        return Outcome(Verdict.RAW, f"{what}left over: {left}")
    if process.returncode == -signal.SIGINT and str(ROOT / "engine") not in errors.decode():
        return SURVIVED  # Python was still starting
    if process.returncode not in STATUS[number]:
        return Outcome(Verdict.RAW, f"{what}status {process.returncode}: {errors.decode()[-200:]}")
    if b"Traceback" in errors:
        return Outcome(Verdict.RAW, f"{what}{' '.join(errors.decode().split())[-250:]}")
    if number != signal.SIGKILL and (files := list(temporary.iterdir())):
        return Outcome(Verdict.RAW, f"{what}left over: {files}")
    return SURVIVED
