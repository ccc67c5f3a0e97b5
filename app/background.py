"""Background jobs of the window: functions that run on other threads; the GUI thread gets their results.

A job is a function with two callbacks. `Work.run` calls the function on a daemon thread of its own, and
`Work.add` on a thread of Qt's global pool. Both callbacks are called on the thread of the `Work` object,
which is the GUI thread; all methods of `Work` must be called there, too.
"""

import atexit
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, TypeVar

from PySide6.QtCore import QObject, QThreadPool, Signal

from engine.errors import SpecExecError, refused_by_system
from engine.hub import Stop, Stopped

T = TypeVar("T")
# Longest wait for each job when the window closes. A job that takes longer, such as a network request, ends
# with the program.
PATIENCE_S = 1.0


_reporting = threading.Lock()
_ended = threading.Event()  # set when the program ends, before Qt's objects are deleted


@atexit.register  # runs before what PySide has registered
def _end() -> None:
    """Let no thread report to an object that is being deleted, which would end the program with a fault."""
    with _reporting:
        _ended.set()


@dataclass(frozen=True, slots=True, eq=False)
class _Job:
    """A job and its callbacks. kind: name given to `Work.run`; "" for a job started by `Work.add`."""

    kind: str
    stop: Stop
    then: Callable[[Any], object]
    failed: Callable[[SpecExecError], object]


class Work(QObject):
    """Runs jobs in two ways: `run` keeps only the newest job of a kind, `add` runs every job to its end.

    A SpecExecError is passed to `failed`, and so is what the system refuses, such as memory or a thread.
    Stopped ends a job without a result. Any other exception is raised again on the GUI thread.
    """

    _done = Signal(object, object)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._newest: dict[str, tuple[_Job, threading.Thread]] = {}
        self._done.connect(self._finish)

    def run(
        self,
        kind: str,
        function: Callable[[Stop], T],
        then: Callable[[T], object],
        failed: Callable[[SpecExecError], object],
    ) -> None:
        """Start a job of a kind. An older one of that kind is asked to stop, and its result is discarded.

        function: called on a daemon thread, so that a server that does not answer cannot delay the end of the
            program. It should return or raise Stopped soon after its argument, a `Stop`, asks it to.
        then, failed: called on the GUI thread: `then` with the result, or `failed` with the error.
        """
        self.forget(kind)
        job = _Job(kind, Stop(), then, failed)
        thread = threading.Thread(target=self._run, args=(job, function), name=kind, daemon=True)
        self._newest[kind] = job, thread
        try:
            thread.start()
        except RuntimeError as error:
            self._finish(job, refused_by_system(error) or error)

    def add(
        self,
        function: Callable[[], T],
        then: Callable[[T], object],
        failed: Callable[[SpecExecError], object],
    ) -> None:
        """Start an independent job: no later job stops it.

        function: called on a thread of Qt's pool, so that it may use QTextDocument, whose timers need a Qt
            thread.
        then, failed: called on the GUI thread: `then` with the result, or `failed` with the error.
        """
        job = _Job("", Stop(), then, failed)
        QThreadPool.globalInstance().start(lambda: self._run(job, lambda stop: function()))

    def forget(self, kind: str) -> None:
        """Ask the job of this kind, if any, to stop. Its result will be discarded."""
        if kind in self._newest:
            self._newest.pop(kind)[0].stop.ask()

    def is_running(self, kind: str) -> bool:
        return kind in self._newest

    def close(self) -> None:
        """Stop the jobs that `run` started and wait up to `PATIENCE_S` for each of them."""
        jobs = list(self._newest.items())
        for kind, _ in jobs:
            self.forget(kind)
        for _, (_, thread) in jobs:
            thread.join(PATIENCE_S)

    def _run(self, job: _Job, function: Callable[[Stop], Any]) -> None:
        """Call the function, on the job's thread."""
        try:
            result = function(job.stop)
        except Stopped:
            return
        except SpecExecError as error:
            result = error
        except Exception as error:
            result = refused_by_system(error) or error
        with _reporting, suppress(RuntimeError):  # the window was deleted in the meantime
            if not _ended.is_set():
                self._done.emit(job, result)

    def _finish(self, job: _Job, result: Any) -> None:
        """Deliver the result, on the GUI thread."""
        if job.kind:
            if not self.is_running(job.kind) or self._newest[job.kind][0] is not job:
                return
            del self._newest[job.kind]
        if isinstance(result, SpecExecError):
            job.failed(result)
        elif isinstance(result, Exception):
            raise result
        else:
            job.then(result)
