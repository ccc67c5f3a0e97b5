"""A device that works as late and in as odd an order as streams and events allow."""

import random
import threading
from collections import deque
from collections.abc import Callable

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from engine.streaming.disk import memory


class Event:
    def __init__(self) -> None:
        self.happened = False


class FakeLink:
    """A `DeviceLink` with a copying and a computing stream. Work is done at random moments, and when waited
    for.

    Attributes: `log`: the work done, in order; `spare`: bytes of its memory that were free.
    """

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)
        self._lock = threading.RLock()
        self._streams: dict[str, deque[tuple[Event | None, Event, Callable[[], None]]]] = {
            "copy": deque(),
            "compute": deque(),
        }
        self.log: list[str] = []
        self.spare = 0

    def slots(self, count: int, nbytes: int) -> list[Tensor]:
        with torch.inference_mode(False):  # any thread may write to them
            return [torch.zeros(nbytes, dtype=torch.uint8) for _ in range(count)]

    def spare_nbytes(self) -> int:
        return self.spare

    def slab(self, nbytes: int) -> NDArray[np.uint8]:
        return memory(nbytes)

    def copy(self, slot: Tensor, source: NDArray[np.uint8], after: Event) -> Event:
        return self._ask("copy", after, lambda: slot[: len(source)].copy_(torch.from_numpy(source)))

    def used(self) -> Event:
        return self._ask("compute", None, lambda: None)

    def compute_after(self, event: Event) -> None:
        self._ask("compute", event, lambda: None)

    def compute(self, work: Callable[[], None]) -> Event:
        """Launch work, as a model would."""
        return self._ask("compute", None, work)

    def wait(self, event: Event) -> None:
        while not event.happened:
            with self._lock:
                progress = self._do()
            if not progress and not event.happened:
                threading.Event().wait(0.0005)  # another thread has yet to launch the work this depends on

    def _ask(self, stream: str, after: Event | None, work: Callable[[], object]) -> Event:
        event = Event()
        with self._lock:
            self._streams[stream].append((after, event, work))
            for _ in range(self._random.choice([0, 0, 1, 5])):
                self._do()
        return event

    def _do(self) -> bool:
        """Do one piece of work, of a stream whose next one may start."""
        ready = [
            name
            for name, work in self._streams.items()
            if work and (work[0][0] is None or work[0][0].happened)
        ]
        if not ready:
            return False
        name = self._random.choice(ready)
        _, event, work = self._streams[name].popleft()
        work()
        event.happened = True
        self.log.append(name)
        return True


class HostLink(FakeLink):
    """A fake device that the host computes for, at once: so it waits for what a device would wait for."""

    def compute_after(self, event: Event) -> None:
        self.wait(event)
