"""SpecExec's drafter: a draft model grows the tree best-first (arXiv 2406.02532, section 4). Knows no target."""

from collections.abc import Sequence as Ids

import numpy as np

from engine.drafting.best_first import BestFirst
from engine.drafting.draft_rows import DraftRows
from engine.drafting.protocol import Drafter, Limits, Needs, Said
from engine.model import Watch
from engine.sampling import Sampler
from engine.sequence import Sequence
from engine.tree import SOURCE_DRAFT, TokenTree

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
        self._limits = self.defaults
        self._grower = BestFirst(0, 0, decay, SOURCE_DRAFT)
        self._rows = DraftRows(sequence)

    def begin(self, context: Ids[int], sampler: Sampler, watch: Watch) -> None:
        self._rows.begin(context, watch)

    def plant(self, limits: Limits) -> None:
        self._limits = limits
        self._grower = BestFirst(limits.budget, limits.depth, self._decay, SOURCE_DRAFT)
        self._rows.plant()

    def grow(self, rounds: int, watch: Watch) -> bool:
        for _ in range(rounds):
            nodes = self._grower.frontier(self._most_beams())
            if not nodes:
                return False
            logits = self._rows.run(nodes, self._grower, watch)
            log_probs = logits[:, : self.vocabulary].float().log_softmax(-1)
            best = log_probs.topk(min(self._branch, self.vocabulary))
            self._grower.expand(
                nodes, best.indices.cpu().numpy(), best.values.cpu().numpy().astype(np.float32)
            )
        return bool(self._grower.frontier(min(1, self._most_beams())))

    def _most_beams(self) -> int:
        """Nodes the next round may expand."""
        return min(self._limits.beams, self._rows.room)

    def snapshot(self, budget: int) -> TokenTree:
        return self._grower.snapshot(budget)

    def advance(self, tokens: Ids[int], said: Said) -> None:
        self._rows.advance(tokens, self._grower.follow(list(tokens[:-1])))

    def rewind(self, length: int) -> None:
        self._rows.rewind(length)
