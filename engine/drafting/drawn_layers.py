"""Trees of draws from a draft model's distribution, layer by layer: the common part of `specinfer` and
`sps`.

Such a tree may only be verified by rejection (`engine.rejection`), and only if the number of draws a node
gets depends neither on them nor on deeper ones: to drop the worst of the draws, as a best-first tree does,
would leave draws of another distribution than the one they are tested against. Here the expansion
configuration (SpecInfer, arXiv 2305.09781, section 3) k_1, k_2, ... is fixed before the first draw: every
node of depth d - 1 gets k_d draws, independent and from the distribution that the user's processors make of
the draft's logits, just as they make the target's. Equal draws are one node, which is tried once for each.
"""

from abc import abstractmethod
from collections.abc import Sequence as Ids

import numpy as np
import torch
from torch import Tensor

from engine.drafting.draft_rows import DraftRows
from engine.drafting.draws import draw
from engine.drafting.protocol import Drawing, Drawn, Limits, Needs, Said
from engine.model import Watch
from engine.sampling import DRAFT_STREAM, History, Sampler, uniforms
from engine.sequence import Sequence
from engine.tree import ROOT, SOURCE_DRAFT, TokenTree

MOST_DRAWS = 1 << 16  # of one node


class LayerDrafter(Drawing):
    """Attributes: `sequence` (the draft and its rows), `vocabulary` (token ids that draft and target share),
    `tokens`, `parents`, `depths` (of the nodes so far)."""

    needs = Needs(rejection=True)

    def __init__(self, sequence: Sequence, vocabulary: int) -> None:
        self.sequence = sequence
        self.vocabulary = vocabulary
        self._rows = DraftRows(sequence)
        self._sampler = Sampler()
        self._clear(())

    @abstractmethod
    def expansion(self, limits: Limits) -> tuple[int, ...]:
        """k_1, k_2, ... of a tree within `limits`, each at least 1."""

    def begin(self, context: Ids[int], sampler: Sampler, watch: Watch) -> None:
        self._sampler = sampler
        self._rows.begin(context, watch)

    def plant(self, limits: Limits) -> None:
        self._rows.plant()
        self._clear(self.expansion(limits))

    def grow(self, rounds: int, watch: Watch) -> bool:
        for _ in range(min(rounds, len(self._expansion) - self._grown)):
            logits = self._rows.run(self._layer, self, watch)[:, : self.vocabulary]
            self._expand(logits, self._expansion[self._grown])
        return self._grown < len(self._expansion)

    def snapshot(self, budget: int) -> TokenTree:
        """All nodes so far: to leave out one that was drawn would not be right."""
        assert len(self.tokens) <= budget
        return TokenTree(
            tokens=np.asarray(self.tokens, dtype=np.int64),
            parents=np.asarray(self.parents, dtype=np.int64),
            depths=np.asarray(self.depths, dtype=np.int64),
            log_probs=np.asarray(self._log_probs, dtype=np.float32),
            scores=np.asarray(self._scores, dtype=np.float32),
            sources=np.full(len(self.tokens), SOURCE_DRAFT, dtype=np.uint8),
        )

    def drawn(self, node: int) -> Drawn | None:
        return self._drawn.get(node)

    def advance(self, tokens: Ids[int], said: Said) -> None:
        self._rows.advance(tokens, self._follow(tokens[:-1]))

    def rewind(self, length: int) -> None:
        self._rows.rewind(length)

    def _clear(self, expansion: tuple[int, ...]) -> None:
        self._expansion = expansion
        self._grown = 0  # layers so far
        self._layer = [ROOT]  # nodes of the deepest one
        self.tokens: list[int] = []
        self.parents: list[int] = []
        self.depths: list[int] = []
        self._log_probs: list[float] = []
        self._scores: list[float] = []
        self._paths: dict[int, list[int]] = {ROOT: []}  # node -> tokens from the root down
        self._nodes: dict[tuple[int, int], int] = {}  # (parent, token) -> node
        self._drawn: dict[int, Drawn] = {}

    def _expand(self, logits: Tensor, draws: int) -> None:
        """Give each node of the deepest layer its draws; logits: [nodes, vocabulary] there."""
        history = History(self._rows.context, [self._paths[node] for node in self._layer])
        # What is kept for the test is exactly what was drawn from.
        probs = self._sampler.probabilities(logits, history).float()
        if self._sampler.temperature == 0:
            best = self._sampler.penalised(logits, history)
            tokens = best.topk(min(draws, self.vocabulary)).indices
        else:
            tokens = draw(probs, self._uniforms(draws))
        log_probs = logits.float().log_softmax(-1).gather(-1, tokens)

        first = len(self.tokens)
        for parent, row, values, q in zip(
            self._layer, tokens.tolist(), log_probs.tolist(), probs, strict=True
        ):
            children = [self._child(parent, *child) for child in zip(row, values, strict=True)]
            self._drawn[parent] = Drawn(children, q)
        self._layer = list(range(first, len(self.tokens)))
        self._grown += 1

    def _uniforms(self, draws: int) -> Tensor:
        """For the next layer. All its nodes share them: only one of them can be on the accepted path, and
        which one is decided before. Numbered by depth too, so that a position drafted again in the next
        iteration, whose limits may come of what was seen of this tree, is drafted anew."""
        position = len(self._rows.context) + self._grown
        numbers = self._grown * MOST_DRAWS + torch.arange(draws)
        return uniforms(self._sampler.seed, position, numbers, DRAFT_STREAM)

    def _child(self, parent: int, token: int, log_prob: float) -> int:
        node = self._nodes.setdefault((parent, token), len(self.tokens))
        if node == len(self.tokens):
            self.tokens.append(token)
            self.parents.append(parent)
            self.depths.append(self._grown + 1)
            self._log_probs.append(log_prob)
            self._scores.append(log_prob + (0.0 if parent == ROOT else self._scores[parent]))
            self._paths[node] = [*self._paths[parent], token]
        return node

    def _follow(self, tokens: Ids[int]) -> list[int]:
        """Node ids along the path that spells `tokens` from the root, as far as it goes."""
        path: list[int] = []
        node = ROOT
        for token in tokens:
            if (node, token) not in self._nodes:
                break
            node = self._nodes[node, token]
            path.append(node)
        return path
