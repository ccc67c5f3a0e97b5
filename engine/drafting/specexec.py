"""SpecExec's drafter: a draft model grows the tree best-first (arXiv 2406.02532, section 4). Does not access
the target.

Growth is coupled to the target's randomness. The target will choose argmax(log p + T * noise), and the noise
at every future position is known: it depends on seed and position only. So a child's chance is not the
draft's q, but the draft's estimate of the chance to be that argmax. If log p is log q plus a
Gumbel-distributed error of about one nat, the chance is softmax(log q + T * noise). In greedy decoding T is
0, and the chance is q again, as in the paper. The output is exact either way; only the shape of the tree
differs.

The quality of these chances is measured by the log-likelihood of the target's choices. With Qwen2.5-Coder
0.5B as draft for 1.5B, at 667 positions of six answers, three seeds, T 0.8, it is -1.15 nats for q and -0.97
for coupled chances (-1.17 if the assumed error is half a nat, -1.09 if it is 1.4 nats). If children are
ranked by q, the target's choice is the best child 73 times in 100, and one of the best two 83 times; if they
are ranked by coupled chances, 76 and 87 times. Tokens per pass at T 0.6, 0.8 and 1, with budget 64, are 0.96,
1.24 and 1.14 times those of the paper's growth.
"""

import math
from collections.abc import Sequence as Ids

import numpy as np
from numpy.typing import NDArray

from engine.arrays import Array, as_float, like, log_softmax, namespace, on_host, top
from engine.drafting.best_first import BestFirst
from engine.drafting.best_first_drafter import BestFirstDrafter
from engine.drafting.draft_rows import DraftRows
from engine.drafting.exits import Exits
from engine.drafting.protocol import Feedback, Needs, TreeLimits
from engine.model.interface import Progress
from engine.model.sequence import Sequence
from engine.sampling import Sampler, TokenHistory, best_tokens, gumbel_noise, log_totals
from engine.tree import ROOT, SOURCE_DRAFT, TokenTree, follow

DECAY = 0.95  # from the paper; slightly prefers broad trees over deep ones
BRANCH = 16  # children per node; more hardly ever enter the best `budget`
AHEAD_BEAMS = 64  # nodes expanded per round while the target verifies: more rows cost less each
CANDIDATES = 128  # number of likeliest tokens per node whose noise is computed
NUCLEUS_ERROR = 0.1  # the draft's error in the total probability of the tokens likelier than a given one
XTC_ERROR = 0.05  # the draft's error in the probability of a token that XTC compares with its threshold


