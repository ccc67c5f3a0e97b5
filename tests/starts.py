"""Starts the engine process many times beside busy programs, and says how many starts failed.

    python -m tests.starts [--count 300] [--busy 4]

Each start is that of the window: `EngineConnection.start`, then its events until the engine is ready; a start
that fails is tried once more, which counts as retried. A busy program computes, and writes and reads a file.
The exit status is 1 if any start failed twice, else 0.
"""

import argparse
import contextlib
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from engine.errors import EngineGone
from engine.protocol.connection import EngineConnection
from engine.protocol.messages import EngineLost, Ready

SAY_EVERY = 25  # starts
BUSY = """
import hashlib, os, tempfile
parent = os.getppid()
with tempfile.TemporaryFile() as file:
    while os.getppid() == parent:
        block = os.urandom(1 << 20)
        for _ in range(64):
            block = hashlib.sha512(block).digest() * (1 << 14)
        file.seek(0)
        file.write(block)
        file.flush()
        os.fsync(file.fileno())
        file.seek(0)
        file.read()
"""


@dataclass(slots=True)
class Starts:
    """What many starts came to.

    Attributes:
        seconds: the time from each start until the engine was ready, without those that failed.
        ends: the time from each request to end until the process had ended.
        failures: the message of each start that failed, in order; one that was retried has one message, one
            that failed twice has two.
        retried, failed: the number of starts that succeeded the second time, and of those that did not.
    """

    seconds: list[float] = field(default_factory=list)
    ends: list[float] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)
    retried: int = 0
    failed: int = 0

    @property
    def count(self) -> int:
        return len(self.seconds) + self.failed

    def once(self) -> None:
        """Start an engine, once more if that fails, and end it."""
        for is_second in (False, True):
            began = time.monotonic()
            try:
                asked = self._start(began)
            except EngineGone as error:
                self.failures.append(error.message)
                continue
            self.retried += is_second
            self.ends.append(time.monotonic() - asked)
            return
        self.failed += 1

    def _start(self, began: float) -> float:
        """Return when the engine that has started, and ended again, was asked to end."""
        connection = EngineConnection.start()
        asked = 0.0
        for event in connection.events():
            if isinstance(event, EngineLost):
                raise EngineGone(f"{event.message} Exit status {event.exit_code}.", event.hint)
            if isinstance(event, Ready):
                asked = time.monotonic()
                self.seconds.append(asked - began)
                connection.close()
        return asked

    def lines(self) -> Iterator[str]:
        yield f"{self.count} starts: {self.failed} failed, {self.retried} retried"
        for name, seconds in (("ready after", self.seconds), ("ended after", self.ends)):
            if seconds:
                yield f"{name}: median {statistics.median(seconds):.2f} s, longest {max(seconds):.2f} s"
        yield from self.failures


@contextlib.contextmanager
def busy_programs(count: int) -> Iterator[None]:
    """Run `count` busy programs during the block."""
    programs = [subprocess.Popen([sys.executable, "-c", BUSY]) for _ in range(count)]
    try:
        yield
    finally:
        for program in programs:
            program.kill()
            program.wait()


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.starts", description=__doc__)
    parser.add_argument("--count", type=int, default=300, help="number of starts (default: 300)")
    parser.add_argument("--busy", type=int, default=4, help="number of busy programs (default: 4)")
    given = parser.parse_args(arguments)
    starts = Starts()
    with busy_programs(given.busy):
        while starts.count < given.count:
            starts.once()
            if starts.count % SAY_EVERY == 0:
                print("; ".join(starts.lines()), flush=True)
    print("\n".join(starts.lines()))
    return 1 if starts.failed else 0


if __name__ == "__main__":
    sys.exit(main())
