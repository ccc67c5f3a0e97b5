"""Origins of an answer's text: which token produced which characters. Imports no Qt.

Positions count code points of the answer as sent by the engine, before it is rendered as Markdown.
"""

import math
from bisect import bisect_right
from dataclasses import dataclass, replace

from engine.protocol.messages import Answer, Committed, IterationDone


@dataclass(frozen=True, slots=True)
class Alternative:
    """A token that the target considered. probability: given by the target, before any logits processor."""

    text: str
    probability: float


@dataclass(frozen=True, slots=True)
class Origin:
    """Characters from `start` up to `end` that one token produced.

    source: bit set as in `TreeNodes.sources`; 0 for the target's own tokens (bonus tokens).
    probability: the token's, as given by the target.
    alternatives: the target's best tokens at this place, best first.
    iteration: number of the iteration that committed the token; 0: an engine elsewhere does not tell it.
    """

    start: int
    end: int
    source: int
    probability: float
    alternatives: tuple[Alternative, ...]
    iteration: int


class Origins:
    """Origins of one answer's text.

    The token that the prefill produces has no origin, nor have the tokens of events that were dropped.

    Attributes:
        ranges: the origins, in order, without overlaps.
    """

    def __init__(self) -> None:
        self.ranges: list[Origin] = []

    def add(self, done: IterationDone) -> list[Origin]:
        """Add the origins of the tokens that an iteration committed; return them. Without telemetry, none."""
        if done.committed is None:
            return []
        sources = [done.tree.sources[node] for node in done.accepted]
        return self._add(done.committed, sources, done.iteration)

    def add_told(self, told: Committed) -> list[Origin]:
        """Add the origins of tokens of which only the probabilities are known; return them."""
        return self._add(told, [], 0)

    def _add(self, committed: Committed, sources: list[int], iteration: int) -> list[Origin]:
        new = []
        at = committed.start
        # A token with an empty piece ends in the middle of a character, which belongs to the token that
        # completes it.
        tokens = zip(committed.pieces, committed.log_probs, committed.top_texts, strict=True)
        for i, (piece, best, texts) in enumerate(tokens):
            if piece:
                source = sources[i] if i < len(sources) else 0
                top = zip(texts, best.top, strict=True)
                alternatives = tuple(Alternative(text, math.exp(log_prob)) for text, (_, log_prob) in top)
                new.append(
                    Origin(at, at + len(piece), source, math.exp(best.log_prob), alternatives, iteration)
                )
            at += len(piece)
        self.ranges += new
        return new

    def finish(self, answer: Answer) -> None:
        """Drop the origins of the text that a stop string cut off at the end of the answer."""
        end = len(answer.text)
        self.ranges = [
            replace(origin, end=min(origin.end, end)) for origin in self.ranges if origin.start < end
        ]

    def at(self, position: int) -> Origin | None:
        """Return the origin of the character at `position`, or None if it is not known."""
        index = bisect_right(self.ranges, position, key=lambda origin: origin.start) - 1
        if index < 0 or self.ranges[index].end <= position:
            return None
        return self.ranges[index]

    def of_iteration(self, iteration: int) -> tuple[int, int] | None:
        """Return start and end of the characters that an iteration produced; None if they are not known."""
        produced = [origin for origin in self.ranges if origin.iteration == iteration]
        return (produced[0].start, produced[-1].end) if produced else None
