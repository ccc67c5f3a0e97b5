"""A draft that reads the rows of its target: one KV cache for two models whose keys and values are alike.

The draft's own rows lie behind the committed ones, where the target writes those of its tree later. So they
are gone once the target has run; by then, it has computed the committed ones itself.
"""

from collections.abc import Sequence as Ids

from engine.arrays import Array
from engine.model.interface import Model, Progress, no_progress
from engine.model.kv_cache import HostCache
from engine.model.rows import Rows
from engine.model.sequence import Sequence, common_prefix


class SharedCache(HostCache):
    """A second view of a cache, with a length and a tail of its own. It takes no memory."""

    def __init__(self, owner: HostCache) -> None:
        super(HostCache, self).__init__(owner.capacity)
        self.store, self.layers = owner.store, owner.layers

    @property
    def nbytes(self) -> int:
        return 0


class FollowingSequence(Sequence):
    """A draft's rows, the committed ones of which are those of the sequence that it follows. It must not run
    while that one does."""

    follows = True

    def __init__(self, model: Model, followed: Sequence) -> None:
        """model: computes keys and values like those of the followed sequence's model, which is compiled."""
        assert isinstance(followed.cache, HostCache)
        super().__init__(model, followed.cache.capacity, SharedCache(followed.cache))
        self._followed = followed

    def align(self, context: Ids[int]) -> int:
        self.rewind(common_prefix(self._followed.ids, context))
        return len(self.ids)

    def rewind(self, length: int) -> None:
        self._follow()
        super().rewind(length)

    def extend(self, tokens: Ids[int], progress: Progress = no_progress) -> Array:
        text = Rows.text(tokens, len(self.ids))
        output = self.model.forward(text, self.cache, logits_for=slice(-1, None), progress=progress)
        super().keep(range(len(tokens)), tokens)
        logits: Array = output.logits[0]
        return logits

    def keep(self, tail_slots: Ids[int], tokens: Ids[int], survivors: Ids[int] = ()) -> None:
        """Drop all rows of one's own: the followed sequence has committed its own for `tokens`."""
        assert not survivors
        self._follow()

    def _follow(self) -> None:
        self.ids = list(self._followed.ids)
        self.cache.length, self.cache.tail = len(self.ids), 0
        self._tail_positions.clear()
