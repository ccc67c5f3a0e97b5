"""The process that tries ways on a card. One that hangs or ends is named and replaced by a new one."""

import contextlib
import logging
import queue
import subprocess
import sys
import threading
from collections.abc import Callable, Sequence

import msgspec

from engine import ways
from engine.errors import UNKNOWN_ERROR
from engine.launch import interpreter
from engine.proof.trial import STARTED, Connection, Outcome, Trial, TriedWay

_log = logging.getLogger(__name__)

_ASK_S = 0.5  # seconds after which the caller may end a trial again
_END_S = 10.0  # seconds for a process that was killed, or has closed its output
_KILLED = -9  # by SIGKILL
START_S = 180.0  # importing torch reads a gigabyte, and a virus scanner may read it again
CONNECT_S = 120.0  # some drivers take half a minute to wake a card


class TrialProcess:
    """A `Tester` that tries ways in a child process, which it starts when it is needed."""

    def __init__(self, command: Sequence[str] | None = None, limit_s: float | None = None) -> None:
        """command: the command line of the process; None for that of `engine.proof.worker`. limit_s: seconds
        for a trial, and for connecting to the card; None for the limits of `engine.ways`, and `CONNECT_S`."""
        self._command = command
        self._limit_s = limit_s
        self._connection = Connection()  # as far as is known
        self._process: subprocess.Popen[bytes] | None = None
        self._lines: queue.SimpleQueue[bytes] = queue.SimpleQueue()

    def test(self, trial: Trial, waiting: Callable[[], object] = lambda: None) -> TriedWay:
        """Try a way; waiting: as for a `Tester`. A process that hangs, or whose connection to the card is
        broken, is not used again.

        If no process can be started, or none can connect to the card, this says nothing about a kernel, and
        no further one is started.
        """
        if self._process is None and self._connection.outcome == "right":
            self._start(waiting)
        if self._process is None:
            return self._unconnected(trial)
        self._ask(trial)
        line = self._line(self._limit_s or ways.LADDERS[ways.kind_of(trial.kernel)].limit_s, waiting)
        if line is None:
            shown = TriedWay(trial.kernel, trial.way, "hung")
        elif line:
            shown = msgspec.json.decode(line, type=TriedWay)
        else:
            shown = self._ended(trial)
        if shown.outcome != "right":
            _log.warning("%s, %s: %s %s", trial.kernel, trial.way, shown.outcome, shown.problem)
        if line is None or not line or shown.outcome in ("crashed", "unreachable"):
            self.close()
        if shown.outcome == "unreachable" and UNKNOWN_ERROR in shown.problem:
            return self._unknown(trial, shown.problem, waiting)
        return shown

    def _unconnected(self, trial: Trial) -> TriedWay:
        """Return that no process can be started, or none can connect to the card."""
        return TriedWay(trial.kernel, trial.way, self._connection.outcome, self._connection.problem)

    def _unknown(self, trial: Trial, problem: str, waiting: Callable[[], object]) -> TriedWay:
        """Return what an unknown error in a trial says about a way: if a new process can use the card, the
        driver has not lost it, and the error is the kernel's."""
        self._start(waiting)
        if self._process is None:
            return self._unconnected(trial)
        return TriedWay(trial.kernel, trial.way, "crashed", problem)

    def close(self) -> None:
        """End the process; it holds memory on the card."""
        process, self._process = self._process, None
        if process is None:
            return
        process.kill()
        try:
            process.wait(_END_S)
        except subprocess.TimeoutExpired:  # it hangs inside the driver
            _log.warning("Process %d, which tried a kernel of the card, does not end.", process.pid)
            return
        self._reader.join()
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdout.close()
        with contextlib.suppress(OSError):  # what was not written is of no use any more
            process.stdin.close()

    def _start(self, waiting: Callable[[], object]) -> None:
        """Start a process, and keep it if it connects to the card."""
        lines: queue.SimpleQueue[bytes] = queue.SimpleQueue()
        command = self._command or interpreter.command("engine.proof.worker", "cuda")
        process = subprocess.Popen(
            command,
            cwd=interpreter.ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=None if sys.stderr else subprocess.DEVNULL,
            creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),
        )
        self._process, self._lines = process, lines

        def read() -> None:
            assert process.stdout is not None
            for line in process.stdout:
                if line.startswith(b"{") or line == STARTED:  # a library may print something else
                    lines.put(line)
            lines.put(b"")

        self._reader = threading.Thread(target=read, name="trial", daemon=True)
        self._reader.start()
        self._connection = self._connected(waiting)
        if self._connection.outcome != "right":
            _log.warning("The card's kernels cannot be checked: %s", self._connection.problem)
            self.close()

    def _connected(self, waiting: Callable[[], object]) -> Connection:
        """Return whether the process that was started is connected to the card."""
        if self._line(START_S, waiting) != STARTED:
            return Connection("unchecked", "The process for it does not start.")
        limit_s = self._limit_s or CONNECT_S
        line = self._line(limit_s, waiting)
        if line is None:
            return Connection("unreachable", f"The card has not answered for {limit_s:.0f} s.")
        if line:
            return msgspec.json.decode(line, type=Connection)
        status = self._status()
        if status is None:
            return Connection("unreachable", "The process for it does not end.")
        outcome: Outcome = "unchecked" if status == _KILLED else "unreachable"
        return Connection(outcome, f"The process ended with {status}.")

    def _ended(self, trial: Trial) -> TriedWay:
        """Return what the end of the process says about a way: nothing if the system killed it, as Linux does
        if RAM runs out."""
        status = self._status()
        if status is None:
            return TriedWay(trial.kernel, trial.way, "hung")
        if status == _KILLED:
            return TriedWay(trial.kernel, trial.way, "unchecked")
        return TriedWay(trial.kernel, trial.way, "crashed", f"The process ended with {status}.")

    def _status(self) -> int | None:
        """Return the exit status of the process, whose output has ended; None if it hangs in its end."""
        assert self._process is not None
        try:
            return self._process.wait(_END_S)
        except subprocess.TimeoutExpired:
            return None

    def _ask(self, trial: Trial) -> None:
        assert self._process is not None
        assert self._process.stdin is not None
        with contextlib.suppress(OSError):  # it has ended, and so have its lines
            self._process.stdin.write(msgspec.json.encode(trial) + b"\n")
            self._process.stdin.flush()

    def _line(self, limit_s: float, waiting: Callable[[], object]) -> bytes | None:
        """Return the next line that the process writes; b"" if it ends, None if it takes longer than
        `limit_s`."""
        left_s = limit_s
        while left_s > 0:
            waiting()
            part_s = min(_ASK_S, left_s)
            try:
                return self._lines.get(timeout=part_s)
            except queue.Empty:
                left_s -= part_s
        return None
