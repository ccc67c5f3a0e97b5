"""Runs attacks in worker processes, so that a crash or a hang costs one try, and counts how tries end."""

import json
import os
import queue
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from tests.campaign.attack import Attack, Outcome, Verdict

ROOT = Path(__file__).parents[2]
START_LIMIT_S = 120.0  # for a worker's imports and preparations
SHOWN_ERRORS = 2000  # characters


@dataclass
class Tally:
    """The tries of one attack. `harmful`: number and outcome of those that were raw or lost; `unavailable`:
    why the attack did not run, or ""."""

    attack: Attack
    counts: Counter[Verdict] = field(default_factory=Counter)
    harmful: list[tuple[int, Outcome]] = field(default_factory=list)
    seconds: float = 0.0
    unavailable: str = ""

    @property
    def tries(self) -> int:
        return self.counts.total()

    def add(self, number: int, outcome: Outcome) -> None:
        self.counts[outcome.verdict] += 1
        if outcome.verdict.harmful:
            self.harmful.append((number, outcome))


def run(
    attack: Attack,
    seed: str,
    *,
    first: int = 0,
    tries: int = 0,
    seconds: float = 0.0,
    say: Callable[[str], None] = lambda _: None,
) -> Tally:
    """Run `tries` tries (0: as many as begin within `seconds`). `say` is told of each harmful one."""
    tally = Tally(attack)
    began = time.monotonic()
    number = first
    while not tally.unavailable:
        count = tries - (number - first) if tries else 0
        left = seconds - (time.monotonic() - began) if seconds else 0.0
        if (tries and count <= 0) or (seconds and left <= 0):
            break
        with _worker(attack, seed, number, count, left) as lines:
            number = _follow(lines, tally, number, say)
    tally.seconds = time.monotonic() - began
    return tally


def table(tallies: Sequence[Tally]) -> Iterator[str]:
    width = max(len(each.attack.name) for each in tallies)
    yield f"{'attack':{width}} {'tries':>7} " + " ".join(f"{each:>8}" for each in Verdict) + "  seconds"
    for each in tallies:
        if each.unavailable:
            yield f"{each.attack.name:{width}} not run: {each.unavailable}"
            continue
        counts = " ".join(f"{each.counts[verdict]:>8}" for verdict in Verdict)
        yield f"{each.attack.name:{width}} {each.tries:>7} {counts} {each.seconds:>8.0f}"
    total = sum((each.counts for each in tallies), Counter[Verdict]())
    counts = " ".join(f"{total[verdict]:>8}" for verdict in Verdict)
    yield f"{'all':{width}} {total.total():>7} {counts} {sum(each.seconds for each in tallies):>8.0f}"


@dataclass(frozen=True)
class _Lines:
    """The lines of a worker, and its process."""

    process: subprocess.Popen[bytes]
    queue: "queue.Queue[str | None]"
    errors: list[str]


def _follow(lines: _Lines, tally: Tally, number: int, say: Callable[[str], None]) -> int:
    """Count the tries of one worker until it ends. Return the number of the try to go on with."""
    running: int | None = None

    def end(outcome: Outcome) -> None:
        tally.add(number, outcome)
        if outcome.verdict.harmful:
            say(f"{tally.attack.name} {number}: {outcome.verdict}: {outcome.what}")

    while True:
        limit_s = START_LIMIT_S if running is None else tally.attack.limit_s
        try:
            line = lines.queue.get(timeout=limit_s)
        except queue.Empty:
            end(Outcome(Verdict.RAW, f"no end within {limit_s:.0f} s"))
            return number + 1
        if line is None:  # the worker has ended
            status = lines.process.wait()
            if running is None and status == 0:
                return number
            last = " ".join("".join(lines.errors)[-SHOWN_ERRORS:].split())
            end(Outcome(Verdict.RAW, f"the process ended with status {status}: {last[-300:]}"))
            return number + 1
        said = json.loads(line)
        if "unavailable" in said:
            tally.unavailable = said["unavailable"]
        elif "verdict" in said:
            end(Outcome(Verdict(said["verdict"]), said["what"]))
            running, number = None, number + 1
        else:
            running = number = said["number"]


@contextmanager
def _worker(attack: Attack, seed: str, first: int, count: int, seconds: float) -> Iterator[_Lines]:
    words = [attack.name, seed, str(first), str(count), str(seconds)]
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.campaign.worker", *words],
        cwd=ROOT,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    lines = _Lines(process, queue.Queue(), [])
    readers = [threading.Thread(target=each, args=(lines,)) for each in (_read, _collect)]
    for reader in readers:
        reader.start()
    try:
        yield lines
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        for reader in readers:
            reader.join()
        for pipe in (process.stdout, process.stderr):
            if pipe:
                pipe.close()


def _read(lines: _Lines) -> None:
    assert lines.process.stdout
    for line in lines.process.stdout:
        if line.startswith(b"{"):  # libraries may print, too
            lines.queue.put(line.decode())
    lines.queue.put(None)


def _collect(lines: _Lines) -> None:
    assert lines.process.stderr
    for line in lines.process.stderr:
        lines.errors.append(line.decode(errors="replace"))
        del lines.errors[:-200]
