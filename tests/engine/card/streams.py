"""Streams, events and graphs of the card for tests. Work is done as late and in as odd an order as streams
and events allow; memory that is freed is overwritten, in the order of the stream that it was taken on."""

import random
import threading
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import torch

from tests.engine.card.memory import Block

Work = Callable[[], object]


class Point:
    """A point in the work of a stream. Attribute: `happened`."""

    def __init__(self) -> None:
        self.happened = False

    def happen(self) -> None:
        self.happened = True


class CardEvent:
    """A point in the work of a stream, as torch.cuda.Event. Recorded again, it is another point; what waits
    for the one before goes on waiting for that."""

    def __init__(self, queue: "Queue") -> None:
        self.point = Point()
        self._queue = queue

    def synchronize(self) -> None:
        self._queue.do_until(self.point)


class CardStream:
    """Work that is done in order, as torch.cuda.Stream. Attributes: `tasks`, the work that is not done, and
    events for which it waits; `graph`, which records the work while it is set."""

    def __init__(self, queue: "Queue") -> None:
        self.tasks: deque[Work | Point] = deque()
        self.graph: CardGraph | None = None
        self._queue = queue

    def record_event(self, event: CardEvent | None = None) -> CardEvent:
        event = event or CardEvent(self._queue)
        event.point = Point()
        self._queue.ask(self, event.point.happen)
        return event

    def wait_event(self, event: CardEvent) -> None:
        self._queue.append(self, event.point)

    def wait_stream(self, stream: "CardStream") -> None:
        self.wait_event(stream.record_event())

    def synchronize(self) -> None:
        self.refuse_recording("waiting for a stream")
        self.record_event().synchronize()

    def refuse_recording(self, what: str) -> None:
        """Raise RuntimeError if work is being recorded, as CUDA does where the host would have to wait."""
        if self.graph is not None:
            raise RuntimeError(f"operation not permitted when stream is capturing: {what}")

    def freed(self, block: Block) -> None:
        """Overwrite a block that this stream has taken. Other streams have to be done with it by then."""
        self._queue.append(self, block.poison)


class CardGraph:
    """Recorded work, as torch.cuda.CUDAGraph. Memory that is taken while it is recorded is the graph's."""

    def __init__(self, queue: "Queue") -> None:
        self.tasks: list[Work] = []
        self._queue = queue
        self._recording = False

    def record(self, stream: CardStream) -> None:
        stream.graph, self._recording = self, True

    def end(self, stream: CardStream) -> None:
        self._queue.collect()
        stream.graph, self._recording = None, False

    def replay(self) -> None:
        stream = self._queue.current_stream()
        for task in self.tasks:
            self._queue.ask(stream, task)

    def freed(self, block: Block) -> None:
        """Overwrite a block in every replay if it was freed while recording; else the output stays."""
        if self._recording:
            self.tasks.append(block.poison)


class Queue:
    """All work of the card that is not done yet. Attribute: `streams`, those that have some."""

    def __init__(self, collect: Callable[[], None]) -> None:
        """collect: frees memory that is no longer used."""
        self.collect = collect
        self.lock = threading.RLock()
        self.streams: list[CardStream] = []
        self._random = random.Random(0)
        self._default = CardStream(self)
        self._threads = threading.local()

    def default_stream(self) -> CardStream:
        return self._default

    def current_stream(self) -> CardStream:
        return getattr(self._threads, "stream", self._default)

    @contextmanager
    def use(self, stream: CardStream) -> Iterator[None]:
        before, self._threads.stream = self.current_stream(), stream
        try:
            yield
        finally:
            self._threads.stream = before

    def ask(self, stream: CardStream, work: Work) -> None:
        """Append work to a stream, and do any work that may be done, or none."""
        self.collect()
        with self.lock:
            self.append(stream, work)
            if stream.graph is None:
                for _ in range(self._random.choice([0, 0, 1, 5])):
                    self._do()

    def append(self, stream: CardStream, task: Work | Point) -> None:
        """Append work, or an event to wait for, to a stream or to the graph that it records."""
        with self.lock:
            if stream.graph is not None:
                assert not isinstance(task, Point), "recordings of several streams are not supported"
                stream.graph.tasks.append(task)
                return
            if not stream.tasks:
                self.streams.append(stream)
            stream.tasks.append(task)

    def do_until(self, point: Point) -> None:
        with self.lock:
            while not point.happened:
                assert self._do(), "an event cannot happen: streams wait for each other"

    def _do(self) -> bool:
        """Do one piece of work, of a stream whose next one may start, or go on behind an event."""
        ready = [s for s in self.streams if not isinstance(s.tasks[0], Point) or s.tasks[0].happened]
        if not ready:
            return False
        stream = self._random.choice(ready)
        task = stream.tasks.popleft()
        if not stream.tasks:
            self.streams.remove(stream)
        if not isinstance(task, Point):
            try:
                with torch.inference_mode():  # whatever the mode of the thread that asked for the work
                    task()
            except IndexError as error:  # which CUDA finds out on the card
                raise RuntimeError("CUDA error: device-side assert triggered") from error
        return True