class SpecExecDrafter(BestFirstDrafter):
    """Grows trees with a draft model. Attributes: `sequence`, the draft and its rows; `vocabulary`, the
    number of token ids that draft and target share."""

    name = "specexec"
    drafts_ahead = True
    needs = Needs()
    defaults = TreeLimits(budget=64, beams=16, depth=32)

    def __init__(
        self,
        sequence: Sequence,
        vocabulary: int,
        branch: int = BRANCH,
        decay: float = DECAY,
        sharpening: float = 1.0,
        coupled: bool = True,
    ) -> None:
        """branch: children per node. sharpening: the draft's temperature; below 1 the tree grows deeper and
        narrower. coupled: whether growth takes the target's noise into account."""
        super().__init__(decay, SOURCE_DRAFT)
        self.sequence = sequence
        self.follows = sequence.follows
        self.vocabulary = vocabulary
        self._branch = branch
        self._sharpening = sharpening
        self._coupled = coupled
        if not coupled:
            self.name = "specexec-uncoupled"
        self._sampler = Sampler()
        self._exits: Exits | None = None  # of the tree that the target verifies, while it grows ahead
        self._rows = DraftRows(sequence)
        self._lives_on = False  # whether the tree was grown ahead, and its root has moved to the new root

    @property
    def size(self) -> int:
        return len(self._grower.tokens) if self._exits else len(self._grower)

    @property
    def expanded(self) -> int:
        return int(self._grower.expanded.sum()) + self._grower.is_rooted

    def begin(self, context: Ids[int], sampler: Sampler, progress: Progress) -> None:
        self._sampler = sampler
        self._lives_on = False
        self._rows.begin(context, progress)

    def plant(self, limits: TreeLimits) -> None:
        self._limits, self._exits = limits, None
        if self._lives_on:  # its root is committed, and states cannot go back by one token
            self._grower.limit(limits.budget, limits.depth, limits.worth)
        else:
            lasting = limits.ahead > 0
            self._grower = BestFirst(
                limits.budget, limits.depth, self._decay, self._source, limits.worth, lasting=lasting
            )
            self._rows.plant()
        self._lives_on = False

    def _free_beams(self) -> int:
        return min(AHEAD_BEAMS if self._exits else self._limits.beams, self._rows.free_rows(self._limits))

    def _frontier(self) -> list[int]:
        return self._exits.frontier(self._free_beams()) if self._exits else super()._frontier()

    def _can_grow(self) -> bool:
        return self._exits is not None or super()._can_grow()

    def _expand(self, nodes: list[int], progress: Progress) -> None:
        found = self._rows.each(nodes, self._grower, self._children, progress)
        columns = (np.concatenate([on_host(part) for part in parts]) for parts in zip(*found, strict=True))
        self._grower.expand(nodes, *columns)

    def _children(self, nodes: list[int], logits: Array) -> tuple[Array, Array, Array]:
        """Return the likeliest children of each node: token ids, log q, and the log of the chance that the
        target chooses the child; each [nodes, branch]. logits: [nodes, vocabulary of the draft]."""
        sampler = self._sampler.behind(self._rows.context)
        paths = [self._grower.path(node) if sampler.looks_back else [] for node in nodes]
        history = TokenHistory(self._rows.context, paths)
        logits = sampler.masked(as_float(logits[:, : self.vocabulary]), history)
        if not self._coupled or (sampler.temperature == 0 and not sampler.alters):
            tokens, values = best_tokens(logits, self._branch)
            return tokens, values, values / self._sharpening
        xp = namespace(logits)
        processed = sampler.penalised(logits, history)
        tokens, values = best_tokens(processed, CANDIDATES)
        log_q = values
        if sampler.alters:
            log_q = xp.take_along_axis(logits, tokens, axis=-1) - log_totals(logits)
        if sampler.temperature > 0:
            depths = [0 if node == ROOT else self._grower.depths[node] for node in nodes]
            positions = len(self._rows.context) + np.array(depths)
            noise = as_float(gumbel_noise(sampler.seed, like(tokens, positions)[:, None], tokens))
            passes = log_passes(sampler, values, tokens, processed, positions)
            values = values + sampler.temperature * noise + passes
            values = log_softmax(values)
        chances, places = top(values / self._sharpening, min(self._branch, self.vocabulary))
        tokens, log_q = (xp.take_along_axis(each, places, axis=-1) for each in (tokens, log_q))
        return tokens, log_q, chances

    def widen(self, tree: TokenTree, depth: int) -> bool:
        if self._limits.ahead:
            sent = self._grower.graft(tree)
            self._exits = Exits(self._grower, sent, self._limits, depth)
        return self._limits.ahead > 0

    def advance(self, tokens: Ids[int], feedback: Feedback) -> None:
        path = follow(self._grower.children(), tokens)
        if self._grower.lasting and len(path) == len(tokens) and self._grower.is_expanded(path[-1]):
            self._rows.reroot(tokens, path, self._grower.reroot(path[-1]))
            self._lives_on = True
        else:
            self._rows.advance(tokens, path[: len(tokens) - 1])

    def rewind(self, length: int) -> None:
        self._lives_on = False
        self._rows.rewind(length)


def log_passes(
    sampler: Sampler, values: Array, tokens: Array, logits: Array, positions: NDArray[np.int64]
) -> Array:
    """Return an estimate of the log of the chance that each token passes the target's filters, [nodes,
    candidates].

    values, tokens: [nodes, candidates], the draft's penalised log-probabilities of the best tokens, best
    first, and their ids. logits: [nodes, vocabulary], penalised. positions: int64 [nodes], those of the
    tokens.
    """
    xp, temperature = namespace(values), sampler.temperature
    passes = xp.zeros_like(values)
    if sampler.top_k:
        passes[:, sampler.top_k :] = -math.inf
    if sampler.top_p < 1:
        logits = logits / temperature
        probs = xp.exp(xp.take_along_axis(logits, tokens, axis=-1) - log_totals(logits))
        before = xp.cumulative_sum(probs, axis=-1) - probs
        passes += _log_sigmoid((sampler.top_p - before) / NUCLEUS_ERROR)
    if sampler.min_p > 0:
        passes += _log_sigmoid(values - values[:, :1] - temperature * math.log(sampler.min_p))
    if sampler.xtc_probability > 0:
        # XTC excludes a token if the next best one reaches the threshold, too.
        spare = (sampler.xtc_threshold - xp.exp(values[:, 1:])) / XTC_ERROR
        applies = as_float(like(values, sampler.xtc_applies(positions)))
        passes[:, :-1] += applies[:, None] * _log_sigmoid(spare)
    return passes


def _log_sigmoid(x: Array) -> Array:
    xp = namespace(x)
    return -xp.logaddexp(-x, xp.zeros_like(x))
