"""Runs the tries of one attack in a process of its own; prints a line of JSON when each begins and ends.

`python -m tests.campaign.worker NAME SEED FIRST COUNT SECONDS`: tries FIRST, FIRST + 1, …; at most
COUNT (0: any number), begun within SECONDS (0: no limit). Linux only.
"""

import json
import signal
import sys
import tempfile
import time
from pathlib import Path
from random import Random

from tests.campaign.attack import Outcome, Unavailable, Verdict, judged, load

MEMORY_LIMIT = 1 << 30  # bytes that one try may take


def main(name: str, seed: str, first: int, count: int, seconds: float) -> None:
    signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored, and inherited so, in the background
    attack = load(name)
    try:
        with (
            tempfile.TemporaryDirectory(prefix=f"campaign-{name}-") as folder,
            attack.prepared(Path(folder)) as once,
        ):
            end = time.monotonic() + seconds
            number = first
            while (not count or number < first + count) and (not seconds or time.monotonic() < end):
                _say(number=number)
                before = _memory_nbytes()
                outcome = judged(once, random_of(seed, name, number))
                taken = _peak_nbytes() - before
                if taken > MEMORY_LIMIT:
                    outcome = Outcome(Verdict.RAW, f"took {taken >> 20} MiB; {outcome.what}")
                _say(number=number, verdict=outcome.verdict, what=outcome.what)
                number += 1
    except Unavailable as reason:
        _say(unavailable=str(reason))


def random_of(seed: str, name: str, number: int) -> Random:
    """Return the source of randomness of one try: the same for the same seed, name and number."""
    return Random(f"{seed}/{name}/{number}")


def _memory_nbytes() -> int:
    """Return the memory in use, from which on the peak is counted anew."""
    Path("/proc/self/clear_refs").write_text("5")
    return _status_nbytes("VmRSS")


def _peak_nbytes() -> int:
    return _status_nbytes("VmHWM")


def _status_nbytes(name: str) -> int:
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith(f"{name}:"))


def _say(**line: object) -> None:
    sys.__stdout__.write(json.dumps(line) + "\n")  # type: ignore[union-attr]
    sys.__stdout__.flush()  # type: ignore[union-attr]


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4]), float(sys.argv[5]))
