"""Which experts each token chose when a pass last read it. This module itself moves nothing.

The tokens of a tree are known before its pass begins, those of the first mixture too, whose router cannot be
asked early; and what the routers of decoders choose depends on the token more than on its context: Arnold,
Fietta and Yesilbas, "Routing in Sparsely-gated Language Models responds to Context", 2024 (arXiv 2409.14107).
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

# Tokens whose choices are remembered: with 48 mixtures of which each row chooses 8 experts, 3 MiB.
TOKENS = 4096
_UNKNOWN = 0xFFFF  # in place of an expert


class TokenExperts:
    """The last choices of the TOKENS tokens that were read last."""

    def __init__(self, members: Sequence[NDArray[np.int64]]) -> None:
        """members: the experts of each mixture, ascending, in the order of use."""
        self._members = members
        self._places: dict[int, int] = {}  # of tokens in the table, those that were read last at the end
        self._table = np.empty((0, len(members), 0), np.uint16)  # [tokens, mixtures, k], numbers in a mixture
        self._here = np.empty(0, np.int64)  # the place of each row of the pass
        self._known = np.empty(0, np.int64)  # those of the tokens that passes before have read, each once

    def begin(self, tokens: Sequence[int]) -> None:
        """Note that a pass over these tokens begins, one for each row; none if it teaches nothing."""
        known = [self._places[token] for token in dict.fromkeys(tokens) if token in self._places]
        self._known = np.array(known, np.int64)
        self._here = np.array([self._place(token) for token in tokens], np.int64)

    def _place(self, token: int) -> int:
        """Return the place of a token, which is read now, in the table."""
        place = self._places.pop(token, None)
        if place is None:
            place = len(self._places)
            if place == TOKENS:
                place = self._places.pop(next(iter(self._places)))
            self._table[place : place + 1] = _UNKNOWN
        self._places[token] = place
        return place

    def said(self, turn: int) -> NDArray[np.int64]:
        """Return what those tokens of the pass whose choice is known chose in the mixture with this turn,
        [tokens, k], numbers in the mixture, the likeliest first."""
        chosen = self._table[self._known, turn] if self._table.size else np.empty((0, 0), np.uint16)
        known: NDArray[np.int64] = chosen[(chosen != _UNKNOWN).all(1)].astype(np.int64)
        return known

    def learn(self, turn: int, rows: Sequence[Sequence[int]]) -> None:
        """Note which experts each row of the pass has chosen, the likeliest first."""
        if len(rows) != len(self._here) or not len(rows):
            return
        chosen = np.array(rows)
        if not self._table.size:  # memory is taken as places are written to
            self._table = np.empty((TOKENS, len(self._members), chosen.shape[1]), np.uint16)
            self._table[: len(self._places)] = _UNKNOWN
        self._table[self._here, turn] = np.searchsorted(self._members[turn], chosen)
