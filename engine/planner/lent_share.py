"""The rule by which weights in RAM are lent to a processor beside a graphics card, and its speed there.

A model that is loaded tries shares (`engine.streaming.lent_chunks`), the simulation simulates them, and a
plan predicts them (`engine.planner.shared_target`), all by this rule.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

from engine.planner.machines import Compute

# The rows of the passes that are timed, and the most of a pass in which the processor helps: for more, it
# takes longer than a card does.
ROWS = 32
# The processor helps if a pass then takes less than this share of its time: trees of ROWS rows give a tenth
# fewer tokens per pass than those of twice as many.
GAIN = 0.85
# The shares that are tried, as parts of the one with which processor and link would end together: both use
# the RAM's bandwidth, so that a smaller one may be faster.
TRIED = (1, 3 / 4, 1 / 2)

# Seconds until a small copy between card and processor has begun and its end is known, in each direction; an
# estimate.
EXCHANGE_S = 20e-6
ITEM = 4  # bytes of a number that is exchanged


@dataclass(frozen=True, slots=True)
class Tried:
    """The outcome of trying shares. `alone_s`: seconds of a pass without the processor; `best_s`: those with
    the share `best`, which is the fastest of those tried."""

    alone_s: float
    best: float
    best_s: float

    @property
    def share(self) -> float:
        """The share to use: 0 if the processor does not make passes faster."""
        return self.best if self.best_s < GAIN * self.alone_s else 0.0


def try_shares(timed: Callable[[float], float], nbytes: float, processor: float) -> Tried:
    """Time passes without the processor's help, and with some shares.

    timed: returns the seconds of a pass of ROWS rows with a share of `nbytes`, in 0..1, lent. nbytes: what a
    pass moves without help. processor: the bytes that the processor multiplies by in a second.
    """
    alone_s = timed(0)
    most = processor_share(processor, nbytes / alone_s)
    times = {share: timed(share) for share in (most * part for part in TRIED)}
    best = min(times, key=lambda share: times[share])
    return Tried(alone_s, best, times[best])


def processor_share(processor: float, link: float) -> float:
    """Return the share of what crosses the link with which processor and link end together. processor, link:
    bytes of weights per second."""
    return processor / (processor + link)


@dataclass(frozen=True, slots=True)
class Helper:
    """A processor beside a card. `compute`: its speed, of which `memory` is what the link leaves of the RAM's
    bandwidth; `link`: in bytes per second."""

    compute: Compute
    link: float

    @classmethod
    def beside(cls, processor: Compute, link: float) -> "Helper":
        """Return the helper that a processor is while the link takes its part of the RAM's bandwidth.
        processor: its speed with compiled passes, with all of that bandwidth."""
        return cls(replace(processor, memory=max(1.0, processor.memory - link)), link)

    def product_s(self, nbytes: float, weights: float, rows: int, packing: float = 1.0) -> float:
        """Return the seconds of products with `rows` rows. nbytes: of the `weights` as stored, which are
        packed into tiles in each pass. packing: as in `Outline`."""
        packing_s = nbytes * self.compute.moving * packing
        return packing_s + nbytes / self.compute.memory + 2 * weights * rows / self.compute.flops

    def exchange_s(self, numbers: float) -> float:
        """Return the seconds in which so many numbers, an input or a product, get to the other side."""
        return EXCHANGE_S + numbers * ITEM / self.link
