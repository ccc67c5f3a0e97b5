"""History of a run: its newest iterations, and the one in view. No widgets."""

from collections import deque
from dataclasses import dataclass

from app.panel.origins import Origins
from engine.protocol.messages import Answer, IterationDone

MOST = 200  # number of iterations kept; a tree of 1,024 nodes takes about 0.3 MB


@dataclass(frozen=True, slots=True)
class KeptRun:
    """What the panel knows of the run of one answer. answer: None if it is not complete."""

    iterations: tuple[IterationDone, ...]
    origins: Origins
    answer: Answer | None


class RunHistory:
    """Iterations of a run. While live, the newest is in view; while paused, one is held and stays in view.

    Attributes:
        iterations: the iterations kept (the newest ones), oldest first.
    """

    def __init__(self) -> None:
        self.iterations: deque[IterationDone] = deque(maxlen=MOST)
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
        self._held = None

    def add(self, done: IterationDone) -> None:
        self.iterations.append(done)

    def pause(self) -> None:
        """Hold the iteration in view, if there is one."""
        self._held = self.current

    def go_live(self) -> None:
        self._held = None

    def step(self, by: int) -> None:
        """Move by a number of kept iterations (negative: back) and hold the one reached."""
        if not self.iterations or self.current is None:
            return
        numbers = [done.iteration for done in self.iterations]
        number = self.current.iteration
        # A held iteration may no longer be kept; it is then older than all others.
        at = numbers.index(number) if number in numbers else -1
        self._held = self.iterations[min(len(numbers) - 1, max(0, at + by))]

    def show(self, iteration: int) -> bool:
        """Hold an iteration; return False if it is no longer kept."""
        kept = next((done for done in self.iterations if done.iteration == iteration), None)
        if kept is None:
            return False
        self._held = kept
        return True
