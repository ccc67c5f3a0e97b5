"""A model together with the rows it has computed for one token sequence. Both target and draft are used
through this.

Nothing that is a prefix of what was computed before is ever computed again; knows nothing of trees, text or
sampling.
"""

from collections.abc import Sequence as Ids

import torch
from torch import Tensor

from engine.kv_cache import KVCache
from engine.model import Model, Output, Rows, Watch, no_watch


def common_prefix(a: Ids[int], b: Ids[int]) -> int:
    """Length of the longest common prefix."""
    limit = min(len(a), len(b))
    return next((i for i in range(limit) if a[i] != b[i]), limit)


class Sequence:
    """Attributes: `model`, `cache`, `ids` (the tokens whose rows are committed; slot i of the cache holds
    ids[i])."""

    def __init__(self, model: Model, capacity: int) -> None:
        self.model = model
        self.cache: KVCache = model.new_cache(capacity)
        self.ids: list[int] = []
        self._tail_positions: list[int] = []

    def align(self, context: Ids[int]) -> int:
        """Keep the rows of the longest common prefix with `context`; returns its length."""
        self.rewind(common_prefix(self.ids, context))
        return len(self.ids)

    def rewind(self, length: int) -> None:
        """Keep the first `length` tokens only."""
        length = min(length, len(self.ids))
        self.cache.truncate(length)
        del self.ids[length:]
        self._tail_positions.clear()

    def extend(self, tokens: Ids[int], watch: Watch = no_watch) -> Tensor:
        """Commit tokens as plain text; logits [vocabulary] of the last one. Ended by `watch`: nothing is
        committed."""
        return self.read(tokens, watch=watch).logits[0]

    def read(self, tokens: Ids[int], hidden_layers: Ids[int] = (), watch: Watch = no_watch) -> Output:
        """As `extend`, with hidden states of all these tokens; logits are [1, vocabulary]."""
        self.rewind(len(self.ids))
        rows = Rows.text(tokens, len(self.ids))
        output = self.model.forward(
            rows, self.cache, logits_for=slice(-1, None), hidden_layers=hidden_layers, watch=watch
        )
        self.keep(range(len(tokens)), tokens)
        return output

    def consider(
        self,
        tokens: Ids[int],
        positions: Ids[int],
        visible: Tensor,
        hidden_layers: Ids[int] = (),
        watch: Watch = no_watch,
    ) -> Output:
        """Run rows that are not committed (yet); they join the tail. `visible`: as Rows.visible."""
        rows = Rows(
            torch.tensor(tokens, dtype=torch.int64), torch.tensor(positions, dtype=torch.int64), visible
        )
        tail = torch.tensor(self._tail_positions, dtype=torch.int64)
        output = self.model.forward(rows, self.cache, tail, hidden_layers=hidden_layers, watch=watch)
        self._tail_positions.extend(positions)
        return output

    def keep(self, tail_slots: Ids[int], tokens: Ids[int]) -> None:
        """Commit these slots of the tail, which hold `tokens`; forget the rest of it."""
        assert len(tail_slots) == len(tokens)
        self.cache.keep(list(tail_slots))
        self.ids.extend(tokens)
        self._tail_positions.clear()
