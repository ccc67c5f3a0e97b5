"""Savepoints: copies of the states of recurrent layers behind some lengths of a text.

A state cannot go back. So a copy of it is kept where a text may be changed later: where an answer begins,
near the end of its prompt, every so many tokens, and where two texts were seen to branch, as they do behind
the system prompt of an application: the third one finds a savepoint there (Marconi, arXiv 2411.19379, keeps
states at branches, too). A rewind goes back to the last one that is not behind the text to keep, and the
sequence computes the rest again.
"""

from collections.abc import Iterable, Sequence
from typing import Generic, TypeVar

from engine.checkpoints.recurrent import SAVEPOINTS

WINDOW = 64  # tokens: what torch reads at a time, and a prompt that needs no savepoint of its own
EVERY = 1024  # tokens; a multiple of WINDOW
# A chat template ends a prompt with a few tokens that differ once the answer is part of the chat. A savepoint
# lies before them.
MARGIN = 16

State = TypeVar("State")


class Savepoints(Generic[State]):
    """The savepoints of a text. Attributes: `states`, by the number of tokens that they lie behind; `branch`,
    the number of tokens behind which another text has branched off, or 0."""

    def __init__(self, most: int = SAVEPOINTS) -> None:
        """most: the largest number of savepoints, at least 3."""
        self.states: dict[int, State] = {}
        self.branch = 0
        self._most = most

    def before(self, length: int) -> int:
        """Return the last savepoint that is not behind `length`; 0 if there is none."""
        return max((each for each in self.states if each <= length), default=0)

    def is_due(self, length: int) -> bool:
        """Return whether a text of that length has not been saved for EVERY tokens, or ends at the branch."""
        return length == self.branch or length - max(self.states, default=0) >= EVERY

    def wanted(self, start: int, stop: int, step: int = 1) -> list[int]:
        """Return where states should be saved while a text is read, whose rows are start..stop, at multiples
        of `step`, which divides EVERY and the branch."""
        if stop - start <= WINDOW:
            return []
        near_end = (stop - MARGIN) // step * step
        every = range(start // EVERY * EVERY + EVERY, stop, EVERY)
        return [*every, *(length for length in (self.branch, near_end) if start < length < stop)]

    def make_room(self, wanted: Iterable[int], end: int) -> list[int]:
        """Make room for savepoints at the lengths `wanted` of a text of `end` tokens, by dropping those that
        are worth least. Return which of the wanted ones there is room for."""
        left = thinned([*self.states, *wanted], end, self._most, self.branch)
        self.states = {length: states for length, states in self.states.items() if length in left}
        return [length for length in left if length not in self.states]

    def drop_behind(self, length: int) -> None:
        """Drop all savepoints behind a length, and the branch if it lies there."""
        self.states = {each: states for each, states in self.states.items() if each <= length}
        if self.branch > length:
            self.branch = 0


def thinned(lengths: Sequence[int], end: int, most: int, branch: int = 0) -> list[int]:
    """Return at most `most` of the lengths, ascending: the last two, which are those of the turn that has
    begun, the branch, and of the others those that save most. A savepoint saves the tokens since the one
    before it, if a rewind ends between it and the next one; rewinds to places far from the text's end are
    rarer.
    """
    left = sorted({*lengths})
    while len(left) > most:
        around = [0, *left, end]

        def worth(number: int, around: list[int] = around) -> float:
            before, here, behind = around[number : number + 3]
            return (here - before) * (behind - here + WINDOW) / (end - here + EVERY)

        del left[min((number for number in range(len(left) - 2) if left[number] != branch), key=worth)]
    return left
