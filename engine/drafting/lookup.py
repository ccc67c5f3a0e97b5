"""Drafting by looking up what followed the same tokens before. Knows no target, and not where the text looked
up comes from.

Each match of the last n tokens votes for the token behind it; a token stands at the *level* of its longest
match. How far a level can be trusted is learnt from what the target commits: the escape mechanism of PPM
(prediction by partial matching; Cleary and Witten 1984).
"""

from abc import abstractmethod
from collections.abc import Sequence as Ids
from dataclasses import dataclass
from typing import Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from engine.drafting.best_first import BestFirst
from engine.drafting.protocol import Drafter, Limits, Needs, Said
from engine.model import Watch
from engine.tree import ROOT, TokenTree

State = TypeVar("State")

DECAY = 0.999  # the chances are honest already: only so much that a child scores below its parent
MEMORY = 100  # trials after which a level forgets: a text may begin or cease to quote


@dataclass(frozen=True, slots=True)
class Found:
    """Tokens seen where the same tokens stood before; each token once.

    tokens: int64 [tokens]
    levels: int64 [tokens]   length of the longest match it stands behind, at least 1
    votes:  float64 [tokens] of the matches it stands behind
    """

    tokens: NDArray[np.int64]
    levels: NDArray[np.int64]
    votes: NDArray[np.float64]


class Odds:
    """Of each level, the rate at which the next token is found there, given that no higher level has it: the
    mean of a Beta distribution over the last `MEMORY` trials or so."""

    def __init__(self, levels: int) -> None:
        self._rates = np.arange(levels + 1) / (np.arange(levels + 1) + 1.0)  # the longer, the surer
        self._trials = np.full(levels + 1, 4.0)  # what the prior counts for

    def chances(self, found: Found) -> NDArray[np.float64]:
        """Of each token, float64 [tokens], each above 0; their sum is below 1."""
        chances, missed = np.empty(len(found.tokens)), 1.0
        for level in levels_of(found):
            there = found.levels == level
            votes = found.votes[there]
            chances[there] = missed * self._rates[level] * votes / votes.sum()
            missed *= 1 - self._rates[level]
        return chances

    def learn(self, found: Found, token: int) -> None:
        """`token` is what came."""
        hit = found.levels[found.tokens == token]
        for level in levels_of(found):
            self._trials[level] = min(self._trials[level] + 1, MEMORY)
            self._rates[level] += ((level in hit) - self._rates[level]) / self._trials[level]
            if level in hit:
                return


def levels_of(found: Found) -> list[int]:
    """Highest first."""
    return sorted(set(found.levels.tolist()), reverse=True)


class LookupDrafter(Drafter, Generic[State]):
    """Grows best-first by estimated chances. A subclass says what is found at the root and along a path; a
    `State` is all it needs to know of a node for that.

    The odds outlive answers: they are knowledge about the target, not about a text.
    """

    needs = Needs()
    runs_a_model = False

    def __init__(self, levels: int, source: int) -> None:
        self._odds = Odds(levels)
        self._source = source
        self._limits = self.defaults
        self._grower = BestFirst(0, 0, DECAY, source)
        self._states: dict[int, State] = {}  # of the root and expanded nodes

    @abstractmethod
    def _at_root(self) -> State: ...

    @abstractmethod
    def _find(self, state: State) -> Found: ...

    @abstractmethod
    def _follow(self, state: State, token: int) -> State: ...

    def plant(self, limits: Limits) -> None:
        self._limits = limits
        self._grower = BestFirst(limits.budget, limits.depth, DECAY, self._source)
        self._states = {ROOT: self._at_root()}

    def grow(self, rounds: int, watch: Watch) -> bool:
        for _ in range(rounds):
            nodes = self._grower.frontier(self._limits.beams)
            if not nodes:
                return False
            found = [self._find(self._state(node)) for node in nodes]
            width = max(len(each.tokens) for each in found)
            tokens = np.zeros((len(nodes), width), np.int64)
            log_chances = np.full((len(nodes), width), -np.inf, np.float32)
            for row, each in enumerate(found):
                tokens[row, : len(each.tokens)] = each.tokens
                log_chances[row, : len(each.tokens)] = np.log(self._odds.chances(each))
            self._grower.expand(nodes, tokens, log_chances)
        return bool(self._grower.frontier(1))

    def snapshot(self, budget: int) -> TokenTree:
        return self._grower.snapshot(budget)

    def advance(self, tokens: Ids[int], said: Said) -> None:
        state = self._states[ROOT]
        for token in tokens:
            self._odds.learn(self._find(state), token)
            state = self._follow(state, token)

    def _state(self, node: int) -> State:
        """Its parent has been expanded."""
        if node not in self._states:
            parent = self._states[self._grower.parents[node]]
            self._states[node] = self._follow(parent, self._grower.tokens[node])
        return self._states[node]
