"""A draft that reads the rows of its target: one KV cache for two models whose keys and values are alike.

The draft's own rows lie beside those of the target, so both may run at once: neither writes what the other
reads. While the target runs, its committed rows do not change, and its tail is not looked at. Once it has
committed rows of its own, the draft reads these in place of its own rows for the same tokens.
"""

from collections.abc import Sequence as Ids

import numpy as np
from numpy.typing import NDArray

from engine.arrays import Array
from engine.model.compiled import CompiledModel
from engine.model.interface import Model, Progress, no_progress
from engine.model.rows import Output
from engine.model.sequence import Sequence, common_prefix
from engine.planner.run_rows import OWN_ROWS


class FollowingSequence(Sequence):
    """A draft's rows, the committed ones of which are those of the sequence that it follows.

    `extend` and `consider` may run while that one does. The other methods read which tokens it has committed,
    so they must not run while it reads a text. A pass over a tree commits none: beside it, `keep` without
    tokens may drop rows of the tail, which are one's own.
    """

    follows = True

    def __init__(self, model: Model, followed: Sequence) -> None:
        """model: computes keys and values like those of the followed sequence's model. followed: its cache
        has slots `beside` its own."""
        self._shared = followed.cache.shared()
        super().__init__(model, followed.cache.capacity, self._shared)
        self._followed = followed

    @property
    def _own(self) -> int:
        """The number of tokens at the end of the text whose rows are one's own. They are the first of the
        tail."""
        return len(self.ids) - self._shared.length

    def align(self, context: Ids[int]) -> int:
        self.rewind(common_prefix(self._followed.ids, context))
        return len(self.ids)

    def rewind(self, length: int) -> None:
        self.ids = self._followed.ids[:length]
        self._shared.follow(len(self.ids), [])
        self._tail_positions.clear()

    def extend(self, tokens: Ids[int], progress: Progress = no_progress) -> Array:
        assert self._shared.tail == self._own, "a text ends before a tree begins"
        start, count = len(self.ids), len(tokens)
        positions = range(start, start + count)
        logits = self.consider(tokens, positions, np.tri(count, dtype=np.bool_), progress=progress).logits
        self.ids.extend(tokens)
        last: Array = logits[-1]
        return last

    def consider(
        self,
        tokens: Ids[int],
        positions: Ids[int],
        visible: NDArray[np.bool_],
        hidden_layers: Ids[int] = (),
        progress: Progress = no_progress,
        logits: bool = True,
    ) -> Output:
        text = np.ones((len(tokens), self._own), np.bool_)
        seen = np.concatenate([text, visible], axis=1)
        return super().consider(tokens, positions, seen, hidden_layers, progress, logits)

    def keep(self, tail_slots: Ids[int], tokens: Ids[int], survivors: Ids[int] = ()) -> None:
        """Commit `tokens`, which the followed sequence has committed too, except perhaps the last ones: only
        of these, one's own rows stay."""
        own, before, committed = self._own, self._shared.length, self._followed.ids
        of_text = [*range(own), *(own + slot for slot in tail_slots)]
        kept = [*of_text[len(committed) - before :], *(own + slot for slot in survivors)]
        self._tail_positions = [self._tail_positions[slot] for slot in kept]
        self._shared.follow(len(committed), kept)
        self.ids = [*committed, *[*self.ids, *tokens][len(committed) :]]


def sharing(target: Model, draft: CompiledModel, capacity: int) -> tuple[Sequence, FollowingSequence]:
    """Return empty sequences of a target and of a draft whose keys and values are like the target's: they
    have one cache for `capacity` tokens."""
    cache = draft.new_cache(capacity, min(OWN_ROWS, capacity))
    followed = Sequence(target, capacity, cache)
    return followed, FollowingSequence(draft, followed)
