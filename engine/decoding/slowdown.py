"""By how much a draft that computes beside the target slows its passes."""

from collections import defaultdict, deque
from collections.abc import Sequence
from statistics import mean, median
from typing import NamedTuple

from engine.decoding.iteration import Iterated

LAST = 8  # passes of a size from which their time follows
ENOUGH = 2  # passes of a size beside which a draft computed, before they are compared with the others
LEAST = 0.01  # share of a pass beside which a draft must have computed for the pass to show what that costs


class PassBeside(NamedTuple):
    """A pass, and what a draft did beside it: the seconds of all rounds, and the number of those that were
    not cut off, with their seconds."""

    size: int  # of the tree
    target_s: float
    ahead_s: float
    rounds: int
    rounds_s: float


class Slowdown:
    """The seconds by which a round ahead lengthens a pass of the target, from passes over trees of the same
    size beside which a draft computed, and beside which it did not.

    The end of a pass cuts off a round that has slowed it, too. So what a pass has cost is compared with the
    time for which the draft computed, and not with the number of its rounds.
    """

    def __init__(self, lasting: int) -> None:
        """lasting: number of later passes after which a pass is forgotten. As long as rounds are thought to
        be dear, no pass shows what they cost; once those are forgotten that did, rounds are tried again."""
        self._passes: deque[PassBeside] = deque(maxlen=lasting)

    def observe(self, iteration: Iterated) -> None:
        self._passes.append(
            PassBeside(
                len(iteration.tree),
                iteration.target_s,
                iteration.ahead_s,
                iteration.rounds_ahead,
                iteration.rounds_ahead_s,
            )
        )

    @property
    def round_s(self) -> float:
        """Seconds that a round costs the target; 0 until passes of both kinds have shown it."""
        beside = [each for each in self._passes if each.ahead_s > LEAST * each.target_s]
        # A pass that has cut off its first round at once is of neither kind: such passes are the shortest.
        alone = by_size([each for each in self._passes if not each.ahead_s])
        costs = [
            (median(each.target_s for each in passes) - median(each.target_s for each in alone[size]))
            / mean(each.ahead_s for each in passes)
            for size, passes in by_size(beside).items()
            if len(passes) >= ENOUGH and size in alone
        ]
        return max(0.0, median(costs)) * mean_round_s(beside) if costs else 0.0


def by_size(passes: Sequence[PassBeside]) -> dict[int, list[PassBeside]]:
    """Return the last passes by the size of the tree."""
    found: defaultdict[int, list[PassBeside]] = defaultdict(list)
    for each in passes:
        found[each.size].append(each)
    return {size: those[-LAST:] for size, those in found.items()}


def mean_round_s(passes: Sequence[PassBeside]) -> float:
    """Return the seconds of a round beside the passes; if all were cut off, those of the longest part."""
    rounds = sum(each.rounds for each in passes)
    if not rounds:
        return max(each.ahead_s for each in passes)
    return sum(each.rounds_s for each in passes) / rounds
