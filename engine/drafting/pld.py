"""Prompt lookup decoding (github.com/apoorvumang/prompt-lookup-decoding): what followed the last tokens where
they stood before, in prompt or answer, may follow again.

Where the original takes one match, all of them are merged into one tree, longest match first. There is no
index to keep: comparing a context of 32 thousand tokens with its last one takes some 20 µs, and what matches
longer is among those places.
"""

from array import array
from collections.abc import Sequence as Ids
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from engine.drafting.lookup import Found, LookupDrafter
from engine.drafting.protocol import Limits, Said
from engine.model import Watch
from engine.sampling import Sampler
from engine.tree import SOURCE_NGRAM

LONGEST = 16  # a match counts for no more than so many tokens
MOST_MATCHES = 1024  # bounds the time where a text repeats itself without end


@dataclass(frozen=True, slots=True)
class Matches:
    """Earlier places in a text that equal its end.

    ends:    int64 [matches]  where in the text the next token stands
    lengths: int64 [matches]  equal tokens before that, at most LONGEST
    """

    ends: NDArray[np.int64]
    lengths: NDArray[np.int64]


def matches_of(text: NDArray[np.int64]) -> Matches:
    """Of the end of `text` (int64 [tokens]), as many tokens as match; the longest, then the latest, where
    there are more than MOST_MATCHES."""
    ends = np.flatnonzero(text[:-1] == text[-1]) + 1
    lengths = np.ones(len(ends), np.int64)
    longer, length = np.arange(len(ends)), 2
    while length <= LONGEST and len(longer := longer[ends[longer] >= length]):
        longer = longer[text[ends[longer] - length] == text[-length]]
        lengths[longer] = length
        length += 1
    best = np.lexsort((ends, lengths))[-MOST_MATCHES:]
    return Matches(ends[best], lengths[best])


class PromptLookupDrafter(LookupDrafter[Matches]):
    name = "pld"
    defaults = Limits(budget=16, beams=4, depth=16)

    def __init__(self) -> None:
        super().__init__(LONGEST, SOURCE_NGRAM)
        self._text = array("q")

    def begin(self, context: Ids[int], sampler: Sampler, watch: Watch) -> None:
        self._text = array("q", context)

    def advance(self, tokens: Ids[int], said: Said) -> None:
        super().advance(tokens, said)
        self._text.extend(tokens)

    def rewind(self, length: int) -> None:
        del self._text[length:]

    def _at_root(self) -> Matches:
        return matches_of(np.frombuffer(self._text, np.int64))

    def _find(self, matches: Matches) -> Found:
        next_tokens = np.frombuffer(self._text, np.int64)[matches.ends]
        tokens, which, votes = np.unique(next_tokens, return_inverse=True, return_counts=True)
        levels = np.zeros(len(tokens), np.int64)
        np.maximum.at(levels, which, matches.lengths)
        return Found(tokens, levels, votes.astype(np.float64))

    def _follow(self, matches: Matches, token: int) -> Matches:
        text = np.frombuffer(self._text, np.int64)
        there = text[matches.ends] == token
        ends, lengths = matches.ends[there] + 1, matches.lengths[there] + 1
        inside = ends < len(text)
        return Matches(ends[inside], np.minimum(lengths[inside], LONGEST))
