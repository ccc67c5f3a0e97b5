"""Work that would hold the window up, on threads of its own, and what came of it back on the GUI thread."""

import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, TypeVar

from PySide6.QtCore import QObject, Signal

from engine.errors import SpecExecError
from engine.hub import Stop, Stopped

T = TypeVar("T")
PATIENCE_S = 1.0  # for what is under way when the window closes; a question to the network ends by itself


@dataclass(frozen=True, slots=True, eq=False)
class _Job:
    what: str
    stop: Stop
    then: Callable[[Any], object]
    failed: Callable[[SpecExecError], object]
    thread: threading.Thread


class Work(QObject):
    """One job of each kind at a time: a newer one stops the one before it, whose result is never seen.

    Daemon threads, because a server that does not answer must not hold up the end of the program.
    """

    _done = Signal(object, object)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._jobs: dict[str, _Job] = {}
        self._done.connect(self._finish)

    def run(
        self,
        what: str,
        function: Callable[[Stop], T],
        then: Callable[[T], object],
        failed: Callable[[SpecExecError], object],
    ) -> None:
        """`function` on another thread, then on this one `then` with its result, or `failed` with why there
        is none. `what`: the kind of job."""
        self.forget(what)
        thread = threading.Thread(target=lambda: self._run(job, function), name=what, daemon=True)
        job = self._jobs[what] = _Job(what, Stop(), then, failed, thread)
        thread.start()

    def forget(self, what: str) -> None:
        """Nobody waits for its result any more."""
        if job := self._jobs.pop(what, None):
            job.stop.ask()

    def is_running(self, what: str) -> bool:
        return what in self._jobs

    def close(self) -> None:
        """Stop all, and wait a moment for those that can."""
        jobs = list(self._jobs.values())
        for job in jobs:
            self.forget(job.what)
        for job in jobs:
            job.thread.join(PATIENCE_S)

    def _run(self, job: _Job, function: Callable[[Stop], Any]) -> None:
        """On the other thread."""
        try:
            result = function(job.stop)
        except Stopped:
            return
        except Exception as error:
            result = error
        with suppress(RuntimeError):  # the window is gone meanwhile
            self._done.emit(job, result)

    def _finish(self, job: _Job, result: Any) -> None:
        if self._jobs.get(job.what) is not job:
            return
        del self._jobs[job.what]
        if isinstance(result, SpecExecError):
            job.failed(result)
        elif isinstance(result, Exception):
            raise result
        else:
            job.then(result)
