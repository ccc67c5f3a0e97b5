"""Chats in little memory: each answers, or says truly how much is missing.

A control group leaves the command line 0.3 to 2 GiB. What it says is missing is added once: then it answers.
"""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random

from engine.bench.memory_cgroup import memory_cgroup
from engine.errors import BadOption
from tests.campaign.attack import Outcome, Try, Unavailable, Verdict
from tests.campaign.processes import ask

FIXED = 2
LIMIT_S = 480.0
LIMITS = (None, None, 0.1, 0.5, 8)


@contextmanager
def prepared(folder: Path) -> Iterator[Try]:
    try:
        with memory_cgroup(1 << 30):
            pass
    except BadOption as error:
        raise Unavailable(error.message) from error

    def once(random: Random) -> Outcome:
        gib = random.choice((0.3, 0.5, 0.8, 1.2, 2, random.uniform(0.3, 1.0)))
        limit = random.choice(LIMITS)
        options = [] if limit is None else ["--ram-limit", str(limit)]
        if random.random() < 0.3:
            options += ["--context", str(random.choice((256, 2048, 8192)))]
        outcome, message = within(gib, options)
        gap = re.search(r"([0-9.]+) GiB more of RAM", message)
        if gap is None:
            return outcome
        after, _ = within(gib + float(gap[1]), options)
        if after.verdict is Verdict.SURVIVED:
            return outcome
        return Outcome(Verdict.RAW, f"{gib:.3f} GiB {options}: {message} With that: {after.what}")

    yield once


def within(gib: float, options: list[str]) -> tuple[Outcome, str]:
    with memory_cgroup(int(gib * 2**30)) as group:
        return ask(group.prefix, None, *options)
