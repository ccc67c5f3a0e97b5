"""The process that tries ways on a card. One that hangs or ends is named and replaced by a new one."""

import contextlib
import logging
import queue
import subprocess
import sys
import threading
from collections.abc import Sequence

import msgspec

from engine import ways
from engine.launch import interpreter
from engine.proof.trial import Trial, TriedWay

_log = logging.getLogger(__name__)

_END_S = 10.0  # seconds for a process that was killed
START_S = 180.0  # importing torch reads a gigabyte, and a virus scanner may read it again
_READY = b'"ready"\n'  # the first line that the process writes


class TrialProcess:
    """A `Tester` that tries ways in a child process, which it starts when it is needed."""

    def __init__(self, command: Sequence[str] | None = None, limit_s: float | None = None) -> None:
        """command: the command line of the process; None for that of `engine.proof.worker`. limit_s: seconds
        for a trial; None for the limits of `engine.ways`."""
        self._command = command
        self._limit_s = limit_s
        self._starts = True  # as far as is known
        self._process: subprocess.Popen[bytes] | None = None
        self._lines: queue.SimpleQueue[bytes] = queue.SimpleQueue()

    def test(self, trial: Trial) -> TriedWay:
        """Try a way. A process that hangs, or whose connection to the card is broken, is not used again.

        If no process can be started, this says nothing about a kernel, and no further one is started.
        """
        if not self._starts or (self._process is None and not self._start()):
            return TriedWay(trial.kernel, trial.way, "unchecked")
        self._ask(trial)
        line = self._line(self._limit_s or ways.LADDERS[ways.kind_of(trial.kernel)].limit_s)
        if line is None:
            shown = TriedWay(trial.kernel, trial.way, "hung")
        elif line:
            shown = msgspec.json.decode(line, type=TriedWay)
        else:
            shown = self._ended(trial)
        if shown.outcome not in ("right", "unchecked"):
            _log.warning("%s, %s: %s %s", trial.kernel, trial.way, shown.outcome, shown.problem)
        if line is None or not line or shown.outcome == "crashed":
            self.close()
        return shown

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

    def _start(self) -> bool:
        """Start a process; return whether it is ready, as its first line says."""
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
                if line.startswith(b"{") or line == _READY:  # a library may print something else
                    lines.put(line)
            lines.put(b"")

        self._reader = threading.Thread(target=read, name="trial", daemon=True)
        self._reader.start()
        self._starts = self._line(START_S) == _READY
        if not self._starts:
            _log.warning("The card's kernels cannot be checked: the process for it does not start.")
            self.close()
        return self._starts

    def _ended(self, trial: Trial) -> TriedWay:
        """Return what the end of the process says about a way: nothing if the system killed it, as Linux does
        if RAM runs out."""
        assert self._process is not None
        status = self._process.wait()
        if status == -9:  # SIGKILL
            return TriedWay(trial.kernel, trial.way, "unchecked")
        return TriedWay(trial.kernel, trial.way, "crashed", f"The process ended with {status}.")

    def _ask(self, trial: Trial) -> None:
        assert self._process is not None
        assert self._process.stdin is not None
        with contextlib.suppress(OSError):  # it has ended, and so have its lines
            self._process.stdin.write(msgspec.json.encode(trial) + b"\n")
            self._process.stdin.flush()

    def _line(self, limit_s: float) -> bytes | None:
        """Return the next line that the process writes; b"" if it ends, None if it takes longer than
        `limit_s`."""
        try:
            return self._lines.get(timeout=limit_s)
        except queue.Empty:
            return None
