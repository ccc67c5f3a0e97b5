"""By how much a draft that computes beside the target slows its passes."""

from collections import deque
from statistics import mean, median

from engine.decoding.iteration import Iterated

LAST = 8  # passes of a size from which their time follows
ENOUGH = 2  # passes with rounds ahead, of a size, before they are compared with those without


class Slowdown:
    """The seconds by which a round ahead lengthens a pass of the target, from passes over trees of the same
    size with such rounds and without."""

    def __init__(self) -> None:
        # By the size of the tree: seconds and rounds of passes with rounds beside them; seconds of others.
        self._beside: dict[int, deque[tuple[float, int]]] = {}
        self._alone: dict[int, deque[float]] = {}

    def observe(self, iteration: Iterated) -> None:
        size, seconds, rounds = len(iteration.tree), iteration.target_s, iteration.rounds_ahead
        if rounds:
            self._beside.setdefault(size, deque(maxlen=LAST)).append((seconds, rounds))
        else:
            self._alone.setdefault(size, deque(maxlen=LAST)).append(seconds)

    def forget(self) -> None:
        """Forget the passes with rounds: as long as rounds are thought to be dear, there are no others."""
        self._beside.clear()

    @property
    def round_s(self) -> float:
        """Seconds that a round costs the target; 0 until passes of both kinds have shown it."""
        costs = [
            (median(s for s, _ in passes) - median(self._alone[size])) / mean(rounds for _, rounds in passes)
            for size, passes in self._beside.items()
            if len(passes) >= ENOUGH and size in self._alone
        ]
        return max(0.0, median(costs)) if costs else 0.0
