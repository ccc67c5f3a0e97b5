"""Token Recycling (arXiv 2408.08696): a training-free drafter for a target without a draft.

A table holds, for every token of the vocabulary, the target's latest prediction of the next token: its best
tokens and their probabilities, taken from every node the target has verified, accepted or not. The tree is
read from the table. The paper uses a fixed tree shape; this drafter grows best-first by the recorded
probabilities.
"""

from collections.abc import Sequence as Ids

import numpy as np

from engine.constraint.masks import Masks
from engine.drafting.best_first import BestFirst
from engine.drafting.protocol import Drafter, Feedback, Needs, TreeLimits
from engine.model.interface import Progress
from engine.sampling import Sampler
from engine.tree import ROOT, SOURCE_RECYCLING, TokenTree

TOP = 8  # the paper's table width
DECAY = 0.8  # recorded probabilities are from other contexts, so each step is trusted less
# The log-probability assumed for the second of two successive tokens in the prompt, until the target has
# predicted what follows the first.
PAIR_LOG_PROB = float(np.log(0.3))


class RecyclingDrafter(Drafter):
    """Drafts from the table. It is kept across answers, and `rewind` leaves it alone, because it describes
    the target, not a text."""

    name = "recycling"
    needs = Needs(top_tokens=TOP)
    defaults = TreeLimits(budget=16, beams=16, depth=12)
    runs_a_model = False

    def __init__(self, vocabulary: int) -> None:
        self._tokens = np.zeros((vocabulary, TOP), np.int64)
        self._log_probs = np.full((vocabulary, TOP), -np.inf, np.float32)  # -inf: no entry
        self._root = 0
        self._masks: Masks | None = None
        self._limits = self.defaults
        self._grower = BestFirst(0, 0, DECAY, SOURCE_RECYCLING)

    def begin(self, context: Ids[int], sampler: Sampler, progress: Progress) -> None:
        self._root = context[-1]
        self._masks = sampler.masks
        pairs = np.asarray([context[:-1], context[1:]], dtype=np.int64)
        unknown = pairs[:, np.isneginf(self._log_probs[pairs[0], 0])]
        self._tokens[unknown[0], 0] = unknown[1]
        self._log_probs[unknown[0], 0] = PAIR_LOG_PROB

    def observe_prefill(self, feedback: Feedback) -> None:
        self._learn(feedback)

    def plant(self, limits: TreeLimits) -> None:
        self._limits = limits
        self._grower = BestFirst(limits.budget, limits.depth, DECAY, SOURCE_RECYCLING, masks=self._masks)

    def grow(self, rounds: int, progress: Progress) -> bool:
        for _ in range(rounds):
            nodes = self._grower.frontier(self._limits.beams)
            if not nodes:
                return False
            ids = [self._root if node == ROOT else self._grower.tokens[node] for node in nodes]
            self._grower.expand(nodes, self._tokens[ids], self._log_probs[ids])
        return bool(self._grower.frontier(1))

    def snapshot(self, budget: int) -> TokenTree:
        return self._grower.snapshot(budget)

    def advance(self, tokens: Ids[int], feedback: Feedback) -> None:
        self._learn(feedback)
        self._root = tokens[-1]

    def _learn(self, feedback: Feedback) -> None:
        self._tokens[feedback.tokens] = feedback.top_tokens
        self._log_probs[feedback.tokens] = feedback.top_log_probs
