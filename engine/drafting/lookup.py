"""Drafting by looking up earlier occurrences of the last tokens. Independent of the target and of the source
of the text.

Each match of the last n tokens votes for the token after it; a token's *level* is the length of the longest
match that votes for it. The reliability of a level is learnt from what the target commits, as in the escape
mechanism of PPM (prediction by partial matching; Cleary and Witten 1984).
"""

from abc import abstractmethod
from collections.abc import Sequence as Ids
from dataclasses import dataclass
from typing import Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from engine.drafting.best_first_drafter import BestFirstDrafter
from engine.drafting.protocol import Feedback, Needs, TreeLimits
from engine.model.interface import Progress
from engine.sampling import Sampler
from engine.tree import ROOT

State = TypeVar("State")

DECAY = 0.999  # just enough for a child to score below its parent; the chances are calibrated already
MEMORY = 100  # number of trials that a level remembers: a text may start or stop quoting


@dataclass(frozen=True, slots=True)
class Continuations:
    """The tokens that followed earlier occurrences of the last tokens; each token is listed once.

    tokens: int64 [tokens]
    levels: int64 [tokens]   length of the longest match that the token follows, at least 1
    votes:  float64 [tokens] number or weight of the matches that the token follows
    """

    tokens: NDArray[np.int64]
    levels: NDArray[np.int64]
    votes: NDArray[np.float64]


class Odds:
    """How reliable each level is: the rate at which the next token is one of the level's tokens, given that
    it is none of a higher level's. The rate is the mean of a Beta distribution over about the last `MEMORY`
    trials."""

    def __init__(self, levels: int) -> None:
        self._rates = np.arange(levels + 1) / (np.arange(levels + 1) + 1.0)  # longer is more certain
        self._trials = np.full(levels + 1, 4.0)  # at first, the weight of the prior

    def chances(self, candidates: Continuations) -> NDArray[np.float64]:
        """Return the chance of each token, float64 [tokens]. Each is above 0; their sum is below 1."""
        chances, missed = np.empty(len(candidates.tokens)), 1.0
        for level in levels_of(candidates):
            at_level = candidates.levels == level
            votes = candidates.votes[at_level]
            chances[at_level] = missed * self._rates[level] * votes / votes.sum()
            missed *= 1 - self._rates[level]
        return chances

    def learn(self, candidates: Continuations, token: int) -> None:
        """Update the rates with the token that was committed."""
        hit = candidates.levels[candidates.tokens == token]
        for level in levels_of(candidates):
            self._trials[level] = min(self._trials[level] + 1, MEMORY)
            self._rates[level] += ((level in hit) - self._rates[level]) / self._trials[level]
            if level in hit:
                return


def levels_of(candidates: Continuations) -> list[int]:
    """Return the levels, highest first."""
    return sorted(set(candidates.levels.tolist()), reverse=True)


class LookupDrafter(BestFirstDrafter, Generic[State]):
    """A drafter whose trees grow best-first by estimated chances. A subclass looks up continuations at the
    root and along a path; a `State` holds what the subclass needs to know about a node for its lookup.

    The odds are kept across answers, because they describe the target, not a text.
    """

    needs = Needs()
    runs_a_model = False

    def __init__(self, levels: int, source: int) -> None:
        super().__init__(DECAY, source)
        self._odds = Odds(levels)
        self._states: dict[int, State] = {}  # of the root and of expanded nodes

    @abstractmethod
    def _at_root(self) -> State: ...

    @abstractmethod
    def _find(self, state: State) -> Continuations: ...

    @abstractmethod
    def _follow(self, state: State, token: int) -> State: ...

    def begin(self, context: Ids[int], sampler: Sampler, progress: Progress) -> None:
        self._masks = sampler.masks

    def plant(self, limits: TreeLimits) -> None:
        super().plant(limits)
        self._states = {ROOT: self._at_root()}

    def _expand(self, nodes: list[int], progress: Progress) -> None:
        found = [self._find(self._state(node)) for node in nodes]
        width = max(len(candidates.tokens) for candidates in found)
        tokens = np.zeros((len(nodes), width), np.int64)
        log_chances = np.full((len(nodes), width), -np.inf, np.float32)
        for row, candidates in enumerate(found):
            tokens[row, : len(candidates.tokens)] = candidates.tokens
            log_chances[row, : len(candidates.tokens)] = np.log(self._odds.chances(candidates))
        self._grower.expand(nodes, tokens, log_chances)

    def advance(self, tokens: Ids[int], feedback: Feedback) -> None:
        state = self._states[ROOT]
        for token in tokens:
            self._odds.learn(self._find(state), token)
            state = self._follow(state, token)

    def _state(self, node: int) -> State:
        """Return the state of a node whose parent has been expanded."""
        if node not in self._states:
            parent = self._states[self._grower.parents[node]]
            self._states[node] = self._follow(parent, self._grower.tokens[node])
        return self._states[node]
