"""Measures the times of passes, each with its spread over repeated runs."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from statistics import median
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from engine.model.interface import Device, Model

CONTEXT = 128  # number of committed tokens that the rows of a measured pass attend to


@dataclass(frozen=True, slots=True)
class Timings:
    """Seconds of repeated runs: the median, the fastest and the slowest."""

    s: float
    fastest_s: float
    slowest_s: float

    def times(self, factor: float) -> "Timings":
        return Timings(self.s * factor, self.fastest_s * factor, self.slowest_s * factor)


def milliseconds(times: Timings) -> str:
    """Return the median in milliseconds, with the fastest and the slowest run."""
    return f"{1e3 * times.s:.4g} ({1e3 * times.fastest_s:.4g}–{1e3 * times.slowest_s:.4g})"


@dataclass(frozen=True, slots=True)
class Pass:
    """The times of a pass over `rows` rows.

    `resident_s`: with all weights on the device. `streamed_s`: with weights streamed under the limit.
    `link_s`: only to transfer the streamed bytes, without computing. `bound_s`: max(link_s, resident_s).
    """

    rows: int
    resident_s: Timings
    link_s: Timings
    streamed_s: Timings
    bound_s: float

    @property
    def ratio(self) -> float:
        return self.streamed_s.s / self.bound_s


def text_pass(model: "Model", rows: int, behind: int = CONTEXT) -> Callable[[], None]:
    """Return a function that runs a pass over `rows` rows of plain text after `behind` tokens. Each call
    first drops the rows of the previous call."""
    from engine.model.sequence import Sequence

    sequence = Sequence(model, behind + rows)
    sequence.extend([1] * behind)
    visible = np.tril(np.ones((rows, rows), np.bool_))
    tokens, positions = [2] * rows, list(range(behind, behind + rows))

    def run() -> None:
        sequence.rewind(behind)
        sequence.consider(tokens, positions, visible)
        finish(model.device)

    return run


def finish(device: "Device") -> None:
    """Wait until the device has completed all queued work."""
    if device != "cpu":
        import torch

        torch.get_device_module(device).synchronize(device)


def timed(work: Callable[[], Any], repeats: int, clock: Callable[[], float] = time.perf_counter) -> Timings:
    """Time `repeats` runs of `work` by `clock`, after a first run that is not counted."""
    return _summary([seconds(work, clock) for _ in range(repeats + 1)][1:])


def in_turns(
    first: Callable[[], Any],
    second: Callable[[], Any],
    repeats: int,
    clock: Callable[[], float] = time.perf_counter,
) -> tuple[Timings, Timings]:
    """Time `first` and `second` alternately by `clock`, which returns seconds.

    Before each timed run, the same function runs once without being timed, so that the ring holds what a run
    of this function leaves there, not a run of the other.
    """
    results: tuple[list[float], list[float]] = ([], [])
    for _ in range(repeats):
        for work, measured in zip((first, second), results, strict=True):
            work()
            measured.append(seconds(work, clock))
    return _summary(results[0]), _summary(results[1])


def seconds(work: Callable[[], Any], clock: Callable[[], float] = time.perf_counter) -> float:
    """Time one run of `work` by `clock`."""
    begin = clock()
    work()
    return clock() - begin


def _summary(measured: list[float]) -> Timings:
    return Timings(median(measured), min(measured), max(measured))
