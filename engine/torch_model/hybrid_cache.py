"""The cache of a model in which only some layers attend: keys and values of those, and states of the others.

A state cannot be shortened as rows can. So copies of the states are kept, *savepoints*: where an answer
begins, near the end of its prompt, and every so many tokens. A rewind goes back to the last one that is not
behind the text to keep, and the sequence computes the rest again.
"""

from collections.abc import Mapping, Sequence

import torch
from torch import Tensor

from engine.checkpoints.recurrent import COPIES, SAVEPOINTS
from engine.torch_model.paths import WINDOW, Paths
from engine.torch_model.states import LayerMemory, LayerState, StateShape
from engine.torch_model.tensor_cache import RowShape, TensorCache
from engine.torch_model.visibility import Visibility

EVERY = 1024  # tokens; a multiple of WINDOW
# A chat template ends a prompt with a few tokens that differ once the answer is part of the chat. A savepoint
# lies before them.
MARGIN = 16


class HybridCache(TensorCache):
    """A `TensorCache` with states. Attribute: `paths`, those of the pass that runs, or None."""

    # Rows of the attending layers are no use without the states, which the prompt cache has no place for: a
    # block of 64 tokens would need a state of tens of megabytes beside it.
    rows_suffice = False

    def __init__(
        self,
        rows: Sequence[RowShape],
        shapes: Mapping[int, StateShape],
        capacity: int,
        dtype: torch.dtype,
        device: torch.device | str,
    ) -> None:
        """rows: the shapes of the attending layers' rows. shapes: those of the states, by the number of the
        layer."""
        super().__init__(rows, capacity, dtype, device)
        self._shapes = dict(shapes)
        self._memories = {layer: LayerMemory(state) for layer, state in self._empty().items()}
        self._savepoints: dict[int, dict[int, LayerState]] = {}  # length -> layer -> state
        self._paths: Paths | None = None

    @property
    def nbytes(self) -> int:
        """Bytes of memory, with as many savepoints as there may be, and the copy that reads a prompt."""
        return super().nbytes + COPIES * self.state_nbytes

    @property
    def state_nbytes(self) -> int:
        """Bytes of all layers' states behind one token."""
        return sum(memory.state.nbytes for memory in self._memories.values())

    @property
    def savepoints(self) -> dict[int, int]:
        """The bytes of each savepoint, by the number of tokens that it lies behind."""
        return {
            length: sum(state.nbytes for state in states.values())
            for length, states in self._savepoints.items()
        }

    @property
    def form(self) -> str:
        return f"{super().form} states"

    def memory(self, layer: int) -> LayerMemory:
        """Return the memory of a layer that has a state."""
        return self._memories[layer]

    def rows(self, layer: int) -> Tensor:
        """Return the committed rows of a layer, or the inputs that its convolution remembers. For tests."""
        if layer in self._memories:
            return self._memories[layer].state.inputs
        return super().rows(layer)

    def reserve(self, rows: int) -> None:
        super().reserve(rows)
        self._paths = None

    def paths(self, visibility: Visibility) -> Paths:
        """Return the paths of the rows of the pass that runs."""
        if self._paths is None:
            self._paths = self._paths_of(visibility)
        return self._paths

    def extend_tail(self, rows: int) -> None:
        super().extend_tail(rows)
        for memory in self._memories.values():
            memory.extend()

    @torch.inference_mode()
    def keep(self, tail_slots: Sequence[int], survivors: Sequence[int] = ()) -> None:
        before = self.length
        passed: dict[int, dict[int, LayerState]] = {}
        for layer, memory in self._memories.items():
            for slots, state in memory.tail.saved.items():
                if slots <= len(tail_slots):
                    passed.setdefault(before + slots, {})[layer] = state
            memory.keep(tail_slots, survivors)
        super().keep(tail_slots, survivors)
        self._savepoints |= passed
        if self.length - max(self._savepoints, default=0) >= EVERY:
            self.save()

    def keepable(self, length: int) -> int:
        if length >= self.length:
            return self.length
        return max((each for each in self._savepoints if each <= length), default=0)

    @torch.inference_mode()
    def save(self) -> None:
        length = self.length
        if not length or length in self._savepoints:
            return
        self._thin([length], length)
        self._savepoints[length] = {layer: memory.state.copy() for layer, memory in self._memories.items()}

    @torch.inference_mode()
    def truncate(self, length: int) -> None:
        assert length == self.keepable(length)
        if length == self.length:
            for memory in self._memories.values():
                memory.drop()
        else:
            states = self._savepoints.get(length) or self._empty()
            for layer, memory in self._memories.items():
                memory.restore(states[layer])
        self._savepoints = {each: states for each, states in self._savepoints.items() if each <= length}
        super().truncate(length)

    def _empty(self) -> dict[int, LayerState]:
        return {layer: shape.zeros(self.dtype, self.device) for layer, shape in self._shapes.items()}

    def _paths_of(self, visibility: Visibility) -> Paths:
        rows = visibility.rows
        if rows.visible is None:
            return self._paths_of_text(len(rows))
        assert not rows.visible[:, self.tail :].triu(1).any(), "a row sees only rows before it"
        absorbed = max(memory.tail.absorbed for memory in self._memories.values())
        behind = torch.cat([visibility.tail_positions[absorbed:], rows.positions])
        depths = behind - (self.length + absorbed)
        return Paths(len(rows), (len(rows),), self.device, tree=(rows.visible[:, absorbed:], depths))

    def _paths_of_text(self, count: int) -> Paths:
        """Return the paths of a text, in windows that end at multiples of their size, and choose where states
        are saved on the way. Savepoints that are worth less make room for them already."""
        start, stop = self.length, self.length + count
        if count <= WINDOW:
            return Paths(count, (count,), self.device)
        cuts = range(start // WINDOW * WINDOW + WINDOW, stop, WINDOW)
        wanted = [cut for cut in cuts if cut % EVERY == 0]
        wanted += [cut for cut in cuts if cut <= stop - MARGIN][-1:]
        chosen = self._thin(wanted, stop)
        windows = (*(cut - start for cut in cuts), count)
        return Paths(count, windows, self.device, frozenset(cut - start for cut in chosen))

    def _thin(self, wanted: Sequence[int], end: int) -> list[int]:
        """Make room for savepoints at the lengths `wanted` of a text of `end` tokens, by dropping those that
        are worth least. Return which of the wanted ones there is room for."""
        left = thinned([*self._savepoints, *wanted], end, SAVEPOINTS)
        self._savepoints = {length: states for length, states in self._savepoints.items() if length in left}
        return [length for length in left if length in wanted and length not in self._savepoints]


def thinned(lengths: Sequence[int], end: int, most: int) -> list[int]:
    """Return at most `most` of the lengths, ascending: the last two, which are those of the turn that has
    begun, and of the others those that save most. A savepoint saves the tokens since the one before it, if a
    rewind ends between it and the next one; rewinds to places far from the text's end are rarer.
    """
    left = sorted({*lengths})
    while len(left) > most:
        around = [0, *left, end]

        def worth(number: int, around: list[int] = around) -> float:
            before, here, behind = around[number : number + 3]
            return (here - before) * (behind - here + WINDOW) / (end - here + EVERY)

        del left[min(range(len(left) - 2), key=worth)]
    return left
