"""DRY, "Don't Repeat Yourself": a penalty for tokens that would continue a repetition.

Published by P. E. Weidmann for text-generation-webui (pull request 5677); llama.cpp's sampler `dry` computes
the same. Wherever the last n tokens of a text occurred before, the token that followed them there would make
the repetition longer. Its logit is lowered by

    multiplier * base ** (n - allowed_length)    if n >= allowed_length

with the longest n if it followed several times. A sequence breaker ends every match: it is not part of one,
and is never penalised itself.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

LOG_MOST = 88.0  # of the largest power of the base: a little below the logarithm of the largest float32
MOST = 1e30  # the largest penalty; logits after it stay finite at every temperature


@dataclass(frozen=True, slots=True)
class Dry:
    """The settings of DRY. multiplier: 0 turns it off. last: the number of tokens at the end of the text that
    are searched for repetitions; 0: all. breakers: the tokens that end a match."""

    multiplier: float = 0.0
    base: float = 1.75
    allowed_length: int = 2
    last: int = 0
    breakers: frozenset[int] = field(default_factory=frozenset)

    @property
    def longest(self) -> int:
        """The length from which on a match is not measured further, because its penalty grows no more."""
        growth = math.log(self.base)
        return self.allowed_length + (int(LOG_MOST / growth) if growth > 1e-6 else 0)

    def penalties(
        self, context: NDArray[np.int64], tail: Sequence[int]
    ) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
        """Return the penalised tokens, each once, and what to subtract from the logit of each.

        The text is `context`, then `tail`. Takes time in proportion to the length of the text and of the
        matches in it.
        """
        text = np.concatenate([context[-self.last :], np.asarray(tail, np.int64)])[-self.last :]
        ends, lengths = self._matches(text)
        counted = lengths >= self.allowed_length
        tokens, places = np.unique(text[ends[counted] + 1], return_inverse=True)
        longest = np.zeros(len(tokens), np.int64)
        np.maximum.at(longest, places, lengths[counted])
        penalised = np.array([token not in self.breakers for token in tokens.tolist()], np.bool_)
        tokens, longest = tokens[penalised], longest[penalised]
        penalties = self.multiplier * np.power(self.base, (longest - self.allowed_length).astype(np.float64))
        return tokens, np.minimum(penalties, MOST).astype(np.float32)

    def _matches(self, text: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the places before the end at which the end of the text occurs, and how many tokens match
        there."""
        if not len(text) or int(text[-1]) in self.breakers:
            return np.empty(0, np.int64), np.empty(0, np.int64)
        ends = np.flatnonzero(text[:-1] == text[-1])
        lengths = np.ones(len(ends), np.int64)
        matching = np.arange(len(ends))  # indices of the matches that may be longer
        for length in range(1, min(len(text), self.longest)):
            token = text[-1 - length]
            if not len(matching) or int(token) in self.breakers:
                break
            starts = ends[matching] - length
            matching = matching[(starts >= 0) & (text[starts] == token)]
            lengths[matching] = length + 1
        return ends, lengths
