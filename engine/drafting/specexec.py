"""SpecExec's drafter: a draft model grows the tree best-first (arXiv 2406.02532, section 4). Knows no target.

Growth is coupled to the target's randomness. The target will choose argmax(log p + T * noise), and the noise
of every coming position is known: it depends on seed and position only. So a child's chance is not the
draft's q, but the draft's view of what that argmax will be: with log p = log q + an error of about one nat,
Gumbel distributed, the chance is softmax(log q + T * noise). Greedy, T = 0, this is q again, as in the paper.
The output is exact either way; only where the tree grows differs.

How good such chances are is told by the log-likelihood of what the target then chose. Qwen2.5-Coder 0.5B for
1.5B, 667 positions of six answers, three seeds, T 0.8: q -1.15 nats, coupled -0.97 (with an error of half a
nat assumed -1.17, of 1.4 -1.09); the choice is the best child 73 and 76 times of 100, among the best two 83
and 87. Tokens per pass at T 0.6, 0.8 and 1, budget 64: 0.96, 1.24 and 1.14 times those of the paper's growth.
"""

import math
from collections.abc import Sequence as Ids

import torch
from torch import Tensor
from torch.nn.functional import logsigmoid

from engine.drafting.best_first import BestFirst
from engine.drafting.draft_rows import DraftRows
from engine.drafting.protocol import Drafter, Limits, Needs, Said
from engine.model import Watch
from engine.sampling import History, Sampler, gumbel_noise
from engine.sequence import Sequence
from engine.tree import ROOT, SOURCE_DRAFT, TokenTree

DECAY = 0.95  # the paper's: prefers broad trees a little over deep ones
BRANCH = 16  # children per node; further ones hardly ever enter the best `budget`
CANDIDATES = 128  # tokens whose noise is looked at
NUCLEUS_ERROR = 0.1  # of the draft's view how much of the target's probability stands before a token


class SpecExecDrafter(Drafter):
    """Attributes: `sequence` (the draft and its rows), `vocabulary` (token ids that draft and target
    share)."""

    name = "specexec"
    needs = Needs()
    defaults = Limits(budget=64, beams=16, depth=32)

    def __init__(
        self,
        sequence: Sequence,
        vocabulary: int,
        branch: int = BRANCH,
        decay: float = DECAY,
        sharpening: float = 1.0,
        coupled: bool = True,
    ) -> None:
        """sharpening: draft temperature; below 1 the tree grows deeper and narrower. coupled: whether growth
        looks at the target's noise."""
        self.sequence = sequence
        self.vocabulary = vocabulary
        self._branch = branch
        self._decay = decay
        self._sharpening = sharpening
        self._coupled = coupled
        if not coupled:
            self.name = "specexec-uncoupled"
        self._sampler = Sampler()
        self._limits = self.defaults
        self._grower = BestFirst(0, 0, decay, SOURCE_DRAFT)
        self._rows = DraftRows(sequence)

    def begin(self, context: Ids[int], sampler: Sampler, watch: Watch) -> None:
        self._sampler = sampler
        self._rows.begin(context, watch)

    def plant(self, limits: Limits) -> None:
        self._limits = limits
        self._grower = BestFirst(limits.budget, limits.depth, self._decay, SOURCE_DRAFT, limits.worth)
        self._rows.plant()

    def grow(self, rounds: int, watch: Watch) -> bool:
        for _ in range(rounds):
            nodes = self._grower.frontier(self._most_beams())
            if not nodes:
                return False
            logits = self._rows.run(nodes, self._grower, watch)[:, : self.vocabulary]
            columns = self._children(logits.float(), nodes)
            tokens, log_probs, log_chances = (column.cpu().numpy() for column in columns)
            self._grower.expand(nodes, tokens, log_probs, log_chances)
        return bool(self._grower.frontier(self._most_beams()))

    def _children(self, logits: Tensor, nodes: list[int]) -> tuple[Tensor, Tensor, Tensor]:
        """The likeliest children of each node, all [nodes, branch]: token ids, log q, and the log of the
        chance that the target chooses them. logits: [nodes, vocabulary]."""
        log_q = logits.log_softmax(-1)
        if not self._coupled:
            values, tokens = log_q.topk(min(self._branch, self.vocabulary))
            return tokens, values, values / self._sharpening
        sampler = self._sampler
        paths = [self._grower.path(node) if sampler.looks_back else [] for node in nodes]
        log_p = sampler.penalised(logits, History(self._rows.context, paths)).log_softmax(-1)
        values, tokens = log_p.topk(min(CANDIDATES, self.vocabulary))
        if sampler.temperature > 0:
            depths = [0 if node == ROOT else self._grower.depths[node] for node in nodes]
            positions = len(self._rows.context) + torch.tensor(depths, device=logits.device)
            noise = gumbel_noise(sampler.seed, positions[:, None], tokens).float()
            values = values + sampler.temperature * noise + log_passes(sampler, values, log_p)
            values = values.log_softmax(-1)
        best = (values / self._sharpening).topk(min(self._branch, self.vocabulary))
        tokens = tokens.gather(-1, best.indices)
        return tokens, log_q.gather(-1, tokens), best.values

    def _most_beams(self) -> int:
        """Nodes the next round may expand."""
        return min(self._limits.beams, self._rows.room)

    def snapshot(self, budget: int) -> TokenTree:
        return self._grower.snapshot(budget)

    def advance(self, tokens: Ids[int], said: Said) -> None:
        self._rows.advance(tokens, self._grower.follow(list(tokens[:-1])))

    def rewind(self, length: int) -> None:
        self._rows.rewind(length)


def log_passes(sampler: Sampler, values: Tensor, log_p: Tensor) -> Tensor:
    """Log of the chance that tokens pass the target's filters, as far as a draft can tell.

    log_p: [nodes, vocabulary], the draft's penalised log-probabilities. values: [nodes, some], those of the
    best tokens, best first.
    """
    temperature = sampler.temperature
    passes = torch.zeros_like(values)
    if sampler.top_k:
        passes[:, sampler.top_k :] = -torch.inf
    if sampler.top_p < 1:
        probs = (values / temperature - (log_p / temperature).logsumexp(-1, keepdim=True)).exp()
        before = probs.cumsum(-1) - probs
        passes += logsigmoid((sampler.top_p - before) / NUCLEUS_ERROR)
    if sampler.min_p > 0:
        passes += logsigmoid(values - values[:, :1] - temperature * math.log(sampler.min_p))
    return passes
