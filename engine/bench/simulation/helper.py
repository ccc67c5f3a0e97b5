"""A processor that helps a card: of each matrix of the layers, it multiplies the last rows where they lie in
RAM, while the card multiplies the others. Nothing in the engine does so yet; this tells what it would bring.

Both need the same input, which only the card has: the processor begins when the input has reached RAM, and
the card goes on when it has the processor's outputs.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import groupby

from engine.bench.simulation.card import Signal, SimulatedCard
from engine.bench.simulation.clock import VirtualClock
from engine.bench.simulation.model import SimulatedTarget, SizedMatrix
from engine.checkpoints import Weight
from engine.model.reader import layer_of
from engine.planner import Compute

# Seconds until a small copy between card and processor has begun and its end is known, in each direction; an
# estimate.
EXCHANGE_S = 20e-6
ITEM = 2  # bytes of a number in a state


def shared(weights: Mapping[str, Weight], share: float) -> dict[str, Weight]:
    """Return the matrices without those rows of layers that the processor multiplies.

    share: of each matrix's bytes, in 0..1. The head is left whole.
    """
    kept = {}
    for name, weight in weights.items():
        rows, columns = weight.shape
        mine = round(rows * (1 - share)) if layer_of(name) else rows
        spans = tuple(replace(span, nbytes=span.nbytes * mine // rows) for span in weight.spans)
        kept[name] = replace(weight, shape=(mine, columns), spans=spans)
    return kept


@dataclass(frozen=True, slots=True)
class Helper:
    """The processor's part. `share`: of the bytes of each matrix of the layers; `compute`: its speed, of
    which `memory` is what the link leaves of the RAM's bandwidth; `link`: in bytes per second."""

    share: float
    compute: Compute
    link: float

    def seconds(self, matrix: SizedMatrix, rows: int) -> float:
        """Return the seconds of the processor's part of a matrix. matrix: the card's part."""
        of_it = self.share / (1 - self.share)
        products = 2 * matrix.shape[0] * matrix.shape[1] * rows * of_it
        return matrix.nbytes * of_it / self.compute.memory + products / self.compute.flops

    def sending_s(self, matrix: SizedMatrix, rows: int) -> float:
        """Return the seconds in which a matrix's input reaches RAM."""
        return EXCHANGE_S + rows * matrix.shape[1] * ITEM / self.link

    def answering_s(self, matrix: SizedMatrix, rows: int) -> float:
        """Return the seconds in which the processor's outputs reach the card."""
        outputs = matrix.shape[0] * self.share / (1 - self.share)
        return EXCHANGE_S + rows * outputs * ITEM / self.link


def best_share(streamed: float, layers: float, helper_rate: float, link: float) -> float:
    """Return the share of the layers' bytes with which processor and link end together.

    streamed: bytes that the link would move alone; layers: bytes of all layers; helper_rate, link: bytes per
    second.
    """
    return streamed / layers * helper_rate / (helper_rate + link)


def run_shared(
    target: SimulatedTarget, helper: Helper, rows: int, clock: VirtualClock, card: SimulatedCard
) -> None:
    """Run one pass of a target whose matrices are `shared` with the helper."""
    for (layer, _), group in groupby(target.matrices, lambda matrix: (matrix.layer, _input(matrix))):
        matrices = list(group)
        if layer and _input(matrices[0]) == _INPUTS[0]:
            target.attend()
        known = card.used()
        times = _times(known, clock)
        for matrix in matrices:
            target.multiply(matrix, rows)
        if layer:
            card.wait(known)
            sending_s = helper.sending_s(matrices[0], rows)
            clock.sleep_until(times[0] + sending_s + sum(helper.seconds(each, rows) for each in matrices))
            card.compute(sum(helper.answering_s(each, rows) for each in matrices))
    card.wait(card.used())


def _times(event: Signal, clock: VirtualClock) -> list[float]:
    """Return a list to which the time of the event is added when it happens."""
    times: list[float] = []
    event.then(lambda: times.append(clock.seconds))
    return times


# The matrices of a layer that multiply the same input.
_INPUTS = (("q_proj", "k_proj", "v_proj"), ("o_proj",), ("gate_proj", "up_proj"), ("down_proj",))


def _input(matrix: SizedMatrix) -> tuple[str, ...]:
    return next((group for group in _INPUTS if any(name in matrix.name for name in group)), ())
