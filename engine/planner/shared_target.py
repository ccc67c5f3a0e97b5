"""Predicts the passes of a streamed target of which a processor multiplies a share where it lies in RAM."""

from collections.abc import Mapping
from dataclasses import dataclass

from engine.planner.layer_placement import LayerPlacement
from engine.planner.lent_share import ROWS, Helper, try_shares
from engine.planner.machines import Compute, MachineProfile
from engine.planner.outline import Outline
from engine.planner.pieces import Near, Product, near_products
from engine.planner.prediction import Stream, launching_s, pass_s, stream
from engine.planner.tiers import SLOTS, Tier


@dataclass(frozen=True, slots=True)
class SharedTarget:
    """A target whose streamed layers may be lent. `card`: the speed of the card; `helper`: that of the
    processor."""

    target: Outline
    placement: LayerPlacement
    machine: MachineProfile
    card: Compute
    helper: Helper

    def share(self) -> float:
        """Return the share of the streamed bytes that is lent at most, by predicted seconds; 0 if none."""
        if not self._lendable:
            return 0.0

        def timed(share: float) -> float:
            streaming = self.streaming(ROWS, share)
            busy_s = max(streaming.card_s(self.computing_s(ROWS, share)), self.launching_s(ROWS, share))
            return max(streaming.s, busy_s)

        return try_shares(timed, self.placement.streamed, 1 / self.processor_s(ROWS)).share

    def lent(self, share: float) -> int:
        """Return the bytes that are lent: as many whole pieces as a share of all that is streamed has."""
        return sum(near.nbytes * count for near, count in self._near(share).items())

    def streaming(self, rows: int, share: float) -> Stream:
        """Return the seconds that moving the rest takes."""
        return stream(self.placement, self.machine, True, self.target.touched(rows), self.lent(share))

    def computing_s(self, rows: int, share: float) -> float:
        """Return the seconds of a pass if nothing has to be waited for but card and processor.

        Both work at once on the pieces of one matrix, and the card goes on when it has both parts of the
        product. A lent piece may thus take longer than the card takes for the whole matrix. Beside what else
        the card computes (the head, attention), the processor rests.
        """
        apart_s = self._card_s(rows, 0.0)
        card_s = (self._card_s(rows, 1.0) - apart_s) / sum(self.target.layers)
        seconds = self._card_s(rows, 1.0)
        for near, count in self._near(share).items():
            columns, whole = near.product.columns, near.product.nbytes
            sending_s = self.helper.exchange_s(rows * columns)
            near_s = sending_s + self.processor_s(rows) * near.nbytes
            # What the processor has computed gets to the card, piece by piece.
            answering_s = sum(
                self.helper.exchange_s(rows * self._weights(nbytes) / columns) for nbytes in near.pieces
            )
            together_s = max(card_s * (whole - near.nbytes), near_s) + answering_s
            seconds += count * (together_s - card_s * whole)
        return seconds

    def launching_s(self, rows: int, share: float) -> float:
        """Return the seconds in which the processor launches what the card multiplies."""
        own = 1 - self.lent(share) / (sum(self.target.layers) + self.target.head)
        return own * launching_s(self.target, self.placement, rows, self.card)

    def processor_s(self, rows: int) -> float:
        """Return the processor's seconds for a stored byte."""
        return self.helper.product_s(1.0, self._weights(1.0), rows, self.target.packing)

    def _near(self, share: float) -> Mapping[Near, int]:
        """Return the products of which the processor multiplies a part, and how often each occurs."""
        return near_products(
            self._products(),
            len(self.target.layers),
            self.placement.ring // SLOTS,
            (self._in_tier("device") + self.placement.spare, self._lendable),
            int(share * self.placement.streamed),
        )

    def _products(self) -> tuple[Product, ...]:
        """Return the products of an average layer, in the order of use."""
        target, layers = self.target, len(self.target.layers)
        whole = sum(target.layers) / layers
        of_weight = sum(target.layers) / target.layer_weights
        matrix = min(whole / 3, of_weight * target.hidden * target.widest)
        attention = whole - 3 * matrix
        keys = min(attention / 4, of_weight * target.hidden * target.kv_row / (2 * layers))
        queries = attention / 2 - keys
        return (
            *(Product(target.hidden, int(nbytes)) for nbytes in (queries, keys, keys, queries)),
            *(Product(target.hidden, int(matrix)),) * 2,  # gate and up
            Product(target.widest, int(matrix)),
        )

    @property
    def _lendable(self) -> int:
        """Bytes that can be lent."""
        return int(self.target.lendable * self._in_tier("ram"))

    def _in_tier(self, tier: Tier) -> int:
        """Bytes of the layers in a tier."""
        layers = zip(self.placement.layers, self.target.layers, strict=True)
        return sum(nbytes for place, nbytes in layers if place == tier)

    def _weights(self, nbytes: float) -> float:
        return nbytes * self.target.layer_weights / sum(self.target.layers)

    def _card_s(self, rows: int, of_layers: float) -> float:
        """Return the seconds that the card computes with this share of the layers' weights."""
        return pass_s(self.target, rows, self.card, False, of_layers=of_layers)
