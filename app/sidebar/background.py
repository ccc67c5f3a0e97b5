"""Work that would hold the window up, on another thread, and its result back on this one."""

from collections.abc import Callable
from contextlib import suppress
from typing import Any, TypeVar

from PySide6.QtCore import QObject, QThreadPool, Signal

from engine.errors import SpecExecError

T = TypeVar("T")


class Background(QObject):
    """Runs functions on the application's pool of threads, whose end no window has to wait for. Lives on the
    GUI thread.

    Signals:
        trouble: SpecExecError that a function raised. What else one raises is raised again on the GUI thread.
    """

    trouble = Signal(object)
    _done = Signal(object, object)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._done.connect(self._finish)

    def run(self, function: Callable[[], T], then: Callable[[T], object]) -> None:
        """`function` on the other thread, then `then` with its result on this one."""
        QThreadPool.globalInstance().start(lambda: self._run(function, then))

    def _run(self, function: Callable[[], Any], then: Callable[[Any], object]) -> None:
        """On the other thread."""
        try:
            result = function()
        except Exception as error:
            result, then = error, self._fail
        with suppress(RuntimeError):  # the window is gone meanwhile
            self._done.emit(then, result)

    def _finish(self, then: Callable[[Any], object], result: Any) -> None:
        then(result)

    def _fail(self, error: Exception) -> None:
        if not isinstance(error, SpecExecError):
            raise error
        self.trouble.emit(error)
