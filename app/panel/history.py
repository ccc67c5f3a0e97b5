"""History of a run: its newest iterations, and the one in view. No widgets."""

from collections import deque
from dataclasses import dataclass

from app.panel.origins import Origins
from engine.protocol.messages import Answer, IterationDone

# Nodes in all trees that are kept; 1,024 nodes take about 0.3 MB. With 40 nodes in a tree, the iterations of
# an answer of 10,000 tokens are kept.
MOST_NODES = 200_000


@dataclass(frozen=True, slots=True)
class KeptRun:
    """What the panel knows of the run of one answer. answer: None if it is not complete."""

    iterations: tuple[IterationDone, ...]
    origins: Origins
    answer: Answer | None


class RunHistory:
    """Iterations of a run. While live, the newest is in view; while paused, one is held and stays in view.

    Attributes:
        iterations: the iterations kept, oldest first: all, unless their trees are too large together.
    """

    def __init__(self) -> None:
        self.iterations: deque[IterationDone] = deque()
        self._nodes = 0  # in all trees, counting the root
        self._held: IterationDone | None = None

    @property
    def is_live(self) -> bool:
        return self._held is None

    @property
    def current(self) -> IterationDone | None:
        """The iteration in view."""
        return self._held or (self.iterations[-1] if self.iterations else None)

    def clear(self) -> None:
        self.iterations.clear()
        self._nodes = 0
        self._held = None

    def add(self, done: IterationDone) -> None:
        self.iterations.append(done)
        self._nodes += _size(done)
        while self._nodes > MOST_NODES and len(self.iterations) > 1:
            self._nodes -= _size(self.iterations.popleft())

    def pause(self) -> None:
        """Hold the iteration in view, if there is one."""
        self._held = self.current

    def go_live(self) -> None:
        self._held = None

    @property
    def place(self) -> int:
        """The place in `iterations` of the one in view. A held iteration may no longer be kept; it is then
        older than all others, and its place is -1."""
        if self._held is None:
            return len(self.iterations) - 1
        numbers = (place for place, done in enumerate(self.iterations) if done is self._held)
        return next(numbers, -1)

    def step(self, by: int) -> None:
        """Move by a number of kept iterations (negative: back) and hold the one reached."""
        self.hold(self.place + by)

    def hold(self, place: int) -> None:
        """Hold the iteration at a place in `iterations`, or the nearest one."""
        if self.iterations:
            self._held = self.iterations[min(len(self.iterations) - 1, max(0, place))]

    def show(self, iteration: int) -> bool:
        """Hold an iteration; return False if it is no longer kept."""
        kept = next((done for done in self.iterations if done.iteration == iteration), None)
        if kept is None:
            return False
        self._held = kept
        return True


def _size(done: IterationDone) -> int:
    return 1 + len(done.tree.tokens)
