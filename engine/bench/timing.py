"""Times of passes, each with its spread."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from statistics import median
from typing import Any

import torch

from engine.model import Model
from engine.sequence import Sequence

CONTEXT = 128  # committed tokens that the rows of a measured pass see


@dataclass(frozen=True, slots=True)
class Timed:
    """Seconds: the median of some repeats, the fastest, and the slowest."""

    s: float
    fastest_s: float
    slowest_s: float

    def times(self, factor: float) -> "Timed":
        return Timed(self.s * factor, self.fastest_s * factor, self.slowest_s * factor)


@dataclass(frozen=True, slots=True)
class Pass:
    """A pass over `rows` rows: `resident_s`, all weights on the device; `streamed_s`; `link_s`, bringing the
    streamed bytes and computing nothing; `bound_s` = max(link, resident)."""

    rows: int
    resident_s: Timed
    link_s: Timed
    streamed_s: Timed
    bound_s: float

    @property
    def ratio(self) -> float:
        return self.streamed_s.s / self.bound_s


def text_pass(model: Model, rows: int) -> Callable[[], None]:
    """Runs `rows` rows of plain text behind CONTEXT tokens, and forgets them."""
    sequence = Sequence(model, CONTEXT + rows)
    sequence.extend([1] * CONTEXT)
    visible = torch.ones(rows, rows, dtype=torch.bool).tril()
    tokens, positions = [2] * rows, list(range(CONTEXT, CONTEXT + rows))

    def run() -> None:
        sequence.rewind(CONTEXT)
        sequence.consider(tokens, positions, visible)
        finish(model.device)

    return run


def finish(device: torch.device) -> None:
    """Wait until the device has done what it was asked."""
    if device.type == "cuda":
        torch.cuda.synchronize(device)


def timed(work: Callable[[], Any], repeats: int) -> Timed:
    """After one run that is not counted."""
    return _summary([seconds(work) for _ in range(repeats + 1)][1:])


def in_turns(first: Callable[[], Any], second: Callable[[], Any], repeats: int) -> tuple[Timed, Timed]:
    """Each after one run of its own that is not counted: the ring is then as its kind of pass leaves it."""
    results: tuple[list[float], list[float]] = ([], [])
    for _ in range(repeats):
        for work, found in zip((first, second), results, strict=True):
            work()
            found.append(seconds(work))
    return _summary(results[0]), _summary(results[1])


def seconds(work: Callable[[], Any]) -> float:
    begin = time.perf_counter()
    work()
    return time.perf_counter() - begin


def _summary(measured: list[float]) -> Timed:
    return Timed(median(measured), min(measured), max(measured))
