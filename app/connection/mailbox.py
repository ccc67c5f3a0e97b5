"""A bounded queue of events between the reader thread and the GUI thread. Imports no Qt."""

import threading

from engine.protocol.messages import (
    Committed,
    Event,
    IterationDone,
    LoadProgress,
    PassProgress,
    PrefillProgress,
    TextDelta,
    TreeGrown,
)

MOST_VERDICTS = 32  # a model makes fewer iterations between two calls of `take`


class Mailbox:
    """A queue that keeps events until they are taken, and stays small however rarely they are taken.

    Pieces of text are joined and never dropped. Only the newest growing tree, the newest progress event of
    each kind and the newest 32 verdicts (`IterationDone`) are kept. `put` and `take` may be called from any
    thread.
    """

    def __init__(self) -> None:
        self._events: list[Event] = []
        self._lock = threading.Lock()

    def put(self, event: Event) -> bool:
        """Add an event. Return True if the mailbox was empty; only then must the receiver be woken."""
        with self._lock:
            was_empty = not self._events
            self._add(event)
            return was_empty

    def take(self) -> list[Event]:
        """Return all events, oldest first, and empty the mailbox."""
        with self._lock:
            events, self._events = self._events, []
            return events

    def _add(self, event: Event) -> None:
        match event:
            case TextDelta() if self._join_text(event):
                return
            case TreeGrown():
                self._drop(TreeGrown)
            case IterationDone():  # the tree in this event is newer than any growing tree
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
        """Join text to the newest of its answer; not if their tokens do not adjoin."""
        for i in reversed(range(len(self._events))):
            event = self._events[i]
            if isinstance(event, TextDelta) and event.request == delta.request:
                told = [each.committed for each in (event, delta) if each.committed is not None]
                if len(told) == 2 and told[0].start + sum(map(len, told[0].pieces)) != told[1].start:
                    return False
                self._events[i] = TextDelta(
                    request=delta.request,
                    text=event.text + delta.text,
                    tokens=delta.tokens,
                    committed=_joined(told) if told else None,
                )
                return True
        return False


def _joined(told: list[Committed]) -> Committed:
    return Committed(
        start=told[0].start,
        pieces=[piece for each in told for piece in each.pieces],
        log_probs=[entry for each in told for entry in each.log_probs],
        top_texts=[texts for each in told for texts in each.top_texts],
    )
