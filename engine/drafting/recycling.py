"""Token Recycling (arXiv 2408.08696): a training-free drafter for a target without a draft.

A table holds, for every token of the vocabulary, the target's latest prediction of the next token: its best
tokens and their probabilities, taken from every node the target has verified, accepted or not. The tree is
read from the table. The paper uses a fixed tree shape; this drafter grows best-first by the recorded
probabilities.
"""

from collections.abc import Sequence as Ids

import numpy as np

from engine.drafting.best_first_drafter import BestFirstDrafter
from engine.drafting.protocol import Feedback, Needs, TreeLimits
from engine.model.interface import Progress
from engine.sampling import Sampler
from engine.tree import ROOT, SOURCE_RECYCLING

TOP = 8  # the paper's table width
DECAY = 0.8  # recorded probabilities are from other contexts, so each step is trusted less
# The log-probability assumed for the second of two successive tokens in the prompt, until the target has
# predicted what follows the first.
PAIR_LOG_PROB = float(np.log(0.3))


class RecyclingDrafter(BestFirstDrafter):
    """Drafts from the table. It is kept across answers, and `rewind` leaves it alone, because it describes
    the target, not a text."""

    name = "recycling"
    needs = Needs(top_tokens=TOP)
    defaults = TreeLimits(budget=16, beams=16, depth=12)
    runs_a_model = False

    def __init__(self, vocabulary: int) -> None:
        super().__init__(DECAY, SOURCE_RECYCLING)
        self._tokens = np.zeros((vocabulary, TOP), np.int64)
        self._log_probs = np.full((vocabulary, TOP), -np.inf, np.float32)  # -inf: no entry
        self._root = 0

    def begin(self, context: Ids[int], sampler: Sampler, progress: Progress) -> None:
        self._root = context[-1]
        self._masks = sampler.masks
        pairs = np.asarray([context[:-1], context[1:]], dtype=np.int64)
        unknown = pairs[:, np.isneginf(self._log_probs[pairs[0], 0])]
        self._tokens[unknown[0], 0] = unknown[1]
        self._log_probs[unknown[0], 0] = PAIR_LOG_PROB

    def observe_prefill(self, feedback: Feedback) -> None:
        self._learn(feedback)

    def _expand(self, nodes: list[int], progress: Progress) -> None:
        ids = [self._root if node == ROOT else self._grower.tokens[node] for node in nodes]
        self._grower.expand(nodes, self._tokens[ids], self._log_probs[ids])

    def advance(self, tokens: Ids[int], feedback: Feedback) -> None:
        self._learn(feedback)
        self._root = tokens[-1]

    def _learn(self, feedback: Feedback) -> None:
        self._tokens[feedback.tokens] = feedback.top_tokens
        self._log_probs[feedback.tokens] = feedback.top_log_probs
