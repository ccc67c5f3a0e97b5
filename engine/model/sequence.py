"""A model with the rows it has computed for one token sequence: the interface to both target and draft.

A prefix that was computed before is never computed again. Knows nothing of trees, text or sampling.
"""

from collections.abc import Sequence as Ids

import numpy as np
from numpy.typing import NDArray

from engine.arrays import Array, namespace
from engine.model.interface import Model, Progress, no_progress, of_piece
from engine.model.kv_cache import KVCache
from engine.model.rows import Output, Rows
from engine.prompt_cache import KnownRows


def common_prefix(a: Ids[int], b: Ids[int]) -> int:
    """Return the length of the longest common prefix of `a` and `b`."""
    limit = min(len(a), len(b))
    return next((i for i in range(limit) if a[i] != b[i]), limit)


def joined(outputs: Ids[Output]) -> Output:
    """Return the output of passes over consecutive pieces of a text: the last one's logits, the states of
    all."""
    last = outputs[-1]
    if len(outputs) == 1:
        return last
    hidden = {
        layer: namespace(states).concat([output.hidden[layer] for output in outputs])
        for layer, states in last.hidden.items()
    }
    return Output(last.logits, hidden)


class Sequence:
    """A model with its rows for one text. Where layers have states or a window, a rewind may keep fewer
    tokens than it is told: `KVCache.keepable`.

    Attributes: `model`; `cache`, the rows; `ids`, the committed tokens: slot i of the cache holds the row of
    ids[i]; `known`, the rows for other texts, or None if they are not kept; `follows`, whether the committed
    rows are those that another sequence has computed.
    """

    follows = False

    def __init__(self, model: Model, capacity: int, cache: KVCache | None = None) -> None:
        self.model = model
        self.cache = cache or model.text_cache(capacity)
        self.ids: list[int] = []
        self.known: KnownRows | None = None
        self._tail_positions: list[int] = []
        self._pass_start = 0  # the slot of the tail in which the last pass begins

    def align(self, context: Ids[int]) -> int:
        """Keep the rows of the longest common prefix with `context`, and take more of its rows from `known`;
        what is dropped goes there. Return the number of rows, from which a later text can go on, too."""
        shared = common_prefix(self.ids, context)
        if self.known and shared < len(self.ids):
            self.known.put(self.ids, self.cache.keepable(shared), self.cache)
        self.rewind(shared)
        if self.known:
            fitting, kept = context[: self.cache.capacity], len(self.ids)
            found = self.known.restore(fitting, kept, self.cache)
            self.cache.adopt(found - kept)
            self.ids.extend(context[kept:found])
            shared = max(shared, self.known.shared(fitting, found))
        self.cache.save()
        self.cache.expect_branch(shared)
        return len(self.ids)

    def save(self) -> None:
        """Write the rows to the disk, if `known` has a place for them there."""
        if self.known:
            self.known.save(self.ids, self.cache)

    def rewind(self, length: int) -> None:
        """Keep only the first `length` tokens, or as many of them as the cache can."""
        length = self.cache.keepable(length)
        self.cache.truncate(length)
        del self.ids[length:]
        self._tail_positions.clear()
        self._pass_start = 0

    def extend(self, tokens: Ids[int], progress: Progress = no_progress) -> Array:
        """Commit tokens as plain text and return the logits [vocabulary] at the last one. If `progress` ends
        the pass, nothing is committed."""
        return self.read(tokens, progress=progress).logits[0]

    def read(
        self, tokens: Ids[int], hidden_layers: Ids[int] = (), progress: Progress = no_progress
    ) -> Output:
        """Commit tokens as `extend` does. Return the hidden states at all of them, and the logits [1,
        vocabulary] at the last."""
        before = len(self.ids)
        self.rewind(before)
        most = min(each or len(tokens) for each in (self.model.prompt_rows, self.cache.pass_rows))
        starts = range(0, len(tokens), most)
        outputs: list[Output] = []
        try:
            for number, start in enumerate(starts):
                piece = tokens[start : start + most]
                outputs.append(
                    self.model.forward(
                        Rows.text(piece, len(self.ids)),
                        self.cache,
                        logits_for=slice(-1, None),
                        hidden_layers=hidden_layers,
                        progress=of_piece(progress, number, len(starts)),
                    )
                )
                self.keep(range(len(piece)), piece)
        except BaseException:
            self.rewind(before)
            raise
        return joined(outputs)

    def consider(
        self,
        tokens: Ids[int],
        positions: Ids[int],
        visible: NDArray[np.bool_],
        hidden_layers: Ids[int] = (),
        progress: Progress = no_progress,
        logits: bool = True,
    ) -> Output:
        """Run rows without committing them; they join the tail. visible: as in Rows. logits: whether they are
        computed, for every row, or for none."""
        rows = Rows(np.array(tokens, np.int64), np.array(positions, np.int64), visible)
        tail = np.array(self._tail_positions, np.int64)
        self._pass_start = len(tail)
        asked = slice(None) if logits else slice(0, 0)
        output = self.model.forward(rows, self.cache, tail, asked, hidden_layers, progress)
        self._tail_positions.extend(positions)
        return output

    def keep(self, tail_slots: Ids[int], tokens: Ids[int], survivors: Ids[int] = ()) -> None:
        """Commit these slots of the tail, which hold `tokens`. The tail is then the slots `survivors`, in
        this order."""
        assert len(tail_slots) == len(tokens)
        self.cache.keep(list(tail_slots), list(survivors))
        if tail_slots and tail_slots[-1] >= self._pass_start:
            self.model.kept(tail_slots[-1] - self._pass_start)
        self.ids.extend(tokens)
        self._tail_positions = [self._tail_positions[slot] for slot in survivors]
        self._pass_start = len(survivors)
