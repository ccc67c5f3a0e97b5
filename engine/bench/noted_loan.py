"""A loan of experts to the processor that notes how long its layers are expected to take."""

from collections.abc import Mapping, Sequence

from engine.planner.expert_times import ExpertTimes
from engine.streaming.expert_loan import ExpertLoan


class NotedLoan(ExpertLoan):
    """Divides experts as a loaded model does, or lends all that are in RAM, and notes what that is expected
    to take by the seconds measured at loading.

    Attribute: `expected_s`: of all layers so far, the longer of the processor's products and of the copies.
    """

    def __init__(self, times: ExpertTimes, takes_all: bool) -> None:
        super().__init__(times)
        self.expected_s = 0.0
        self._takes_all = takes_all

    def take(self, lacking: Sequence[int], rows: Mapping[int, int]) -> list[int]:
        return list(lacking) if self._takes_all else super().take(lacking, rows)

    def lent(self, rows: Sequence[int], copied: int) -> None:
        super().lent(rows, copied)
        near_s = self.times.exchange_s + self.times.products_s(rows) if rows else 0.0
        self.expected_s += max(near_s, copied * self.times.link_s)

    def ahead(self) -> int:
        return 0 if self._takes_all else super().ahead()
