"""A queue of events to send, so that the engine never waits for the receiver. Never imports torch or Qt."""

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

# When this many events wait because the window does not read, progress events and trees are dropped, so that
# the queue does not grow without limit.
MOST_WAITING_EVENTS = 256
_DROPPABLE = (TreeGrown, PassProgress, IterationDone, PrefillProgress, LoadProgress)


class Outbox:
    """A queue of events, and the thread that sends them. `put` never waits for the receiver.

    A new progress event or growing tree replaces one of the same type at the end of the queue. If the queue
    is full, the oldest progress events and trees are dropped.
    """

    def __init__(self, send: Callable[[Event], None]) -> None:
        """send: a function that sends an event; may block, and raises OSError once the receiver has gone."""
        self._deliver = send
        self._waiting: deque[Event | None] = deque()
        self._changed = threading.Condition()
        self._thread = threading.Thread(target=self._send, name="outbox", daemon=True)
        self._thread.start()

    def put(self, event: Event | None) -> None:
        """Queue an event; None ends the thread."""
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
        """Send the queued events and end the thread. Returns after two seconds at the latest."""
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
