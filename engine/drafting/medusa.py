"""Medusa (arXiv 2401.10774): from the target's last hidden state, each head guesses one token further ahead.

A head does not see the tokens chosen in between, so all nodes of one depth get the same children. The paper
uses a fixed tree shape; this drafter grows best-first by the product of the heads' probabilities.
"""

from collections.abc import Sequence as Ids

from engine.arrays import Array, masked
from engine.constraint.masks import Masks
from engine.drafting.best_first import BestFirst
from engine.drafting.protocol import Drafter, Feedback, Needs, TreeLimits
from engine.heads import MedusaHeads
from engine.heads.interface import Guesses, guesses
from engine.model.interface import Progress
from engine.sampling import Sampler
from engine.tree import ROOT, SOURCE_HEADS, TokenTree

DECAY = 0.95  # as in SpecExec
BRANCH = 10  # children per node; the paper's trees use no more


class MedusaDrafter(Drafter):
    name = "medusa"
    defaults = TreeLimits(budget=64, beams=16, depth=8)

    def __init__(self, heads: MedusaHeads) -> None:
        self._heads = heads
        (self._layer,) = heads.hidden_layers
        self.needs = Needs(hidden_layers=heads.hidden_layers)
        self._beams = 0
        self._state: Array = None  # [width] the target's state at the token before the root
        self._masks: Masks | None = None
        self._logits: Array = None  # [heads, vocabulary] from that state
        self._guesses: Guesses | None = None  # [heads, branch] each
        self._grower = BestFirst(0, 0, DECAY, SOURCE_HEADS)

    def begin(self, context: Ids[int], sampler: Sampler, progress: Progress) -> None:
        self._masks = sampler.masks

    def observe_prefill(self, feedback: Feedback) -> None:
        self._state = feedback.hidden[self._layer][-1]

    def plant(self, limits: TreeLimits) -> None:
        self._beams = limits.beams
        depth = min(limits.depth, self._heads.layers)
        self._grower = BestFirst(limits.budget, depth, DECAY, SOURCE_HEADS)
        self._guesses = self._logits = None

    def grow(self, rounds: int, progress: Progress) -> bool:
        for _ in range(rounds):
            nodes = self._grower.frontier(self._beams)
            if not nodes:
                return False
            if self._logits is None:
                progress(0, 1)
                self._logits = self._heads.logits(self._state)
            self._grower.expand(nodes, *self._children(nodes))
        return bool(self._grower.frontier(min(1, self._beams)))

    def _children(self, nodes: list[int]) -> Guesses:
        depths = [0 if node == ROOT else self._grower.depths[node] for node in nodes]
        if self._masks:
            paths = [self._grower.path(node) for node in nodes]
            allowed = self._masks.rows(paths, self._logits.shape[-1])
            if allowed is not None:
                return guesses(masked(self._logits[depths], allowed), BRANCH)
        if self._guesses is None:
            self._guesses = guesses(self._logits, BRANCH)
        return self._guesses[0][depths], self._guesses[1][depths]

    def snapshot(self, budget: int) -> TokenTree:
        return self._grower.snapshot(budget)

    def advance(self, tokens: Ids[int], feedback: Feedback) -> None:
        self._state = feedback.hidden[self._layer][feedback.path[: len(tokens)][-1]]
