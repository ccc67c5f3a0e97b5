"""SpecExec's drafter: a draft model grows the tree best-first (arXiv 2406.02532, section 4). Knows no target.

The draft's rows of expanded nodes stay in its cache; those on the accepted path are gathered, never computed
again.
"""

from collections.abc import Sequence as Ids

import numpy as np
import torch

from engine.drafting.best_first import BestFirst
from engine.drafting.protocol import Drafter, Limits, Needs, Said
from engine.model import Watch
from engine.sampling import Sampler
from engine.sequence import Sequence
from engine.tree import ROOT, SOURCE_DRAFT, TokenTree

DECAY = 0.95  # the paper's: prefers broad trees a little over deep ones
BRANCH = 16  # children per node; further ones hardly ever enter the best `budget`


class SpecExecDrafter(Drafter):
    """Attributes: `sequence` (the draft and its rows), `vocabulary` (token ids that draft and target
    share)."""

    name = "specexec"
    needs = Needs()
    defaults = Limits(budget=64, beams=16, depth=32)

    def __init__(
        self, sequence: Sequence, vocabulary: int, branch: int = BRANCH, decay: float = DECAY
    ) -> None:
        self.sequence = sequence
        self.vocabulary = vocabulary
        self._branch = branch
        self._decay = decay
        self._context: list[int] = []  # committed tokens, the last of which is the root
        self._limits = self.defaults
        self._grower = BestFirst(0, 0, decay, SOURCE_DRAFT)
        self._slots: dict[int, int] = {}  # expanded node -> its row in the draft cache's tail
        self._visible = torch.empty(0, 0, dtype=torch.bool)  # [tail, tail] ancestor mask of these rows

    def begin(self, context: Ids[int], sampler: Sampler, watch: Watch) -> None:
        self._context = list(context)
        # The root's own row is computed when the tree is planted: its logits are the root's children.
        self.sequence.align(self._context[:-1])
        unseen = self._context[len(self.sequence.ids) : -1]
        if unseen:
            self.sequence.extend(unseen, watch)

    def plant(self, limits: Limits) -> None:
        self._limits = limits
        self._grower = BestFirst(limits.budget, limits.depth, self._decay, SOURCE_DRAFT)
        self._slots = {}
        self._visible = torch.empty(0, 0, dtype=torch.bool)

    def grow(self, rounds: int, watch: Watch) -> bool:
        for _ in range(rounds):
            nodes = self._grower.frontier(self._most_beams())
            if not nodes:
                return False
            logits = self._run_root(watch) if nodes == [ROOT] else self._run(nodes, watch)
            log_probs = logits[:, : self.vocabulary].float().log_softmax(-1)
            best = log_probs.topk(min(self._branch, self.vocabulary))
            self._grower.expand(
                nodes, best.indices.cpu().numpy(), best.values.cpu().numpy().astype(np.float32)
            )
        return bool(self._grower.frontier(min(1, self._most_beams())))

    def _most_beams(self) -> int:
        """Nodes the next round may expand: each keeps a row, even once it drops out of the best `budget`."""
        cache = self.sequence.cache
        return min(self._limits.beams, cache.capacity - cache.length - cache.tail)

    def snapshot(self, budget: int) -> TokenTree:
        return self._grower.snapshot(budget)

    def advance(self, tokens: Ids[int], said: Said) -> None:
        # The new root is left out: its row comes with the next tree, which needs its logits.
        path = self._grower.follow(list(tokens[:-1]))
        expanded = [node for node in path if node in self._slots]
        self.sequence.keep(
            [self._slots[node] for node in expanded], [self._grower.tokens[node] for node in expanded]
        )
        self._slots = {}
        self._context.extend(tokens)

    def rewind(self, length: int) -> None:
        del self._context[length:]
        self.sequence.rewind(length)

    def _run_root(self, watch: Watch) -> torch.Tensor:
        """Commits the root, and accepted nodes that were never expanded; logits [1, vocabulary] of the
        root."""
        return self.sequence.extend(self._context[len(self.sequence.ids) :], watch)[None]

    def _run(self, nodes: list[int], watch: Watch) -> torch.Tensor:
        """Logits [nodes, vocabulary] of nodes whose parents have been run."""
        before, after = len(self._slots), len(self._slots) + len(nodes)
        visible = torch.zeros(after, after, dtype=torch.bool)
        visible[:before, :before] = self._visible
        positions = []
        for row, node in enumerate(nodes, start=before):
            parent = self._grower.parents[node]
            if parent != ROOT:
                visible[row] = visible[self._slots[parent]]
            visible[row, row] = True
            self._slots[node] = row
            positions.append(len(self._context) - 1 + self._grower.depths[node])
        self._visible = visible
        tokens = [self._grower.tokens[node] for node in nodes]
        return self.sequence.consider(tokens, positions, visible[before:], watch=watch).logits
