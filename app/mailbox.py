"""Events between the engine's thread and the window's: bounded, however slow the reader. Knows no Qt."""

import threading

from engine.protocol.messages import (
    Event,
    IterationDone,
    LoadProgress,
    PassProgress,
    PrefillProgress,
    TextDelta,
    TreeGrown,
)

MOST_VERDICTS = 32  # more iterations than a model ever makes between two looks into the box


class Mailbox:
    """Keeps what is not yet read. Text is joined, never dropped; of growing trees and of progress only the
    newest stays, of verdicts the newest 32.

    `put` and `take` may be called from any thread.
    """

    def __init__(self) -> None:
        self._events: list[Event] = []
        self._lock = threading.Lock()

    def put(self, event: Event) -> bool:
        """Add an event; True where the box was empty: the reader is woken once, not for each event."""
        with self._lock:
            was_empty = not self._events
            self._add(event)
            return was_empty

    def take(self) -> list[Event]:
        """Everything that waits, oldest first; the box is empty afterwards."""
        with self._lock:
            events, self._events = self._events, []
            return events

    def _add(self, event: Event) -> None:
        match event:
            case TextDelta() if self._join_text(event):
                return
            case TreeGrown():
                self._drop(TreeGrown)
            case IterationDone():  # its own tree is newer than any that was still growing
                self._drop(TreeGrown, PassProgress)
                self._drop_oldest_verdict()
            case LoadProgress() | PrefillProgress() | PassProgress():
                self._drop(type(event))
        self._events.append(event)

    def _drop(self, *kinds: type[Event]) -> None:
        self._events = [event for event in self._events if not isinstance(event, kinds)]

    def _drop_oldest_verdict(self) -> None:
        verdicts = [event for event in self._events if isinstance(event, IterationDone)]
        if len(verdicts) >= MOST_VERDICTS:
            self._events.remove(verdicts[0])

    def _join_text(self, delta: TextDelta) -> bool:
        for i, event in enumerate(self._events):
            if isinstance(event, TextDelta) and event.request == delta.request:
                self._events[i] = TextDelta(
                    request=delta.request, text=event.text + delta.text, tokens=delta.tokens
                )
                return True
        return False
