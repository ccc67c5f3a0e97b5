"""What a cache of experts has done."""

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class ExpertCounts:
    """Counts of a cache since its start.

    Attributes: `hits`, `late`, `misses`: experts that were in the cache when their mixture chose them, that
    were on their way to it, and that were neither (in the cache of a card is what a copy was launched for);
    `read`: bytes brought into the cache; `predicted`: experts brought before a mixture had chosen; `right`:
    how many of these it chose next; `from_disk`: bytes read from the disk: on the processor all of `read`,
    beside a card those that were not in RAM; `near`: experts that were not in the cache of a card, and by
    which the processor multiplied in RAM; they are no misses; `by_layer`: for each layer, how many experts
    its passes chose, and how many of them were near; `ram`: counts of the cache in RAM through which that of
    a card gets its experts; None if there is none.
    """

    hits: int = 0
    misses: int = 0
    read: int = 0
    predicted: int = 0
    right: int = 0
    from_disk: int = 0
    near: int = 0
    by_layer: Mapping[int, tuple[int, int]] = field(default_factory=dict, compare=False)
    late: int = 0
    ram: "ExpertCounts | None" = None

    @property
    def used(self) -> int:
        """How often passes have used an expert."""
        return self.hits + self.late + self.misses + self.near

    def __sub__(self, before: "ExpertCounts") -> "ExpertCounts":
        """Return what was done since `before`."""
        by_layer = {}
        for layer in self.by_layer.keys() | before.by_layer.keys():
            chosen, near = self.by_layer.get(layer, (0, 0))
            chosen_before, near_before = before.by_layer.get(layer, (0, 0))
            by_layer[layer] = chosen - chosen_before, near - near_before
        return ExpertCounts(
            self.hits - before.hits,
            self.misses - before.misses,
            self.read - before.read,
            self.predicted - before.predicted,
            self.right - before.right,
            self.from_disk - before.from_disk,
            self.near - before.near,
            by_layer,
            self.late - before.late,
            done_since(before.ram, self.ram),
        )


def done_since(before: ExpertCounts | None, now: ExpertCounts | None) -> ExpertCounts | None:
    """Return what was done between two readings; None where there is no cache."""
    return now - before if now and before else now
