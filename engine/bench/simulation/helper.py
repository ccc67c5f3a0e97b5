"""A processor that helps a card: it multiplies by chunks that the engine's own `Lending` lends it, where they
lie in RAM.

Both need the same input, which only the card has: the processor begins when the input has reached RAM, and
the card goes on when it has the processor's outputs.
"""

from collections.abc import Sequence
from itertools import groupby

from engine.bench.simulation.card import Signal, SimulatedCard, Unit
from engine.bench.simulation.clock import VirtualClock
from engine.bench.simulation.model import SimulatedTarget, SizedMatrix
from engine.compiled.matrix import can_tile
from engine.planner.lent_share import ROWS, Helper
from engine.planner.tiles import PACKING
from engine.streaming import Streamer
from engine.streaming.lent_chunks import Lending


class HelpedTarget:
    """A simulated target that lends chunks to a processor. Attribute: `lending`."""

    def __init__(
        self, target: SimulatedTarget, helper: Helper, clock: VirtualClock, card: SimulatedCard
    ) -> None:
        self._target, self._helper, self._clock, self._card = target, helper, clock, card
        self._processor = Unit(clock, 1)
        self._near: set[SizedMatrix] = set()
        assert target.streamer is not None
        self._chunks = _can_be_lent(target.streamer)
        sizes = {number: sum(each.nbytes for each in chunk) for number, chunk in self._chunks.items()}
        self.lending = Lending(target.streamer, sizes, self._turn)

    def choose_share(self) -> None:
        """Choose as the engine does when it has loaded a model. Called on the clock."""
        if not self._chunks:
            return

        def timed() -> float:
            began = self._clock.seconds
            self.run(ROWS)
            return self._clock.seconds - began

        chunk = next(iter(self._chunks.values()))
        seconds = sum(self._product_s(each, ROWS) for each in chunk)
        self.lending.choose(timed, sum(each.nbytes for each in chunk) / seconds)

    def run(self, rows: int) -> None:
        """Run one pass over `rows` rows, in the order of `engine.quantization.PackedLinear`: the processor
        computes its products while the card's are launched."""
        self.lending.begin(rows)
        layer = ""
        for _, group in groupby(self._target.matrices, lambda matrix: matrix.name):
            matrices = list(group)
            if matrices[0].layer not in ("", layer):
                self._target.attend()
            layer = matrices[0].layer
            near = [matrix for matrix in matrices if matrix in self._near]
            done = self._start(near, rows) if near else None
            for matrix in matrices:
                if matrix not in self._near:
                    self._target.multiply(matrix, rows)
            if done is not None:
                self._card.wait(done)
                self._card.compute(sum(self._helper.exchange_s(rows * matrix.shape[0]) for matrix in near))
        self._card.wait(self._card.used())

    def _start(self, near: Sequence[SizedMatrix], rows: int) -> Signal:
        """Start the products of one input, and return the event of their end."""
        sending_s = self._helper.exchange_s(rows * near[0].shape[1])
        product_s = sum(self._product_s(each, rows) for each in near)
        return self._processor.launch(0, sending_s + product_s, self._card.used())

    def _product_s(self, matrix: SizedMatrix, rows: int) -> float:
        weights, packing = matrix.shape[0] * matrix.shape[1], PACKING.get(matrix.format.name, 1.0)
        return self._helper.product_s(matrix.nbytes, weights, rows, packing)

    def _turn(self, number: int, on: bool) -> None:
        change = self._near.update if on else self._near.difference_update
        change(self._chunks[number])


def _can_be_lent(streamer: Streamer) -> dict[int, list[SizedMatrix]]:
    """Return the chunks that `engine.torch_model.near_products` would lend, by number."""
    found: dict[int, list[SizedMatrix]] = {}
    for number, chunk in streamer.lendable.items():
        matrices = [matrix for matrix, _ in chunk if isinstance(matrix, SizedMatrix)]
        if all(each.layer and can_tile(each.format.name, each.shape) for each in matrices):
            found[number] = matrices
    return found
