"""The seconds that experts take which a card lacks, and the rule that divides these experts between the link
to it and the processor.

A model that runs follows it with measured seconds (`engine.streaming.expert_loan`), and a plan with predicted
ones (`engine.planner.search`).
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

# The most rows of a pass in which the processor multiplies by experts: those of trees. Passes of more rows
# are those over prompts, which use nearly all experts, and each for many rows.
ROWS = 64
# The processor helps in a layer if this is expected to take less than this share of the time that copying
# takes: expectations are not that exact.
GAIN = 0.9


@dataclass(frozen=True, slots=True)
class ExpertTimes:
    """Seconds that experts take which a card lacks.

    Attributes: `link_s`: until one is copied to the card; `exchange_s`: until rows are in RAM and results on
    the card; `expert_s`: of the processor's products with an expert, whatever the number of rows; `row_s`: of
    these, for each row.
    """

    link_s: float
    exchange_s: float
    expert_s: float
    row_s: float

    def products_s(self, rows: Sequence[int]) -> float:
        """Return the seconds of the processor's products with experts that have so many `rows` each."""
        return len(rows) * self.expert_s + sum(rows) * self.row_s

    def slower(self, factor: float) -> "ExpertTimes":
        """Return the same with a processor whose products take `factor` times as long."""
        return replace(self, expert_s=factor * self.expert_s, row_s=factor * self.row_s)

    def taken(self, rows: Sequence[int]) -> int:
        """Return by how many of the experts that a layer has chosen, and that the card lacks, the processor
        multiplies: by the first ones, while the others are copied. rows: those of each, the fewest first."""
        alone_s = best_s = len(rows) * self.link_s
        best = 0
        for count in range(1, len(rows) + 1):
            near_s = self.exchange_s + self.products_s(rows[:count])
            both_s = max(near_s, (len(rows) - count) * self.link_s)
            if both_s < best_s:
                best, best_s = count, both_s
        return best if best_s < GAIN * alone_s else 0
