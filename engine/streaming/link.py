"""The link from RAM to a CUDA device. Copies run on a stream of their own; events make copies wait for
computation, and computation wait for copies. The one module here that needs torch.

Where a card does not bear that, copies take turns with computation on one stream, or start from memory that
is not pinned (`engine.ways`).
"""

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from engine import ways
from engine.streaming.device_ring import DeviceLink
from engine.streaming.disk import memory
from engine.streaming.pinned import PageLocks, driver_locks, pinned


def link_to(device: torch.device) -> DeviceLink | None:
    """Return the link to `device`; None for the CPU, which computes where the weights are."""
    return None if device.type == "cpu" else CudaLink(device)


class StreamPoint:
    """A point in the work of a stream: an event that marks another point once nobody holds this one. The
    driver thus makes no event for each piece. What waits for the event goes on waiting for the point that it
    marked then."""

    __slots__ = ("_unused", "event")

    def __init__(self, event: torch.cuda.Event, unused: list[torch.cuda.Event]) -> None:
        self.event = event
        self._unused = unused

    def __del__(self) -> None:
        self._unused.append(self.event)


class CudaLink:
    """The `DeviceLink` to a CUDA device."""

    def __init__(self, device: torch.device) -> None:
        self._device = device
        self._card = card = torch.get_device_module(device)  # torch.cuda
        self._pins = ways.taken("copies") == "pinned"
        self._stream = card.Stream(device) if ways.taken("streams") == "two" else card.default_stream(device)
        card.synchronize(device)  # so that this thread has a context, whichever stream it is
        # ROCm's torch calls its devices CUDA devices, too, but there is no such driver.
        self._locks: PageLocks | None = None if torch.version.hip else driver_locks()
        self._unused: list[torch.cuda.Event] = []

    def slots(self, count: int, nbytes: int) -> list[Tensor]:
        with torch.inference_mode(False):  # usable inside and outside inference mode
            return [torch.empty(nbytes, dtype=torch.uint8, device=self._device) for _ in range(count)]

    def spare_nbytes(self) -> int:
        free, _ = self._card.mem_get_info(self._device)
        kept = self._card.memory_reserved(self._device) - self._card.max_memory_allocated(self._device)
        self._card.reset_peak_memory_stats(self._device)
        return int(free + kept)  # torch keeps memory that passes give back

    def slab(self, nbytes: int) -> NDArray[np.uint8]:
        if not self._pins:
            return memory(nbytes)
        if self._locks is None:
            return torch.empty(nbytes, dtype=torch.uint8, pin_memory=True).numpy()
        return pinned(nbytes, self._locks)

    def copy(self, slot: Tensor, source: NDArray[np.uint8], after: StreamPoint) -> StreamPoint:
        with self._card.stream(self._stream):
            self._stream.wait_event(after.event)
            slot[: len(source)].copy_(torch.from_numpy(source), non_blocking=self._pins)
            return self._point(self._stream)

    def used(self) -> StreamPoint:
        return self._point(self._card.current_stream(self._device))

    def compute_after(self, event: StreamPoint) -> None:
        self._card.current_stream(self._device).wait_event(event.event)

    def wait(self, event: StreamPoint) -> None:
        event.event.synchronize()

    def _point(self, stream: torch.cuda.Stream) -> StreamPoint:
        """Return the point behind all work of `stream` so far."""
        try:
            event = self._unused.pop()
        except IndexError:  # all are held; several threads may ask
            event = self._card.Event()
        return StreamPoint(stream.record_event(event), self._unused)
