"""Drafting with an assistant of Gemma 4 (`engine.heads.assistant`): it guesses the target's next states and
tokens from the target's last state, and reads the target's own keys and values of the text. The tree grows
best-first, as with EAGLE.

Nothing of a node is kept but the state that was guessed there: rows of a tree do not see each other.
"""

from collections.abc import Sequence as Ids

import numpy as np

from engine.arrays import Array, namespace
from engine.drafting.best_first_drafter import BestFirstDrafter
from engine.drafting.eagle import BRANCH, DECAY
from engine.drafting.protocol import Feedback, Needs, TreeLimits
from engine.heads import AssistantHead
from engine.model.interface import Progress
from engine.model.sequence import Sequence
from engine.sampling import Sampler
from engine.tree import ROOT, SOURCE_HEADS


class AssistantDrafter(BestFirstDrafter):
    """Drafts with an assistant. What it keeps of a text are the root and the target's state before it."""

    name = "assistant"
    defaults = TreeLimits(budget=60, beams=10, depth=8)  # as EAGLE's
    follows = True

    def __init__(self, head: AssistantHead, target: Sequence) -> None:
        """target: has the rows that the head reads; it has committed all tokens but the root."""
        super().__init__(DECAY, SOURCE_HEADS)
        self.needs = Needs(hidden_layers=head.hidden_layers)
        self._head, self._target = head, target
        self._root = 0  # its token
        self._state: Array = None  # [1, width], the target's before the root
        self._rows: dict[int, int] = {}  # ROOT and expanded nodes -> their rows in the next
        self._guessed: Array = None  # [1 + expanded nodes, width], the states guessed there

    def begin(self, context: Ids[int], sampler: Sampler, progress: Progress) -> None:
        self._root = context[-1]
        self._masks = sampler.masks

    def observe_prefill(self, feedback: Feedback) -> None:
        states = self._states(feedback)
        self._state = namespace(states).asarray(
            states[-1:], copy=True
        )  # a view would keep the whole prompt's

    def advance(self, tokens: Ids[int], feedback: Feedback) -> None:
        before = feedback.path[len(tokens) - 1]
        self._root, self._state = tokens[-1], self._states(feedback)[before : before + 1]

    def _states(self, feedback: Feedback) -> Array:
        states: Array = feedback.hidden[self._head.hidden_layers[0]]
        return states

    def _expand(self, nodes: list[int], progress: Progress) -> None:
        progress(0, 1)
        if nodes == [ROOT]:
            self._head.read(self._target.cache)
            tokens, states = [self._root], self._state
        else:
            parents = [self._rows[self._grower.parents[node]] for node in nodes]
            tokens, states = [self._grower.tokens[node] for node in nodes], self._guessed[parents]
        guessed = self._head.forward(np.array(tokens, np.int64), states)
        if nodes == [ROOT]:
            self._rows, self._guessed = {ROOT: 0}, guessed.states
        else:
            self._rows |= {node: row for row, node in enumerate(nodes, start=len(self._guessed))}
            self._guessed = namespace(states).concat([self._guessed, guessed.states], axis=0)
        allowed = self._allowed(nodes, self._head.vocabulary)
        self._grower.expand(nodes, *self._head.best(guessed, BRANCH, allowed))
