"""Token Recycling (arXiv 2408.08696): a training-free drafter for a target without a draft.

A table holds, for every token of the vocabulary, what the target last thought would follow it: the tokens it
ranked best and their probabilities, taken from every node the target has checked, accepted or not. The tree
is read off the table. Where the paper walks a fixed tree shape, this grows best-first by the recorded
probabilities.
"""

from collections.abc import Sequence as Ids

import numpy as np

from engine.drafting.best_first import BestFirst
from engine.drafting.protocol import Drafter, Limits, Needs, Said
from engine.model import Watch
from engine.sampling import Sampler
from engine.tree import ROOT, SOURCE_RECYCLING, TokenTree

TOP = 8  # the paper's table width
DECAY = 0.8  # a remembered probability is about another context: trust it less with every step
PAIR_LOG_PROB = float(np.log(0.3))  # for a pair read in the prompt, of which the target has said nothing yet


class RecyclingDrafter(Drafter):
    """The table outlives answers: what one taught, the next one uses. It is knowledge about the target, not
    about a text: `rewind` takes nothing from it."""

    name = "recycling"
    needs = Needs(top_tokens=TOP)
    defaults = Limits(budget=16, beams=16, depth=12)
    runs_a_model = False

    def __init__(self, vocabulary: int) -> None:
        self._tokens = np.zeros((vocabulary, TOP), np.int64)
        self._log_probs = np.full((vocabulary, TOP), -np.inf, np.float32)  # -inf: no entry
        self._root = 0
        self._limits = self.defaults
        self._grower = BestFirst(0, 0, DECAY, SOURCE_RECYCLING)

    def begin(self, context: Ids[int], sampler: Sampler, watch: Watch) -> None:
        self._root = context[-1]
        pairs = np.asarray([context[:-1], context[1:]], dtype=np.int64)
        unknown = pairs[:, np.isneginf(self._log_probs[pairs[0], 0])]
        self._tokens[unknown[0], 0] = unknown[1]
        self._log_probs[unknown[0], 0] = PAIR_LOG_PROB

    def observe_prefill(self, said: Said) -> None:
        self._learn(said)

    def plant(self, limits: Limits) -> None:
        self._limits = limits
        self._grower = BestFirst(limits.budget, limits.depth, DECAY, SOURCE_RECYCLING)

    def grow(self, rounds: int, watch: Watch) -> bool:
        for _ in range(rounds):
            nodes = self._grower.frontier(self._limits.beams)
            if not nodes:
                return False
            ids = [self._root if node == ROOT else self._grower.tokens[node] for node in nodes]
            self._grower.expand(nodes, self._tokens[ids], self._log_probs[ids])
        return bool(self._grower.frontier(1))

    def snapshot(self, budget: int) -> TokenTree:
        return self._grower.snapshot(budget)

    def advance(self, tokens: Ids[int], said: Said) -> None:
        self._learn(said)
        self._root = tokens[-1]

    def _learn(self, said: Said) -> None:
        rows = said.tokens.cpu().numpy()
        self._tokens[rows] = said.top_tokens.cpu().numpy()
        self._log_probs[rows] = said.top_log_probs.cpu().numpy()
