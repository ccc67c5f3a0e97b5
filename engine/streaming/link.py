"""The link from RAM to a CUDA device. Copies run on a stream of their own; events make copies wait for
computation, and computation wait for copies.

`device_ring` uses the device only through `DeviceLink`, for which tests substitute a fake.
"""

from typing import Any, Protocol

import torch
from torch import Tensor

# A point in the work of a stream. Only the link that made an event looks inside it.
Event = Any


class DeviceLink(Protocol):
    """The interface to a device with memory of its own. Two threads use it: one computes, one copies."""

    def slots(self, count: int, nbytes: int) -> list[Tensor]:
        """Allocate `count` slots in device memory, uint8 [nbytes] each."""

    def slab(self, nbytes: int) -> Tensor:
        """Allocate page-aligned pinned RAM, uint8 [nbytes], from which the device can copy asynchronously.
        Raises RuntimeError if the system provides no more pinned memory."""

    def copy(self, slot: Tensor, source: Tensor, after: Event | None) -> Event:
        """Start copying `source` to `slot` once `after` has happened; return the event of its completion."""

    def used(self) -> Event:
        """Return an event that happens once all computation launched so far is done."""

    def compute_after(self, event: Event) -> None:
        """Make computation launched from now on wait for `event`."""

    def wait(self, event: Event) -> None:
        """Return once `event` has happened."""


def link_to(device: torch.device) -> DeviceLink | None:
    """Return the link to `device`; None for the CPU, which computes where the weights are."""
    return CudaLink(device) if device.type == "cuda" else None


class CudaLink:
    """The `DeviceLink` to a CUDA device."""

    def __init__(self, device: torch.device) -> None:
        self._device = device
        self._stream = torch.cuda.Stream(device)  # type: ignore[no-untyped-call]

    def slots(self, count: int, nbytes: int) -> list[Tensor]:
        return [torch.empty(nbytes, dtype=torch.uint8, device=self._device) for _ in range(count)]

    def slab(self, nbytes: int) -> Tensor:
        return torch.empty(nbytes, dtype=torch.uint8, pin_memory=True)

    def copy(self, slot: Tensor, source: Tensor, after: Event | None) -> Event:
        with torch.cuda.stream(self._stream):
            if after is not None:
                self._stream.wait_event(after)
            slot[: len(source)].copy_(source, non_blocking=True)
            return self._stream.record_event()

    def used(self) -> Event:
        return torch.cuda.current_stream(self._device).record_event()

    def compute_after(self, event: Event) -> None:
        torch.cuda.current_stream(self._device).wait_event(event)

    def wait(self, event: Event) -> None:
        event.synchronize()
