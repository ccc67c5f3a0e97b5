"""The card that checks run on, as they see it."""

import time
from collections.abc import Callable
from typing import Any, Protocol

import torch

from engine.streaming.device_ring import DeviceLink
from engine.streaming.link import CudaLink
from engine.torch_model.graphs import CudaRecorder, Recorder

_REPEATS = 5
_LAUNCHES = 100  # in a row; a card takes some more kernels than these before the program has to wait


class TestedCard(Protocol):
    """A card, or what stands for one in tests.

    Attributes: `device`: where tensors lie; `measures`: whether speeds are measured, too.
    """

    device: torch.device
    measures: bool

    def link(self) -> DeviceLink:
        """Return a new link to the card, as this process takes its ways."""

    def recorder(self) -> Recorder: ...

    def launch(self, link: Any, work: Callable[[], None]) -> None:
        """Compute, in the order of `link`."""

    def finish(self) -> None:
        """Wait until all work on the card is done. Raises RuntimeError if it failed."""

    def lanes(self) -> str:
        """Return how the card is connected now, such as "PCIe 4 x16"; "" if unknown."""


class CudaCard:
    """The first CUDA device."""

    def __init__(self) -> None:
        self.device = torch.device("cuda")
        self.measures = True

    def link(self) -> CudaLink:
        return CudaLink(self.device)

    def recorder(self) -> Recorder:
        return CudaRecorder(self.device)

    def launch(self, link: Any, work: Callable[[], None]) -> None:
        work()

    def finish(self) -> None:
        torch.get_device_module(self.device).synchronize(self.device)

    def lanes(self) -> str:
        from engine.machine.gpu import lanes_now

        return lanes_now(str(torch.cuda.get_device_properties(self.device).uuid))


def seconds(card: TestedCard, work: Callable[[], object]) -> float:
    """Return the seconds of the fastest of a few runs, after one that is not counted."""
    work()
    times = []
    for _ in range(_REPEATS):
        card.finish()
        begin = time.perf_counter()
        work()
        card.finish()
        times.append(time.perf_counter() - begin)
    return min(times)


def launch_seconds(card: TestedCard, work: Callable[[], object]) -> float:
    """Return the seconds in which the program launches `work`, which the card does later: the mean of many in
    a row, in the fastest of a few runs."""
    work()
    times = []
    for _ in range(_REPEATS):
        card.finish()
        begin = time.perf_counter()
        for _ in range(_LAUNCHES):
            work()
        times.append((time.perf_counter() - begin) / _LAUNCHES)
    card.finish()
    return min(times)
