"""Events on their way to whoever reads them: the engine waits for nobody. Never imports torch or Qt."""

import threading
from collections import deque
from collections.abc import Callable

from engine.protocol.messages import (
    Event,
    IterationDone,
    LoadProgress,
    PassProgress,
    PrefillProgress,
    TreeGrown,
)

# A window that stopped reading may cost it intermediate trees, never memory without end.
MOST_WAITING_EVENTS = 256
_DROPPABLE = (TreeGrown, PassProgress, IterationDone, PrefillProgress, LoadProgress)


class Outbox:
    """Sends events from a thread of its own. `put` never blocks; of progress and trees, the oldest go
    first."""

    def __init__(self, send: Callable[[Event], None]) -> None:
        """send: may block; an OSError says that nobody receives any more."""
        self._deliver = send
        self._waiting: deque[Event | None] = deque()
        self._changed = threading.Condition()
        self._thread = threading.Thread(target=self._send, name="outbox", daemon=True)
        self._thread.start()

    def put(self, event: Event | None) -> None:
        """None ends the sending."""
        with self._changed:
            newest = self._waiting[-1] if self._waiting else None
            superseded = type(newest) is type(event) and isinstance(event, _DROPPABLE)
            if superseded and not isinstance(event, IterationDone):
                self._waiting.pop()
            elif isinstance(event, _DROPPABLE) and len(self._waiting) >= MOST_WAITING_EVENTS:
                self._waiting.remove(next(old for old in self._waiting if isinstance(old, _DROPPABLE)))
            self._waiting.append(event)
            self._changed.notify()

    def close(self) -> None:
        """Send what waits, then return."""
        self.put(None)
        self._thread.join(timeout=2.0)

    def _send(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._waiting)
                event = self._waiting.popleft()
            if event is None:
                return
            try:
                self._deliver(event)
            except OSError:
                return
