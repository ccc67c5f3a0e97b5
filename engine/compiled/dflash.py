"""The layers of DFlash as compiled programs."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from engine.compiled import steps
from engine.compiled.matrix import TiledMatrix, aligned
from engine.compiled.pool import ComputePool
from engine.compiled.program import CompiledPass, DecoderShape, Layer
from engine.compiled.seen import Seen
from engine.compiled.table import Floats, Ints, address, room


@dataclass(frozen=True, slots=True)
class DFlashWeights:
    """The weights of a DFlash head. fuse: from the target's states at a token to one state; fused_norm: of
    that state. layers: `qkv` are three matrices; none has a window, since it depends on the layer how far
    rows see. last_norm: of a block's states."""

    fuse: TiledMatrix
    fused_norm: Floats
    layers: Sequence[Layer]
    last_norm: Floats


class CompiledDFlash:
    """Three programs: from the target's states to fused ones, from these to keys and values of all layers,
    and from the embeddings of a block to its states.

    Attributes: `rows`, the largest number of rows of a run, and so of a block; `states`, float32 [rows,
    width], the input of `guess`; `bind`, as `CompiledPass.bind`.
    """

    def __init__(self, shape: DecoderShape, weights: DFlashWeights, pool: ComputePool) -> None:
        width, layers = shape.width, weights.layers
        of_text = [matrix for layer in layers for matrix in layer.qkv[1:]]
        of_block = [matrix for layer in layers for matrix in layer.matrices]
        self._pass = one = CompiledPass(shape, [weights.fuse, *of_text, *of_block], pool)
        self.rows, self.states, self.bind = one.rows, one.states, one.bind
        self._several = room(one.rows, weights.fuse.shape[1])
        self._fused = room(one.rows, width)
        self._copied = aligned(8).view(np.int64)  # where normed states are copied to
        nothing, copies = one.records(width, []), (None, self._copied)

        before = one.records(weights.fuse.shape[1], [weights.fuse])
        self._add_records(self._several, before.addresses)
        one.add_product(before, weights.fuse.shape[1], [weights.fuse], self._fused)
        one.add_norm(weights.fused_norm, nothing, source=self._fused, adds=False, copies=copies)
        self._text_start = len(one.program.steps)

        fused = one.records(width, of_text)
        self._add_records(self._fused, fused.addresses)
        for number, layer in enumerate(layers):
            one.add_keys(layer, number, fused, width)

        self._starts: list[int] = []  # the first step of each layer
        for number, layer in enumerate(layers):
            self._starts.append(len(one.program.steps))
            into_layer = one.records(width, layer.inputs)
            one.add_norm(layer.attention_norm, into_layer, adds=number > 0)
            one.add_layer(layer, into_layer, width)
        one.add_norm(weights.last_norm, nothing, copies=copies)
        one.program.kept.append(weights)
        self._table = one.program.table()

    def _add_records(self, activations: Floats, records: tuple[int, int]) -> None:
        one, width = self._pass, activations.shape[1]
        one.program.add(steps.record_step, address(one.state), address(activations), width, *records)

    def fuse(self, states: Floats) -> Floats:
        """Return one state for each row of the target's: float32 [rows, all of its states] -> [rows,
        width]."""
        fused = np.empty((len(states), self.states.shape[1]), np.float32)
        for start in range(0, len(states), self.rows):
            piece = states[start : start + self.rows]
            self._several[: len(piece)] = piece
            self._pass.begin_apart(len(piece))
            self._copied[0] = address(fused[start:])
            self._pass.run(self._table, 0, self._text_start)
        return fused

    def read(self, states: Floats, first: int, rotary: Floats) -> None:
        """Write the keys and values of at most `rows` fused states, float32 [rows, width], to the slots of
        the cache from `first` on. rotary: as for `CompiledPass.begin`."""
        rows = len(states)
        self._fused[:rows] = states
        nothing: Ints = np.zeros(rows + 1, np.int64)
        self._pass.begin(rows, Seen(first, nothing[:rows], nothing, nothing), rotary, range(rows))
        self._pass.run(self._table, self._text_start, self._starts[0])

    def guess(self, rows: int, seen: Sequence[Seen], rotary: Floats) -> Floats:
        """Return the states of a block behind the last norm, float32 [rows, width]. seen: for each layer what
        the rows see."""
        guessed = np.empty((rows, self.states.shape[1]), np.float32)
        self._copied[0] = address(guessed)
        start, stops = self._starts[0], [*self._starts[1:], len(self._table)]
        for number, stop in enumerate(stops, start=1):
            if number < len(seen) and seen[number] is seen[number - 1]:
                continue  # one run for layers whose rows see the same
            self._pass.begin(rows, seen[number - 1], rotary, range(rows))
            self._pass.run(self._table, start, stop)
            start = stop
        return guessed
