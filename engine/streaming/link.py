"""The path from RAM to a CUDA device: copies on a stream of their own, tied to the computing one by events.

`Link` is all that the schedule in `device_ring` knows of the device; tests put a recording one in its place.
"""

from typing import Any, Protocol

import torch
from torch import Tensor

# A point in a stream's work. What it is, only its link knows.
Event = Any


class Link(Protocol):
    """Used from two threads: one computes, one copies."""

    def slots(self, count: int, nbytes: int) -> list[Tensor]:
        """Device memory, uint8 [nbytes] each."""

    def slab(self, nbytes: int) -> Tensor:
        """Host memory that the device can copy from while the CPU goes on, uint8 [nbytes], page-aligned.
        Raises RuntimeError where the system gives no more of it."""

    def copy(self, slot: Tensor, source: Tensor, after: Event | None) -> Event:
        """Begin to copy `source` to `slot` once `after` has happened; the event of its end."""

    def used(self) -> Event:
        """The event after all that has been asked to be computed so far."""

    def compute_after(self, event: Event) -> None:
        """Nothing asked to be computed from now on begins before `event`."""

    def wait(self, event: Event) -> None:
        """Return once `event` has happened."""


def link_to(device: torch.device) -> Link | None:
    """None for the CPU, which computes where the weights are."""
    return CudaLink(device) if device.type == "cuda" else None


class CudaLink:
    """`Link` to a CUDA device."""

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
