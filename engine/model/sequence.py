"""A model with the rows it has computed for one token sequence: the interface to both target and draft.

A prefix that was computed before is never computed again. Knows nothing of trees, text or sampling.
"""

from collections.abc import Sequence as Ids

import numpy as np
from numpy.typing import NDArray

from engine.arrays import Array
from engine.model.interface import Model, Progress, no_progress
from engine.model.kv_cache import KVCache
from engine.model.rows import Output, Rows


def common_prefix(a: Ids[int], b: Ids[int]) -> int:
    """Return the length of the longest common prefix of `a` and `b`."""
    limit = min(len(a), len(b))
    return next((i for i in range(limit) if a[i] != b[i]), limit)


class Sequence:
    """A model with its rows for one text. Attributes: `model`; `cache`, the rows; `ids`, the committed
    tokens: slot i of the cache holds the row of ids[i]."""

    def __init__(self, model: Model, capacity: int) -> None:
        self.model = model
        self.cache: KVCache = model.new_cache(capacity)
        self.ids: list[int] = []
        self._tail_positions: list[int] = []

    def align(self, context: Ids[int]) -> int:
        """Keep the rows of the longest common prefix with `context` and return its length."""
        self.rewind(common_prefix(self.ids, context))
        return len(self.ids)

    def rewind(self, length: int) -> None:
        """Keep only the first `length` tokens."""
        length = min(length, len(self.ids))
        self.cache.truncate(length)
        del self.ids[length:]
        self._tail_positions.clear()

    def extend(self, tokens: Ids[int], progress: Progress = no_progress) -> Array:
        """Commit tokens as plain text and return the logits [vocabulary] at the last one. If `progress` ends
        the pass, nothing is committed."""
        return self.read(tokens, progress=progress).logits[0]

    def read(
        self, tokens: Ids[int], hidden_layers: Ids[int] = (), progress: Progress = no_progress
    ) -> Output:
        """Commit tokens as `extend` does. Return the hidden states at all of them, and the logits [1,
        vocabulary] at the last."""
        self.rewind(len(self.ids))
        rows = Rows.text(tokens, len(self.ids))
        output = self.model.forward(
            rows, self.cache, logits_for=slice(-1, None), hidden_layers=hidden_layers, progress=progress
        )
        self.keep(range(len(tokens)), tokens)
        return output

    def consider(
        self,
        tokens: Ids[int],
        positions: Ids[int],
        visible: NDArray[np.bool_],
        hidden_layers: Ids[int] = (),
        progress: Progress = no_progress,
    ) -> Output:
        """Run rows without committing them; they join the tail. visible: as in Rows."""
        rows = Rows(np.array(tokens, np.int64), np.array(positions, np.int64), visible)
        tail = np.array(self._tail_positions, np.int64)
        output = self.model.forward(rows, self.cache, tail, hidden_layers=hidden_layers, progress=progress)
        self._tail_positions.extend(positions)
        return output

    def keep(self, tail_slots: Ids[int], tokens: Ids[int], survivors: Ids[int] = ()) -> None:
        """Commit these slots of the tail, which hold `tokens`. The tail is then the slots `survivors`, in
        this order."""
        assert len(tail_slots) == len(tokens)
        self.cache.keep(list(tail_slots), list(survivors))
        self.ids.extend(tokens)
        self._tail_positions = [self._tail_positions[slot] for slot in survivors]
