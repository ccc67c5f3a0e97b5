"""Predicts the passes of a streamed target of which a processor multiplies a share where it lies in RAM."""

from dataclasses import dataclass
from math import ceil

from engine.planner.loan import ROWS, Helper, try_shares
from engine.planner.machines import Compute, MachineProfile
from engine.planner.outline import Outline
from engine.planner.placement import SLOTS, LayerPlacement
from engine.planner.prediction import Stream, pass_s, stream


@dataclass(frozen=True, slots=True)
class SharedTarget:
    """A target whose streamed layers may be lent. `card`: the speed of the card; `helper`: that of the
    processor."""

    target: Outline
    placement: LayerPlacement
    machine: MachineProfile
    card: Compute
    helper: Helper

    @property
    def in_ram(self) -> int:
        """Bytes of the layers that lie in RAM."""
        layers = zip(self.placement.layers, self.target.layers, strict=True)
        return sum(nbytes for tier, nbytes in layers if tier == "ram")

    def share(self) -> float:
        """Return the share of the streamed bytes that is lent, by predicted seconds; 0 if none."""
        if not self.target.lendable * self.in_ram:
            return 0.0

        def timed(share: float) -> float:
            return max(self.streaming(ROWS, share).s, self.computing_s(ROWS, share))

        return try_shares(timed, self.placement.streamed, 1 / self.processor_s(ROWS)).share

    def streaming(self, rows: int, share: float) -> Stream:
        """Return the seconds that moving the rest takes."""
        return stream(self.placement, self.machine, True, self.target.touched(rows), self._lent(share))

    def computing_s(self, rows: int, share: float) -> float:
        """Return the seconds of a pass if nothing has to be waited for but card and processor.

        Both work at once on the products of one input, of which some pieces are lent, some streamed and some
        resident: all three are spread evenly. Beside what else the card computes (the head, attention), the
        processor rests.
        """
        target, layers = self.target, len(self.target.layers)
        lent = self._lent(share)
        apart_s = self._card_s(rows, 0.0)
        card_s = (self._card_s(rows, 1.0) - apart_s) / sum(target.layers)
        groups_s = sum(
            group.seconds(self, rows, lent / sum(target.layers), card_s) for group in self._groups()
        )
        # What the processor has computed gets to the card: most matrices have `hidden` columns.
        pieces = lent / self._slot
        numbers = rows * self._weights(lent) / target.hidden
        answering_s = pieces * self.helper.exchange_s(numbers / pieces) if lent else 0.0
        return apart_s + layers * groups_s + answering_s

    def processor_s(self, rows: int) -> float:
        """Return the processor's seconds for a stored byte."""
        return self.helper.product_s(1.0, self._weights(1.0), rows, self.target.packing)

    def _groups(self) -> list["_Group"]:
        """Return the products of an average layer, by their inputs."""
        target = self.target
        whole = sum(target.layers) / len(target.layers)
        matrix = min(
            whole / 3, whole * target.hidden * target.widest * len(target.layers) / target.layer_weights
        )
        attention = (whole - 3 * matrix) / 2
        return [
            _Group(target.hidden, attention, max(1, ceil(attention / self._slot))),  # queries, keys, values
            _Group(target.hidden, attention, max(1, ceil(attention / self._slot))),  # output
            _Group(target.hidden, 2 * matrix, 2 * ceil(matrix / self._slot)),  # gate and up
            _Group(target.widest, matrix, ceil(matrix / self._slot)),  # down
        ]

    @property
    def _slot(self) -> float:
        """Bytes of a piece, at most."""
        return self.placement.ring / SLOTS

    def _lent(self, share: float) -> float:
        """Return the lent bytes: a share of all that is streamed, as far as it can be lent."""
        return min(share * self.placement.streamed, self.target.lendable * self.in_ram)

    def _weights(self, nbytes: float) -> float:
        return nbytes * self.target.layer_weights / sum(self.target.layers)

    def _card_s(self, rows: int, of_layers: float) -> float:
        """Return the seconds that the card computes with this share of the layers' weights."""
        return pass_s(self.target, rows, self.card, False, of_layers=of_layers)


@dataclass(frozen=True, slots=True)
class _Group:
    """The products of one input, of so many columns, with matrices of `nbytes` that are in so many pieces."""

    columns: int
    nbytes: float
    pieces: int

    def seconds(self, target: SharedTarget, rows: int, lent: float, card_s: float) -> float:
        """Return the mean seconds in all layers. lent: share of the bytes; card_s: the card's seconds for a
        byte. Only whole pieces are lent, so that a layer has one more or one less than another."""

        def of_layer(near: int) -> float:
            share = near / self.pieces
            sending_s = target.helper.exchange_s(rows * self.columns) if near else 0.0
            near_s = sending_s + target.processor_s(rows) * share * self.nbytes
            return max(card_s * (1 - share) * self.nbytes, near_s)

        fewer = int(lent * self.pieces)
        more = lent * self.pieces - fewer
        return (1 - more) * of_layer(fewer) + more * of_layer(fewer + 1)
