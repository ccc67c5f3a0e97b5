"""Token masks: which tokens may follow a path.

A mask is a function of the path alone. So it can be applied at every node of a token tree, before the choice
there, and a constrained answer is that of constrained plain decoding, whatever the tree was. A path leads to
a `PathState`, which is never changed; the states of a tree form a tree themselves, kept here as long as the
text can still reach them. Independent of grammars, tokenizers and models.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from engine.errors import DeadEnd

Bits = NDArray[np.uint8]  # a set of token ids, eight in a byte, the lowest id in the lowest bit
Flags = NDArray[np.bool_]

NOTHING: Bits = np.zeros(1, np.uint8)  # numpy does not clear what it adds to an empty array


class PathState(ABC):
    """What a path has led to."""

    @abstractmethod
    def allowed(self) -> Bits | None:
        """Return the tokens that may follow; None if any may."""

    @abstractmethod
    def after(self, token: int) -> "PathState | None":
        """Return the state after one more token; None if the token may not follow."""

    def guess(self) -> int | None:
        """Return the token with which the usual spelling of the text continues, if the text is certain."""
        return None


class Free(PathState):
    """The state where any token may follow, now and later."""

    def allowed(self) -> None:
        return None

    def after(self, token: int) -> "Free":
        return self


class Ended(PathState):
    """The state after the end of the text, where no token may follow."""

    def allowed(self) -> Bits:
        return NOTHING

    def after(self, token: int) -> None:
        return None


def packed(tokens: Iterable[int]) -> Bits:
    """Return the set of these token ids."""
    ids = np.fromiter(tokens, np.int64)
    flags = np.zeros(int(ids.max(initial=0)) + 1, np.bool_)
    flags[ids] = True
    return np.packbits(flags, bitorder="little")


def united(first: Bits, second: Bits) -> Bits:
    """Return the set of the tokens in either set."""
    longer, shorter = (first, second) if len(first) >= len(second) else (second, first)
    both = longer.copy()
    both[: len(shorter)] |= shorter
    return both


@dataclass(slots=True)
class _Place:
    """A state with what is known about it."""

    state: PathState
    known: bool = False  # whether `bits` is set
    bits: Bits | None = None
    children: "dict[int, _Place | None] | None" = None

    def allowed(self) -> Bits | None:
        if not self.known:
            self.bits, self.known = self.state.allowed(), True
        return self.bits

    def after(self, token: int) -> "_Place | None":
        self.children = {} if self.children is None else self.children
        if token not in self.children:
            state = self.state.after(token)
            self.children[token] = None if state is None else _Place(state)
        return self.children[token]


class Masks:
    """The masks of the paths of one answer. A path is a list of tokens after those committed so far, which
    end with the root of the token tree."""

    def __init__(self, start: PathState) -> None:
        """start: the state before the answer's first token."""
        self._root = _Place(start)

    def commit(self, tokens: Iterable[int]) -> None:
        """Move the root past `tokens`. Raises DeadEnd at a token that was not allowed: it can only have been
        chosen where none was."""
        for token in tokens:
            place = self._root.after(token)
            if place is None:
                raise DeadEnd
            self._root = place

    def allowed(self, path: Sequence[int], width: int) -> Flags | None:
        """Return which of the first `width` tokens may follow `path`, bool [width].

        None stands for all of them. It is also returned where no token may follow: after the end of the text,
        after a forbidden token, and at a dead end. The walk that accepts nodes goes no further there, but a
        row of a pass must not be empty.
        """
        place = self._at(path)
        flags = None if place is None else _flags(place.allowed(), width)
        return flags if flags is not None and flags.any() else None

    def rows(self, paths: Sequence[Sequence[int]], width: int) -> Flags | None:
        """Return which tokens may follow each path, as `allowed` does, bool [paths, width]; None if all may
        follow everywhere."""
        found = [self.allowed(path, width) for path in paths]
        if all(flags is None for flags in found):
            return None
        everything = np.ones(width, np.bool_)
        return np.stack([everything if flags is None else flags for flags in found])

    def among(self, path: Sequence[int], tokens: NDArray[np.int64]) -> Flags:
        """Return which of `tokens` may follow `path`, bool [tokens]."""
        place = self._at(path)
        if place is None or not len(tokens):
            return np.zeros(len(tokens), np.bool_)
        flags = _flags(place.allowed(), int(tokens.max()) + 1)
        return np.ones(len(tokens), np.bool_) if flags is None else flags[tokens]

    def forced(self, path: Sequence[int]) -> int | None:
        """Return the token that must follow `path` if it is the only one that may."""
        place = self._at(path)
        bits = None if place is None else place.allowed()
        if bits is None or np.count_nonzero(bits) != 1:
            return None
        tokens = np.flatnonzero(np.unpackbits(bits, bitorder="little"))
        return int(tokens[0]) if len(tokens) == 1 else None

    def guess(self, path: Sequence[int]) -> int | None:
        """Return the token that probably follows `path` because the text that follows is certain, and only
        its spelling is open."""
        place = self._at(path)
        return None if place is None else place.state.guess()

    def _at(self, path: Sequence[int]) -> _Place | None:
        place: _Place | None = self._root
        for token in path:
            place = place and place.after(token)
        return place


def _flags(bits: Bits | None, width: int) -> Flags | None:
    """Return the set as flags, bool [width]. numpy pads them with False."""
    return None if bits is None else np.unpackbits(bits, count=width, bitorder="little").astype(np.bool_)
