"""EAGLE (arXiv 2401.15077, 2406.16858, 2503.01840): a head guesses the target's next hidden states, and from
these states the next tokens; the tree grows best-first by confidence and is cut to the budget.

The head's row for a token is computed from the target's state at the preceding token. Within a tree, that
state is the head's own guess; once the target has run, rows are recomputed with the target's states.
"""

from collections.abc import Sequence as Ids

import numpy as np

from engine.arrays import Array, namespace
from engine.drafting.best_first_drafter import BestFirstDrafter
from engine.drafting.head_context import HeadContext
from engine.drafting.protocol import Feedback, Needs, TreeLimits
from engine.heads import EagleHead
from engine.model.interface import Progress
from engine.model.rows import Rows
from engine.prompt_cache import KnownRows
from engine.sampling import Sampler
from engine.tree import ROOT, SOURCE_HEADS

DECAY = 0.99  # nearly 1: EAGLE-2 ranks by the product of confidences alone
BRANCH = 10  # children per node, as in EAGLE-2


class EagleDrafter(BestFirstDrafter):
    """Drafts with an EAGLE head."""

    name = "eagle"
    defaults = TreeLimits(budget=60, beams=10, depth=8)  # as in EAGLE-2

    def __init__(self, head: EagleHead) -> None:
        super().__init__(DECAY, SOURCE_HEADS)
        self.needs = Needs(hidden_layers=head.hidden_layers)
        self._head = head
        self._text = HeadContext(head)
        self._rows: dict[int, int] = {}  # ROOT and expanded nodes -> their rows in the next two tensors
        self._guessed: Array = head.no_states  # [1 + tail, width] states guessed by the head
        self._visible = np.empty((1, 0), np.bool_)  # [1 + tail, tail] ancestors in the cache's tail

    def covers(self, context: Ids[int]) -> int:
        return self._text.covers(context)

    def begin(self, context: Ids[int], sampler: Sampler, progress: Progress) -> None:
        self._text.begin(context)
        self._masks = sampler.masks

    def observe_prefill(self, feedback: Feedback) -> None:
        self._text.read(feedback)

    def advance(self, tokens: Ids[int], feedback: Feedback) -> None:
        self._text.advance(tokens, feedback)  # the tree's rows were computed from guesses

    def rewind(self, length: int) -> None:
        self._text.rewind(length)

    def save(self) -> None:
        self._text.save()

    @property
    def known_rows(self) -> list[KnownRows]:
        return [self._text.known_rows] if self._text.known_rows else []

    def _free_beams(self) -> int:
        return min(self._limits.beams, self._text.cache.free)  # each node takes a slot in the cache

    def _expand(self, nodes: list[int], progress: Progress) -> None:
        progress(0, 1)
        states = self._run_root() if nodes == [ROOT] else self._run(nodes)
        allowed = self._allowed(nodes, self._head.vocabulary)
        self._grower.expand(nodes, *self._head.best(states, BRANCH, allowed))

    def _run_root(self) -> Array:
        """Commit a row for each token up to the root; return the state [1, width] guessed at the root."""
        text = self._text
        states = self._head.no_states
        for piece in text.pieces:
            rows = Rows.text(text.following[: len(piece)], text.cache.length)
            states = self._head.forward(rows, piece, text.cache)
            text.cache.keep(range(len(piece)))
        text.settle()
        self._rows = {ROOT: 0}
        self._guessed = states[-1:]
        self._visible = np.empty((1, 0), np.bool_)
        return self._guessed

    def _run(self, nodes: list[int]) -> Array:
        """Return the states [nodes, width] guessed at nodes whose parents have been run."""
        parents = [self._rows[self._grower.parents[node]] for node in nodes]
        visible = np.hstack([self._visible[parents], np.eye(len(nodes), dtype=np.bool_)])
        rows = Rows(
            np.array([self._grower.tokens[node] for node in nodes]),
            np.array([len(self._text.tokens) - 2 + self._grower.depths[node] for node in nodes]),
            visible,
        )
        states = self._head.forward(rows, self._guessed[parents], self._text.cache)
        self._rows |= {node: row for row, node in enumerate(nodes, start=len(self._guessed))}
        self._guessed = namespace(states).concat([self._guessed, states], axis=0)
        self._visible = np.vstack([np.pad(self._visible, ((0, 0), (0, len(nodes)))), visible])
        return states
