"""Which experts the processor multiplies by where they lie in RAM, so that they cross no link to a card."""

from collections.abc import Mapping, Sequence

from engine.planner.expert_times import ExpertTimes

# The share of what is expected of the processor that its last products make up.
_NEWS = 0.1
# What a layer that left the processor out takes back of that, so that it is tried again when others that took
# its time have ended.
_FORGOTTEN = 0.002


class ExpertLoan:
    """Divides the experts that a card lacks, layer by layer, by seconds that were measured when the model was
    loaded, corrected by those of the last products.

    Attributes: `times`, those measured at loading; `ahead`: how many experts can be copied to the card for
    later passes in the time for which the link has stood still.
    """

    def __init__(self, times: ExpertTimes) -> None:
        self.times = times
        self._slower = 1.0  # than at loading
        self._still_s = 0.0  # for which the link has stood still since `ahead` allowed a copy

    def take(self, lacking: Sequence[int], rows: Mapping[int, int]) -> list[int]:
        """Return those of the experts that a layer has chosen, and that the card lacks, by which the
        processor multiplies: those with the fewest rows. lacking: among equals, those are taken first that
        come first. rows: their number, by expert."""
        now = self.times.slower(self._slower)
        order = sorted(lacking, key=lambda expert: rows[expert])
        of_each = [rows[expert] for expert in order]
        count = now.taken(of_each)
        if order and not count:
            self._slower += _FORGOTTEN * (1 - self._slower)
        return order[:count]

    def lent(self, rows: Sequence[int], copied: int) -> None:
        """Note that the processor multiplies by experts of so many rows each, while so many others are copied
        to the card. For the rest of that time, the link stands still."""
        if rows:
            now = self.times.slower(self._slower)
            near_s = now.exchange_s + now.products_s(rows)
            self._still_s += max(0.0, near_s - copied * now.link_s)

    def ahead(self) -> int:
        """Return how many experts can be copied for later passes meanwhile: at most one, in the time for
        which the link has stood still beside the processor's products. That time is then used up."""
        if self._still_s < self.times.link_s:
            return 0
        self._still_s = 0.0
        return 1

    def done(self, rows: Sequence[int], seconds: float) -> None:
        """Note that products with experts of so many rows each have taken so long."""
        expected_s = self.times.products_s(rows)
        if expected_s > 0:
            self._slower += _NEWS * (seconds / expected_s - self._slower)
