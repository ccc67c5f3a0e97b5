"""Virtual time: a clock that jumps from event to event, and threads that take turns on it.

The threads are the system's, so that any code can run in them, but only one runs at a time: another one
begins when it waits or sleeps. Those that are due at the same time run in the order in which they became due.
So a simulation gives the same result each time, and its waiting takes no time.
"""

import heapq
import itertools
import threading
from collections.abc import Callable
from types import TracebackType
from typing import TypeVar

from engine.streaming.crew import Condition, Crew, Member

T = TypeVar("T")

STUCK = RuntimeError("All threads of the simulation wait for each other.")


class Wake:
    """A time at which a thread goes on, unless it has gone on already. Attribute: `notified`, whether a
    condition has woken it."""

    def __init__(self, thread: "VirtualThread") -> None:
        self.thread = thread
        self.is_over = False
        self.notified = False


class VirtualClock(Crew):
    """A crew in virtual time. What other threads do takes no time.

    Attribute: `seconds`, the time since the start.
    """

    def __init__(self) -> None:
        self.seconds = 0.0
        self._count = itertools.count()
        self._due: list[tuple[float, int, Wake | Callable[[], None]]] = []  # a heap
        self._running: VirtualThread | None = None
        self._main: VirtualThread | None = None
        self._is_stuck = False
        self._threads: list[VirtualThread] = []

    def run(self, work: Callable[[], T]) -> T:
        """Do `work` in this thread, and return its result; time passes until then. Raises RuntimeError if all
        threads wait for each other, and the errors of all threads."""
        assert self._running is None
        results: list[T] = []
        main = VirtualThread(self, lambda: results.append(work()), threading.current_thread())
        self._main = self._running = main
        try:
            main.work()
        finally:
            self._main = self._running = None
        for thread in self._threads:
            if thread.error is not None:
                raise thread.error
        return results[0]

    def start(self, work: Callable[[], None], name: str) -> Member:
        thread = VirtualThread(self, work)
        thread.system = threading.Thread(target=thread.main, name=name, daemon=True)
        thread.system.start()
        self._threads.append(thread)
        self.wake_at(self.seconds, Wake(thread))
        return thread

    def condition(self) -> Condition:
        return VirtualCondition(self)

    def now(self) -> float:
        return self.seconds

    def at(self, time: float, action: Callable[[], None]) -> None:
        """Call `action`, which must not wait, at `time`."""
        heapq.heappush(self._due, (time, next(self._count), action))

    def sleep_until(self, time: float) -> None:
        """Let the calling thread wait until `time`, if that is still to come; a thread that does not belong
        to the simulation goes on."""
        if self.running is not None:
            self.wake_at(max(time, self.seconds), Wake(self.running))
            self.turn_over()

    def sleep(self, seconds: float) -> None:
        self.sleep_until(self.seconds + seconds)

    @property
    def running(self) -> "VirtualThread | None":
        """The thread that calls; None if it does not belong to the simulation."""
        thread = self._running
        return thread if thread and thread.system is threading.current_thread() else None

    def wake_at(self, time: float, wake: Wake) -> None:
        heapq.heappush(self._due, (time, next(self._count), wake))

    def turn_over(self, ends: bool = False) -> None:
        """Move the clock to what is due next, until that is a thread; let it run, and the calling thread wait
        for its own turn, unless it `ends`."""
        caller = self._running
        assert caller is not None
        while self._due:
            time, _, due = heapq.heappop(self._due)
            if not isinstance(due, Wake):
                self.seconds = time
                due()
            elif not due.is_over:
                self.seconds = time
                due.is_over = True
                if due.thread is not caller:
                    self._running = due.thread
                    due.thread.turn.release()
                    if not ends:
                        self._await_turn(caller)
                return
        self._is_stuck = True
        if not ends:
            raise STUCK
        assert self._main is not None
        self._running = self._main
        self._main.turn.release()

    def _await_turn(self, thread: "VirtualThread") -> None:
        thread.turn.acquire()
        if self._is_stuck:
            raise STUCK


class VirtualThread:
    """A thread of a simulation. Attribute: `error`, which ended it, or None."""

    def __init__(
        self, clock: VirtualClock, work: Callable[[], None], system: threading.Thread | None = None
    ) -> None:
        self.work = work
        self.system = system
        self.turn = threading.Semaphore(0)
        self.error: BaseException | None = None
        self._clock = clock
        self._ended = VirtualCondition(clock)
        self._has_ended = False

    def main(self) -> None:
        self.turn.acquire()
        try:
            self.work()
        except BaseException as error:  # any error: `run` raises it
            self.error = error
        self._has_ended = True
        self._ended.notify_all()
        self._clock.turn_over(ends=True)

    def join(self, timeout: float | None = None) -> None:
        self._ended.wait_for(lambda: self._has_ended, timeout)

    def is_alive(self) -> bool:
        return not self._has_ended


class VirtualCondition:
    """A condition in virtual time. Its lock is never contended, because threads change places only while they
    wait."""

    def __init__(self, clock: VirtualClock) -> None:
        self._clock = clock
        self._waiting: list[Wake] = []

    def __enter__(self) -> bool:
        return True

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None, /
    ) -> None:
        pass

    def wait(self, timeout: float | None = None) -> bool:
        assert self._clock.running is not None
        wake = Wake(self._clock.running)
        self._waiting.append(wake)
        if timeout is not None:
            self._clock.wake_at(self._clock.seconds + timeout, wake)
        self._clock.turn_over()
        if not wake.notified:
            self._waiting.remove(wake)
        return wake.notified

    def wait_for(self, predicate: Callable[[], bool], timeout: float | None = None) -> bool:
        end = None if timeout is None else self._clock.seconds + timeout
        while not predicate():
            left = None if end is None else end - self._clock.seconds
            if left is not None and left <= 0:
                break
            self.wait(left)
        return predicate()

    def notify_all(self) -> None:
        waiting, self._waiting = self._waiting, []
        for wake in waiting:
            wake.notified = True
            self._clock.wake_at(self._clock.seconds, wake)
