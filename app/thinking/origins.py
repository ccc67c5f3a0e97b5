"""Which characters of an answer came from where. From events to ranges; knows neither Qt nor widgets.

Positions count code points of the answer as the engine said it, before Markdown is made of it.
"""

import math
from bisect import bisect_right
from dataclasses import dataclass

from engine.protocol.messages import Answer, IterationDone


@dataclass(frozen=True, slots=True)
class Alternative:
    """A token the target thought of; probability: its own, before any processor."""

    text: str
    probability: float


@dataclass(frozen=True, slots=True)
class Origin:
    """Characters from `start` up to `end` that one token made.

    source: bit set as of `TreeNodes.sources`; 0, the target's own: a bonus token. probability: the target's.
    alternatives: the target's best tokens there, best first. iteration: that committed it.
    """

    start: int
    end: int
    source: int
    probability: float
    alternatives: tuple[Alternative, ...]
    iteration: int


class Origins:
    """Ranges that never overlap, in order. The prefill's token has none, nor what a dropped event told.

    Attributes: `ranges`.
    """

    def __init__(self) -> None:
        self.ranges: list[Origin] = []

    def add(self, done: IterationDone) -> list[Origin]:
        """Take what an iteration committed; the ranges that are new. Nothing where nobody watched."""
        if done.committed is None:
            return []
        new = []
        at = done.committed.start
        # A token without characters only began one; whoever completes it gets it all.
        told = zip(done.committed.pieces, done.committed.log_probs, done.committed.top_texts, strict=True)
        for i, (piece, said, texts) in enumerate(told):
            if piece:
                source = done.tree.sources[done.accepted[i]] if i < len(done.accepted) else 0
                best = zip(texts, said.top, strict=True)
                alternatives = tuple(Alternative(text, math.exp(log_prob)) for text, (_, log_prob) in best)
                new.append(
                    Origin(at, at + len(piece), source, math.exp(said.log_prob), alternatives, done.iteration)
                )
            at += len(piece)
        self.ranges += new
        return new

    def finish(self, answer: Answer) -> None:
        """The answer is whole: what a stop string cut off is forgotten."""
        end = len(answer.text)
        self.ranges = [
            Origin(one.start, min(one.end, end), one.source, one.probability, one.alternatives, one.iteration)
            for one in self.ranges
            if one.start < end
        ]

    def at(self, position: int) -> Origin | None:
        """What made the character at `position`."""
        index = bisect_right(self.ranges, position, key=lambda one: one.start) - 1
        if index < 0 or self.ranges[index].end <= position:
            return None
        return self.ranges[index]

    def of_iteration(self, iteration: int) -> tuple[int, int] | None:
        """Start and end of all that an iteration made."""
        made = [one for one in self.ranges if one.iteration == iteration]
        return (made[0].start, made[-1].end) if made else None
