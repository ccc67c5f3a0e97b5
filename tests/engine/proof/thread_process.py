"""A thread that stands for the process that tries ways, so that each kind of kernel can end it or hang in it
within milliseconds. Time passes only while a kernel hangs."""

import os
import queue
import threading
from collections import deque
from typing import Any

from engine.proof import worker
from tests.engine.proof.fake_card import FakeCard

STATUS = 139  # of a process that a kernel has ended


class Ended(BaseException):
    """The end of the thread, which no handler of errors catches, as none survives that of a process."""


class Host:
    """Where processes run: makes them, in place of `subprocess.Popen`, and the queues of their lines.

    Attributes: `made`: how many processes there were; `waited`: the seconds that were waited for what hangs.
    """

    def __init__(self) -> None:
        self.card = FakeCard()
        self.made = 0
        self.waited: list[float] = []
        self.changed = threading.Condition()
        self.hangs = False

    def process(self, command: object, **how: object) -> "ThreadProcess":
        self.made += 1
        self.hangs = False
        return ThreadProcess(self.card)

    def lines(self) -> "Lines":
        return Lines(self)

    def crash(self) -> None:
        raise Ended

    def hang(self) -> None:
        """Hang until the process is killed."""
        with self.changed:
            self.hangs = True
            self.changed.notify_all()
        process = threading.current_thread()
        assert isinstance(process, ThreadProcess)
        process.killed.wait()
        raise Ended


class ThreadProcess(threading.Thread):
    """What TrialProcess uses of a `Popen`."""

    pid = 1

    def __init__(self, card: FakeCard) -> None:
        super().__init__(name="process", daemon=True)
        self._card = card
        self._status = 0
        self.killed = threading.Event()
        requests, self._answers = os.pipe(), os.pipe()
        self._requests = os.fdopen(requests[0], "rb")
        self.stdin = os.fdopen(requests[1], "wb")
        self.stdout = os.fdopen(self._answers[0], "rb")
        self.start()

    def run(self) -> None:
        with self._requests, os.fdopen(self._answers[1], "wb") as out:
            try:
                worker.serve(self._card, self._requests, out)
            except Ended:
                self._status = STATUS

    def kill(self) -> None:
        self.killed.set()
        self.stdin.close()

    def wait(self, timeout: float | None = None) -> int:
        self.join(timeout)
        return self._status


class Lines:
    """What TrialProcess uses of a `SimpleQueue`."""

    def __init__(self, host: Host) -> None:
        self._host = host
        self._lines: deque[Any] = deque()

    def put(self, line: bytes) -> None:
        with self._host.changed:
            self._lines.append(line)
            self._host.changed.notify_all()

    def get(self, timeout: float) -> bytes:
        with self._host.changed:
            self._host.changed.wait_for(lambda: self._lines or self._host.hangs)
            if not self._lines:
                self._host.waited.append(timeout)
                raise queue.Empty
            line: bytes = self._lines.popleft()
            return line
