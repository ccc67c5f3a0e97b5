"""The last iterations of a run, and which of them is looked at. Knows no widgets."""

from collections import deque

from engine.protocol.messages import IterationDone

MOST = 200  # iterations kept; a tree of 1,024 nodes takes about 0.3 MB


class History:
    """Live, the newest is looked at; paused, one stays in view while others come.

    Attributes: `iterations`, oldest first.
    """

    def __init__(self) -> None:
        self.iterations: deque[IterationDone] = deque(maxlen=MOST)
        self._held: IterationDone | None = None

    @property
    def is_live(self) -> bool:
        return self._held is None

    @property
    def current(self) -> IterationDone | None:
        """The one looked at."""
        return self._held or (self.iterations[-1] if self.iterations else None)

    def clear(self) -> None:
        self.iterations.clear()
        self._held = None

    def add(self, done: IterationDone) -> None:
        self.iterations.append(done)

    def pause(self) -> None:
        """Hold the newest; nothing where there is none."""
        self._held = self.current

    def go_live(self) -> None:
        self._held = None

    def step(self, by: int) -> None:
        """Hold the one `by` after (before, where negative) the one looked at, as far as they are kept."""
        if not self.iterations or self.current is None:
            return
        numbers = [done.iteration for done in self.iterations]
        here = self.current.iteration
        # One that is held may have been dropped meanwhile: then it lies before all others.
        at = numbers.index(here) if here in numbers else -1
        self._held = self.iterations[min(len(numbers) - 1, max(0, at + by))]

    def show(self, iteration: int) -> bool:
        """Hold this one; False where it is not kept."""
        found = next((done for done in self.iterations if done.iteration == iteration), None)
        if found is None:
            return False
        self._held = found
        return True
