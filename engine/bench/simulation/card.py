"""A graphics card and a disk in virtual time. How long each piece of work takes is given; when it begins
follows from streams, events and what else is to be done."""

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.bench.simulation.clock import VirtualClock
from engine.streaming.disk import memory

# Set-up of one copy over PCIe, until the first byte moves; an estimate.
COPY_S = 10e-6
# Time from a read's request to its first byte; data sheets of NVMe disks have 40 to 80 µs.
READ_S = 80e-6


class Signal:
    """An event of the card. Attribute: `happened`."""

    def __init__(self) -> None:
        self.happened = False
        self._then: list[Callable[[], None]] = []

    def happen(self) -> None:
        self.happened = True
        then, self._then = self._then, []
        for action in then:
            action()

    def then(self, action: Callable[[], None]) -> None:
        """Call `action` when this event happens, at once if it has happened."""
        if self.happened:
            action()
        else:
            self._then.append(action)


@dataclass(slots=True)
class Kernel:
    """A piece of work that takes `seconds`, or nothing; it begins after the one before it in its stream and
    after the event `after`, and ends with the event `ended`."""

    seconds: float
    after: Signal | None
    ended: Signal = field(default_factory=Signal)


class Unit:
    """A unit of the card that does one piece of work at a time: that of the first of its streams whose next
    one may begin. Attribute: `busy_s`, the seconds that it has worked."""

    def __init__(self, clock: VirtualClock, streams: int) -> None:
        self.busy_s = 0.0
        self._clock = clock
        self._streams: list[deque[Kernel]] = [deque() for _ in range(streams)]
        self._works = False

    def launch(self, stream: int, seconds: float, after: Signal | None = None) -> Signal:
        kernel = Kernel(seconds, after)
        self._streams[stream].append(kernel)
        if after is not None and not after.happened:
            after.then(self._go_on)
        self._go_on()
        return kernel.ended

    def _go_on(self) -> None:
        while not self._works and (stream := self._ready()) is not None:
            kernel = stream[0]
            if kernel.seconds:
                self._works = True
                self.busy_s += kernel.seconds
                self._clock.at(self._clock.seconds + kernel.seconds, lambda: self._end(stream))
            else:
                stream.popleft()
                kernel.ended.happen()

    def _ready(self) -> deque[Kernel] | None:
        for stream in self._streams:
            if stream and (stream[0].after is None or stream[0].after.happened):
                return stream
        return None

    def _end(self, stream: deque[Kernel]) -> None:
        self._works = False
        stream.popleft().ended.happen()
        self._go_on()


class SimulatedCard:
    """A `DeviceLink` to a card in virtual time. The card has one unit that copies and one that computes; what
    the target computes goes before what the draft computes.

    Attributes: `copying`, `computing`: the two units.
    """

    def __init__(self, clock: VirtualClock, link: float) -> None:
        """link: bytes per second."""
        self.copying = Unit(clock, 1)
        self.computing = Unit(clock, 2)
        self._clock = clock
        self._link = link
        self._changed = clock.condition()
        self._memory = memory(0)

    def slots(self, count: int, nbytes: int) -> list[NDArray[np.uint8]]:
        return [self.slab(nbytes)] * count

    def spare_nbytes(self) -> int:
        return 0

    def slab(self, nbytes: int) -> NDArray[np.uint8]:
        """Return memory that is shared with all other slabs and slots, and never written to."""
        if len(self._memory) < nbytes:
            self._memory = memory(nbytes)
        return self._memory[:nbytes]

    def copy(self, slot: Any, source: NDArray[np.uint8], after: Signal) -> Signal:
        return self.copying.launch(0, COPY_S + len(source) / self._link, after)

    def used(self) -> Signal:
        return self.computing.launch(0, 0.0)

    def compute_after(self, event: Signal) -> None:
        self.computing.launch(0, 0.0, event)

    def compute(self, seconds: float) -> None:
        """Launch a kernel of the target."""
        self.computing.launch(0, seconds)

    def draft(self, seconds: float) -> Signal:
        """Launch a kernel of the draft; return the event of its end."""
        return self.computing.launch(1, seconds)

    def wait(self, event: Signal) -> None:
        if not event.happened and self._clock.running is not None:
            event.then(self._changed.notify_all)
            self._changed.wait_for(lambda: event.happened)


class SimulatedDisk:
    """A file on a disk in virtual time, whose reads come one after another; requests overlap."""

    def __init__(self, clock: VirtualClock, rate: float) -> None:
        """rate: bytes per second."""
        self._clock = clock
        self._rate = rate
        self._free_at = 0.0

    def read(self, into: memoryview, offset: int, needed: int) -> None:
        """Take the time of reading, except in threads that do not belong to the simulation, which fill RAM
        before it begins."""
        if self._clock.running is not None:
            begin = max(self._free_at, self._clock.seconds + READ_S)
            self._free_at = begin + len(into) / self._rate
            self._clock.sleep_until(self._free_at)

    def close(self) -> None:
        pass
