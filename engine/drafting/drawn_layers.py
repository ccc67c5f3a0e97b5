"""Trees whose nodes are drawn from a draft model's distribution, layer by layer: the common part of the
drafters `specinfer` and `sps`.

Such a tree may only be verified by rejection (`engine.decoding.rejection`), and only if a node's number of
draws depends neither on those draws nor on deeper ones: dropping the worst draws, as a best-first tree does,
would leave draws from a different distribution than the one they are tested against. Here the expansion
configuration (SpecInfer, arXiv 2305.09781, section 3) k_1, k_2, ... is fixed before the first draw: every
node of depth d - 1 gets k_d independent draws from the draft's logits, after the same processors as the
target's. Equal draws share one node, which is tested once for each of them.
"""

import math
from abc import abstractmethod
from collections.abc import Mapping
from collections.abc import Sequence as Ids

import numpy as np
from numpy.typing import NDArray

from engine.arrays import Array, as_float, like, log_softmax, namespace, on_host, top
from engine.drafting.draft_rows import DraftRows
from engine.drafting.protocol import Drawing, Drawn, Feedback, Needs, TreeLimits
from engine.model.interface import Progress
from engine.model.sequence import Sequence
from engine.sampling import DRAFT_STREAM, Sampler, TokenHistory, draw, uniforms
from engine.tree import ROOT, SOURCE_DRAFT, Children, TokenTree, follow

MAX_DRAWS = 1 << 16  # most draws per node


class LayerDrafter(Drawing):
    """A drafter that draws the nodes of its trees at random, layer by layer.

    Attributes: `sequence`, the draft and its rows; `vocabulary`, the number of token ids that draft and
    target share; `tokens`, `parents` and `depths`, lists with one entry per node so far.
    """

    needs = Needs(rejection=True)

    def __init__(self, sequence: Sequence, vocabulary: int) -> None:
        self.sequence = sequence
        self.follows = sequence.follows
        self.vocabulary = vocabulary
        self._rows = DraftRows(sequence)
        self._sampler = Sampler()
        self._clear(())

    @abstractmethod
    def expansion(self, limits: TreeLimits) -> tuple[int, ...]:
        """Return k_1, k_2, ..., the draws per node in each layer of a tree within `limits`; each at least
        1."""

    def begin(self, context: Ids[int], sampler: Sampler, progress: Progress) -> None:
        self._sampler = sampler
        self._rows.begin(context, progress)

    def plant(self, limits: TreeLimits) -> None:
        self._rows.plant()
        self._clear(self.expansion(limits))

    def grow(self, rounds: int, progress: Progress) -> bool:
        for _ in range(min(rounds, len(self._expansion) - self._grown)):
            logits = self._rows.run(self._layer, self, progress)[:, : self.vocabulary]
            self._expand(logits, self._expansion[self._grown])
        return self._grown < len(self._expansion)

    def snapshot(self, budget: int) -> TokenTree:
        """Return all nodes so far: leaving out a drawn node would change the distribution."""
        assert len(self.tokens) <= budget
        return TokenTree(
            tokens=np.asarray(self.tokens, dtype=np.int64),
            parents=np.asarray(self.parents, dtype=np.int64),
            depths=np.asarray(self.depths, dtype=np.int64),
            log_probs=np.asarray(self._log_probs, dtype=np.float32),
            scores=np.asarray(self._scores, dtype=np.float32),
            sources=np.full(len(self.tokens), SOURCE_DRAFT, dtype=np.uint8),
        )

    def drawn(self) -> Mapping[int, Drawn]:
        return self._drawn

    def advance(self, tokens: Ids[int], feedback: Feedback) -> None:
        self._rows.advance(tokens, follow(self._children, tokens[:-1]))

    def rewind(self, length: int) -> None:
        self._rows.rewind(length)

    def _clear(self, expansion: tuple[int, ...]) -> None:
        self._expansion = expansion
        self._grown = 0  # number of layers so far
        self._layer = [ROOT]  # nodes of the deepest layer
        self.tokens: list[int] = []
        self.parents: list[int] = []
        self.depths: list[int] = []
        self._log_probs: list[float] = []
        self._scores: list[float] = []
        self._paths: dict[int, list[int]] = {ROOT: []}  # node -> tokens from the root down
        self._children: Children = {}
        self._drawn: dict[int, Drawn] = {}

    def _expand(self, logits: Array, draws: int) -> None:
        """Draw children for the nodes of the deepest layer. logits: [nodes, vocabulary] at these nodes."""
        history = TokenHistory(self._rows.context, [self._paths[node] for node in self._layer])
        # The distribution kept for the test must be exactly the one drawn from.
        probs = as_float(self._sampler.probabilities(logits, history))
        if self._sampler.temperature == 0:
            values, tokens = top(self._sampler.processed(logits, history), min(draws, self.vocabulary))
            possible = on_host(values) > -math.inf  # fewer than `draws` tokens may follow some nodes
        else:
            tokens = draw(probs, like(probs, self._uniforms(draws)))
            possible = np.ones(tokens.shape, np.bool_)
        log_probs = namespace(logits).take_along_axis(log_softmax(as_float(logits)), tokens, axis=-1)

        first = len(self.tokens)
        drawn = zip(self._layer, on_host(tokens), on_host(log_probs), possible, probs, strict=True)
        for parent, row, own, there, q in drawn:
            pairs = zip(row[there].tolist(), own[there].tolist(), strict=True)
            self._drawn[parent] = Drawn([self._child(parent, *pair) for pair in pairs], q)
        self._layer = list(range(first, len(self.tokens)))
        self._grown += 1

    def _uniforms(self, draws: int) -> NDArray[np.float64]:
        """Return the random numbers of the next layer. Its nodes share them: only one node can be on the
        accepted path, and which one is decided earlier. The numbers also depend on the depth: the next
        iteration, whose limits may depend on this tree, must use other numbers for the same position."""
        position = len(self._rows.context) + self._grown
        numbers = self._grown * MAX_DRAWS + np.arange(draws)
        found: NDArray[np.float64] = uniforms(self._sampler.seed, position, numbers, DRAFT_STREAM)
        return found

    def _child(self, parent: int, token: int, log_prob: float) -> int:
        node = self._children.setdefault((parent, token), len(self.tokens))
        if node == len(self.tokens):
            self.tokens.append(token)
            self.parents.append(parent)
            self.depths.append(self._grown + 1)
            self._log_probs.append(log_prob)
            self._scores.append(log_prob + (0.0 if parent == ROOT else self._scores[parent]))
            self._paths[node] = [*self._paths[parent], token]
        return node
