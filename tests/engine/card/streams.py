"""Streams, events and graphs of the card for tests. Work is done as late and in as odd an order as streams and
events allow; memory that is freed is overwritten at once, in the order of the stream that it was taken on."""

import random
import threading
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import torch

from tests.engine.card.memory import Block

Work = Callable[[], object]


class CardEvent:
    """A point in the work of a stream, as torch.cuda.Event."""

    def __init__(self, queue: "Queue") -> None:
        self.happened = False
        self._queue = queue

    def synchronize(self) -> None:
        self._queue.do_until(self)

    def wait(self, stream: "CardStream") -> None:
        stream.wait_event(self)


class CardStream:
    """Work that is done in order, as torch.cuda.Stream. Attribute: `graph`, which records the work while it is
    set."""

    def __init__(self, queue: "Queue") -> None:
        self.tasks: deque[Work | CardEvent] = deque()
        self.graph: CardGraph | None = None
        self._queue = queue
        queue.streams.append(self)

    def record_event(self) -> CardEvent:
        event = CardEvent(self._queue)

        def happen() -> None:
            event.happened = True

        self._queue.ask(self, happen)
        return event

    def wait_event(self, event: CardEvent) -> None:
        with self._queue.lock:
            self.tasks.append(event)

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
        with self._queue.lock:
            if self.graph is not None:
                self.graph.tasks.append(block.poison)
            else:
                self.tasks.append(block.poison)


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
    """All work of the card that is not done yet. Attributes: `streams`; `done`, how many tasks were done."""

    def __init__(self, collect: Callable[[], None]) -> None:
        """collect: frees memory that is no longer used."""
        self.collect = collect
        self.lock = threading.RLock()
        self.streams: list[CardStream] = []
        self.done = 0
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
            if stream.graph is not None:
                stream.graph.tasks.append(work)
                return
            stream.tasks.append(work)
            for _ in range(self._random.choice([0, 0, 1, 5])):
                self._do()

    def do_until(self, event: CardEvent) -> None:
        with self.lock:
            while not event.happened:
                assert self._do(), "an event cannot happen: streams wait for each other"

    def _do(self) -> bool:
        """Do one piece of work, of a stream whose next one may start."""
        for stream in self.streams:
            while stream.tasks and isinstance(first := stream.tasks[0], CardEvent) and first.happened:
                stream.tasks.popleft()
        ready = [s for s in self.streams if s.tasks and not isinstance(s.tasks[0], CardEvent)]
        if not ready:
            return False
        work = self._random.choice(ready).tasks.popleft()
        assert not isinstance(work, CardEvent)
        self.done += 1
        with torch.inference_mode():  # whatever the mode of the thread that asked for the work
            work()
        return True
