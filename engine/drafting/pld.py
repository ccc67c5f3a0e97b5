"""Prompt lookup decoding (github.com/apoorvumang/prompt-lookup-decoding): the tokens that followed an earlier
occurrence of the last tokens, in prompt or answer, may follow again.

The original uses one match; here all matches are merged into one tree, longest match first. No index is
needed: comparing every token in a context of 32 thousand with the last one takes about 20 µs, and longer
matches are found among the positions where the last token occurs.
"""

from array import array
from collections.abc import Sequence as Ids
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from engine.drafting.lookup import Continuations, LookupDrafter
from engine.drafting.protocol import Feedback, TreeLimits
from engine.model.interface import Progress
from engine.sampling import Sampler
from engine.tree import SOURCE_NGRAM

LONGEST = 16  # tokens; longer matches count as this long
MAX_MATCHES = 1024  # bounds the time for a text that repeats endlessly


@dataclass(frozen=True, slots=True)
class Matches:
    """Earlier positions in a text that match its end.

    ends:    int64 [matches]  position of the token after the match
    lengths: int64 [matches]  number of matching tokens, at most LONGEST
    """

    ends: NDArray[np.int64]
    lengths: NDArray[np.int64]


def matches_of(text: NDArray[np.int64]) -> Matches:
    """Return the earlier matches of the end of `text` (int64 [tokens]). If there are more than MAX_MATCHES,
    return only the longest; of equally long ones, the latest."""
    ends = np.flatnonzero(text[:-1] == text[-1]) + 1
    lengths = np.ones(len(ends), np.int64)
    longer, length = np.arange(len(ends)), 2
    while length <= LONGEST and len(longer := longer[ends[longer] >= length]):
        longer = longer[text[ends[longer] - length] == text[-length]]
        lengths[longer] = length
        length += 1
    best = np.lexsort((ends, lengths))[-MAX_MATCHES:]
    return Matches(ends[best], lengths[best])


class PromptLookupDrafter(LookupDrafter[Matches]):
    name = "pld"
    defaults = TreeLimits(budget=16, beams=4, depth=16)

    def __init__(self) -> None:
        super().__init__(LONGEST, SOURCE_NGRAM)
        self._text = array("q")

    def begin(self, context: Ids[int], sampler: Sampler, progress: Progress) -> None:
        super().begin(context, sampler, progress)
        self._text = array("q", context)

    def advance(self, tokens: Ids[int], feedback: Feedback) -> None:
        super().advance(tokens, feedback)
        self._text.extend(tokens)

    def rewind(self, length: int) -> None:
        del self._text[length:]

    def _at_root(self) -> Matches:
        return matches_of(np.frombuffer(self._text, np.int64))

    def _find(self, matches: Matches) -> Continuations:
        next_tokens = np.frombuffer(self._text, np.int64)[matches.ends]
        tokens, which, votes = np.unique(next_tokens, return_inverse=True, return_counts=True)
        levels = np.zeros(len(tokens), np.int64)
        np.maximum.at(levels, which, matches.lengths)
        return Continuations(tokens, levels, votes.astype(np.float64))

    def _follow(self, matches: Matches, token: int) -> Matches:
        text = np.frombuffer(self._text, np.int64)
        continued = text[matches.ends] == token
        ends, lengths = matches.ends[continued] + 1, matches.lengths[continued] + 1
        inside = ends < len(text)
        return Matches(ends[inside], np.minimum(lengths[inside], LONGEST))
