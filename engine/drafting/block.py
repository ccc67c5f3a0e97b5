"""Drafting with heads that guess a block of tokens in one pass, such as DFlash (arXiv 2602.06036).

The guess for a position does not depend on the tokens chosen before it, so all nodes of one depth get the
same children, as with Medusa's heads; the tree grows best-first by the product of their probabilities.
"""

from collections.abc import Sequence as Ids

from engine.arrays import Array
from engine.constraint.masks import Masks
from engine.drafting.best_first import BestFirst
from engine.drafting.head_context import HeadContext
from engine.drafting.protocol import Drafter, Feedback, Needs, TreeLimits
from engine.heads import BlockHead
from engine.heads.interface import Guesses
from engine.model.interface import Progress
from engine.sampling import Sampler
from engine.tree import ROOT, SOURCE_HEADS, TokenTree

DECAY = 0.95  # as in SpecExec
BRANCH = 10  # children per node, as with Medusa's heads


class BlockDrafter(Drafter):
    """Drafts with a head that runs once for each tree."""

    defaults = TreeLimits(budget=64, beams=16, depth=16)  # published blocks have 16 tokens

    def __init__(self, head: BlockHead) -> None:
        self.name = head.method
        self.needs = Needs(hidden_layers=head.hidden_layers)
        self._head = head
        self._text = HeadContext(head)
        self._masks: Masks | None = None
        self._beams = 0
        self._logits: Array = None  # [positions, tokens of the head] after the root
        self._guesses: Guesses | None = None  # [positions, branch] each
        self._grower = BestFirst(0, 0, DECAY, SOURCE_HEADS)

    def covers(self, context: Ids[int]) -> int:
        return self._text.covers(context)

    def begin(self, context: Ids[int], sampler: Sampler, progress: Progress) -> None:
        self._text.begin(context)
        self._masks = sampler.masks

    def observe_prefill(self, feedback: Feedback) -> None:
        self._text.read(feedback)

    def plant(self, limits: TreeLimits) -> None:
        self._beams = limits.beams
        depth = min(limits.depth, self._head.positions)
        self._grower = BestFirst(limits.budget, depth, DECAY, SOURCE_HEADS)
        self._guesses = self._logits = None

    def grow(self, rounds: int, progress: Progress) -> bool:
        for _ in range(rounds):
            nodes = self._grower.frontier(self._beams)
            if not nodes:
                return False
            if self._logits is None:
                progress(0, 1)
                text = self._text
                self._logits = self._head.guess(text.following, text.states, text.cache)
                text.settle()
            self._grower.expand(nodes, *self._children(nodes))
        return bool(self._grower.frontier(min(1, self._beams)))

    def _children(self, nodes: list[int]) -> Guesses:
        depths = [0 if node == ROOT else self._grower.depths[node] for node in nodes]
        if self._masks:
            paths = [self._grower.path(node) for node in nodes]
            allowed = self._masks.rows(paths, self._head.vocabulary)
            if allowed is not None:
                return self._head.best(self._logits[depths], BRANCH, allowed)
        if self._guesses is None:
            self._guesses = self._head.best(self._logits, BRANCH)
        return self._guesses[0][depths], self._guesses[1][depths]

    def snapshot(self, budget: int) -> TokenTree:
        return self._grower.snapshot(budget)

    def advance(self, tokens: Ids[int], feedback: Feedback) -> None:
        self._text.advance(tokens, feedback)

    def rewind(self, length: int) -> None:
        self._text.rewind(length)
