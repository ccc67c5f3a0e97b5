"""Threads that read for one that computes, so that Stop does not wait for a disk that does not answer."""

import logging
import threading
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Generic, TypeVar

from engine import reads
from engine.errors import Interrupted
from engine.streaming.crew import SYSTEM, Crew, Member
from engine.streaming.disk_watch import DiskWatch

_log = logging.getLogger(__name__)

T = TypeVar("T")


@dataclass(slots=True, eq=False)
class _Order(Generic[T]):
    """Work of a reader. Attributes: `work`; `discard`, which gets a result that comes too late; once
    `is_done`, `result` or `error`; `is_left`, whether nobody waits any more."""

    work: Callable[[], T]
    discard: Callable[[T], object]
    result: T | None = None
    error: Exception | None = None
    is_done: bool = False
    is_left: bool = False


class Readers:
    """Threads that do what a thread orders that must not wait for a disk. They begin with the first orders.
    Several threads may order at once.

    Attribute: `watch`, of the disk.
    """

    def __init__(self, watch: DiskWatch, most: int = 1, name: str = "read", crew: Crew = SYSTEM) -> None:
        """most: number of threads at most. name: of the threads. crew: what starts them."""
        self.watch = watch
        self._most = most
        self._name = name
        self._crew = crew
        self._changed = crew.condition()
        self._orders: deque[_Order[object]] = deque()
        self._threads: list[Member] = []
        self._closed = False

    def read(self, read: Callable[[], T]) -> T:
        """Return what `read` does, a single read of the disk. Raises its errors, and those of
        `DiskWatch.wait`; Interrupted, too, if this is closed before it has ended."""

        def work() -> T:
            with self.watch.reading():
                return read()

        return self.begin(work)()

    def aside(self, work: Callable[[], T], discard: Callable[[T], object] = lambda result: None) -> T:
        """See `reads.aside`."""
        return self.begin(work, discard)()

    def begin(
        self, work: Callable[[], T], discard: Callable[[T], object] = lambda result: None
    ) -> Callable[[], T]:
        """Begin with `work`, whose reads are `reads.noted`; return a function that waits for its end and
        returns its result, with the errors of `read`. discard: as for `reads.aside`."""
        order = _Order(work, discard)
        with self._changed:
            if not self._closed:
                self._orders.append(order)  # type: ignore[arg-type]  # a reader hands on what it gets
                if len(self._threads) < self._most:
                    self._threads.append(self._crew.start(self._work, self._name))
                self._changed.notify_all()
        return lambda: self._result(order)

    def close(self) -> None:
        """End the threads, whose next reads raise Interrupted. One that is left behind, because the disk does
        not answer it, ends when it does, with the memory that it reads to; see `DiskWatch.join`."""
        with self._changed:
            self._closed = True
            self._orders.clear()
            self._changed.notify_all()
        self.watch.join(self._threads, is_patient=False)

    def _result(self, order: _Order[T]) -> T:
        try:
            with self._changed:
                self.watch.wait(self._changed, lambda: order.is_done or self._closed)
                if not order.is_done:
                    raise Interrupted("The model is being closed.")
        except BaseException:
            self._leave(order)
            raise
        if order.error is not None:
            raise order.error
        return order.result  # type: ignore[return-value]  # which `work` has returned

    def _leave(self, order: _Order[T]) -> None:
        with self._changed:
            order.is_left = True
            is_here = order.is_done and order.error is None
        if is_here:  # since a moment ago
            _discard(order)

    # -- the threads -----------------------------------------------------------------------------------------

    def _work(self) -> None:
        while (order := self._next()) is not None:
            result, error = None, None
            try:
                with reads.noted_with(partial(self._reading, order)):
                    result = order.work()
            except Exception as failure:  # any error: the thread that waits raises it
                error = failure
            with self._changed:
                order.result, order.error, order.is_done = result, error, True
                is_left = order.is_left
                self._changed.notify_all()
            if is_left and error is None:
                _discard(order)
            del order, result, error  # which may be large

    @contextmanager
    def _reading(self, order: _Order[object]) -> Iterator[None]:
        """Return a context in which a read for `order` is under way. Raises Interrupted if nobody waits for
        it: a slow disk would take minutes for the rest of a large tensor."""
        if order.is_left or self._closed:
            raise Interrupted("Nobody waits for this read any more.")
        with self.watch.reading():
            yield

    def _next(self) -> _Order[object] | None:
        with self._changed:
            self._changed.wait_for(lambda: bool(self._orders) or self._closed)
            return None if self._closed else self._orders.popleft()


def _discard(order: _Order[T]) -> None:
    """Discard the result of an order. Its errors are logged: the thread has other orders."""
    try:
        order.discard(order.result)  # type: ignore[arg-type]  # which `work` has returned
    except Exception:
        _log.exception("what came too late cannot be discarded")


class _WatchOfThread(threading.local):
    """Attribute: `watch`, of the disk with the model that the calling thread loads; None if it loads none."""

    watch: DiskWatch | None = None


_here = _WatchOfThread()


@contextmanager
def reading_aside(watch: DiskWatch) -> Iterator[None]:
    """Return a context in which another thread reads for the calling one, which waits with `watch`, and so
    does what it makes meanwhile (`watch_of`)."""
    readers = Readers(watch)
    before, _here.watch = _here.watch, watch
    try:
        with reads.helped_by(readers):
            yield
    finally:
        _here.watch = before
        readers.close()


def watch_of(file: Path, crew: Crew = SYSTEM) -> DiskWatch:
    """Return the watch of the disk with a model: that of `reading_aside`, or a new one. file: with some of
    the weights. crew: whose clock a new one reads."""
    model = file if file.suffix.lower() == ".gguf" else file.parent
    return _here.watch or DiskWatch(model.name, crew)
