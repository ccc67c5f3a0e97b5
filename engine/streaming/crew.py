"""The threads that stream, the conditions on which they wait for each other, and the clock that they read.

A simulation substitutes threads that run in turn on a clock of its own (`engine.bench.simulation`), so that
there, too, the code of the rings decides what is moved where and when.
"""

import threading
import time
from collections.abc import Callable
from types import TracebackType
from typing import Protocol


class Member(Protocol):
    """A thread of a crew."""

    def join(self, timeout: float | None = None) -> None:
        """Wait until the thread has ended, for `timeout` seconds at most."""

    def is_alive(self) -> bool:
        """Return whether the thread has not ended yet."""


class Condition(Protocol):
    """What is used here of `threading.Condition`."""

    def __enter__(self) -> bool: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None, /
    ) -> None: ...

    def wait(self, timeout: float | None = None) -> bool: ...

    def wait_for(self, predicate: Callable[[], bool], timeout: float | None = None) -> bool: ...

    def notify_all(self) -> None: ...


class Crew(Protocol):
    """Starts threads, and makes what they wait with."""

    def start(self, work: Callable[[], None], name: str) -> Member:
        """Start a thread that does `work`."""

    def condition(self) -> Condition: ...

    def now(self) -> float:
        """Return the time in seconds, from any start."""


class SystemCrew:
    """The system's own threads and clock."""

    def start(self, work: Callable[[], None], name: str) -> Member:
        thread = threading.Thread(target=work, name=name, daemon=True)
        thread.start()
        return thread

    def condition(self) -> Condition:
        return threading.Condition()

    def now(self) -> float:
        return time.perf_counter()


SYSTEM = SystemCrew()
